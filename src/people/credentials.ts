import { createHash, createHmac } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'
import { LRUCache } from 'lru-cache'
import type { Db } from '../db/pool.ts'
import { type Account, findReporterByEmail, type Reporter } from '../db/reporters.ts'
import { findTokenOwner, markTokenUsed, type TokenScope, scopesOf } from '../db/sessions.ts'
import { BusyError } from '../errors.ts'
import { type Clock, systemRandom } from '../world.ts'

/**
 * Who proved to be somebody, and what that proof allows. `isAdmin` says whether it allows what
 * administrators may: a token of one does so only with the scope "admin".
 */
export type Caller = Reporter & {
  /** By which token; undefined: by the password. */
  tokenHash: Buffer | undefined
  scopes: readonly TokenScope[]
  /** Whether the password is only the first of two steps. */
  hasTotp: boolean
}

/** Who proved it by the password just now. */
export type PasswordCaller = Caller & { passwordMark: string }

type WhenRight = () => Promise<void>

/** Proves who somebody is. Passwords are refused with a `BusyError` while too many are checked. */
export type Credentials = {
  /**
   * By address and password; undefined when they do not fit. Takes as long for a stranger.
   * `before` comes before a password is looked at that is not remembered, and may reject; what it
   * gives is called when the password was right. Requests that bring the same share one look.
   */
  byPassword: (
    email: string,
    password: string,
    before?: () => Promise<WhenRight | undefined>,
  ) => Promise<Caller | undefined>
  /** The same, and never from memory: for who signs in, or is about to do what counts. */
  byPasswordNow: (email: string, password: string) => Promise<PasswordCaller | undefined>
  /** By bearer token. That it was used is noted, once an hour at most. */
  byToken: (token: string) => Promise<Caller | undefined>
}

const PASSWORD_BYTES_MAX = 1_024
const TOKEN = /^sp_[A-Za-z0-9_-]{43}$/
/** How long a change of password or a withdrawn token may take to be noticed. */
const REMEMBERED_MS = 10_000
const REMEMBERED_MAX = 10_000
const USE_NOTED_MS = 3_600_000
/** Passwords checked at once, each for 20 ms of a core: the last one waits up to 3 s. */
const CHECKS_MAX = 150
/** Refused clients are sent away for 3 to 12 s, so that they do not all come back at once. */
const RETRY_SECONDS = { first: 3, spread: 10 }

/** An argon2id hash, with the library's parameters (19 MiB, 2 passes: OWASP's first choice). */
export function hashPassword(password: string): Promise<string> {
  return hash(password)
}

/** Tells one password of an account from the next, and nothing of either. */
export function passwordMarkOf(passwordHash: string): string {
  return createHash('sha256').update(`signalpost password ${passwordHash}`).digest('base64url')
}

/** A new token and the hash under which it is kept. The token itself is shown once. */
export function createToken(): { token: string; hash: Buffer } {
  const token = `sp_${systemRandom(32).toString('base64url')}`
  return { token, hash: tokenHash(token) }
}

/**
 * Checks passwords and tokens against the accounts. What was right is remembered for ten seconds,
 * because plug-ins send the password with every report and argon2 takes 20 ms of a core; the
 * memory holds keyed hashes only. Without a clock nobody notes that a token was used.
 */
export function createCredentials(db: Db, clock?: Clock, checksMax = CHECKS_MAX): Credentials {
  const key = systemRandom(32)
  const remembered = new LRUCache<string, Caller>({ max: REMEMBERED_MAX, ttl: REMEMBERED_MS })
  const looks = sharedWork<Caller | undefined>()
  const decoy = hashPassword('nobody has this password')
  const checks = boundedWork(checksMax)

  const byPassword: Credentials['byPassword'] = async (email, password, before) => {
    const name = createHmac('sha256', key)
      .update(`${email.length} ${email}${password}`)
      .digest('base64')
    const known = remembered.get(name)
    if (known) return known
    return looks(name, async () => {
      // Before the attempt is counted: a client that is sent back has not failed.
      checks.refuseWhenFull()
      const whenRight = await before?.()
      const caller = await byPasswordNow(email, password)
      if (!caller) return undefined
      remembered.set(name, caller)
      await whenRight?.()
      return caller
    })
  }

  async function byPasswordNow(
    email: string,
    password: string,
  ): Promise<PasswordCaller | undefined> {
    if (password.length > PASSWORD_BYTES_MAX || email.length > 320) return undefined
    // No text of PostgreSQL can hold it.
    if (email.includes('\0')) return undefined
    const [found, isRight] = await checks.run(async () => {
      const account = await findReporterByEmail(db, email)
      return [account, await verify(account?.passwordHash ?? (await decoy), password)] as const
    })
    if (!found?.passwordHash || !isRight || found.state !== 'active') return undefined
    return passwordCaller(found, found.passwordHash)
  }

  async function byToken(token: string): Promise<Caller | undefined> {
    if (!TOKEN.test(token)) return undefined
    const digest = tokenHash(token)
    const name = digest.toString('base64')
    const known = remembered.get(name)
    if (known) return known
    const owner = await findTokenOwner(db, digest)
    if (!owner) return undefined
    const { usedAt, ...reporter } = owner
    const caller = { ...reporter, tokenHash: digest, hasTotp: false }
    remembered.set(name, caller)
    if (clock) noteTokenUse(db, { digest, usedAt, now: clock() })
    return caller
  }

  return { byPassword, byPasswordNow, byToken }
}

/** Notes the use without waiting; when that fails, the next request notes it. */
function noteTokenUse(
  db: Db,
  { digest, usedAt, now }: { digest: Buffer; usedAt: Date | null; now: Date },
): void {
  const after = new Date(now.getTime() - USE_NOTED_MS)
  if (usedAt && usedAt > after) return
  markTokenUsed(db, digest, now, after).catch(() => undefined)
}

/** Runs at most `most` pieces of work at once, and refuses more with a `BusyError`. */
function boundedWork(most: number) {
  let [running, refused] = [0, 0]
  const refuseWhenFull = () => {
    if (running < most) return
    const seconds = RETRY_SECONDS.first + (refused++ % RETRY_SECONDS.spread)
    throw new BusyError('Too many clients sign in at once. Try again shortly.', seconds)
  }
  return {
    refuseWhenFull,
    async run<T>(work: () => Promise<T>): Promise<T> {
      refuseWhenFull()
      running++
      return await work().finally(() => running--)
    },
  }
}

/** Work under way for a name is not begun again: later callers get its result. */
function sharedWork<T>(): (name: string, work: () => Promise<T>) => Promise<T> {
  const underWay = new Map<string, Promise<T>>()
  return (name, work) => {
    const known = underWay.get(name)
    if (known) return known
    const begun = work().finally(() => underWay.delete(name))
    underWay.set(name, begun)
    return begun
  }
}

function passwordCaller(account: Account, passwordHash: string): PasswordCaller {
  const { id, email, isAdmin, hasTotp } = account
  const passwordMark = passwordMarkOf(passwordHash)
  const proof = { tokenHash: undefined, scopes: scopesOf(account), hasTotp, passwordMark }
  return { id, email, isAdmin, ...proof }
}

function tokenHash(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
