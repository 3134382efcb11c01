import { createHmac, hash as hashText } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'
import { LRUCache } from 'lru-cache'
import { type Db, inTransaction, type Pool } from '../db/pool.ts'
import { type Account, findReporterByEmail, holdReporters, type Reporter } from '../db/reporters.ts'
import {
  countTokens,
  findTokenOwner,
  insertToken,
  markTokenUsed,
  scopes,
  type TokenOwner,
  type TokenScope,
} from '../db/sessions.ts'
import { HOUR_MS } from '../durations.ts'
import { BusyError } from '../errors.ts'
import { type Callers, unknownCallers } from '../outage/callers.ts'
import { needsDatabase, noOutage, type Outage } from '../outage/outage.ts'
import { lesserRole, type Role, type RoleRules, usableRole } from '../roles.ts'
import { type Clock, systemRandom } from '../world.ts'

/**
 * An authenticated person, and what the credential allows. The role is that of the token, at most
 * that of the account, and is limited by the settings (`usableRole`).
 */
export type Caller = Reporter & {
  /** The hash of the token; undefined when authenticated by password. */
  tokenHash: Buffer | undefined
  scopes: readonly TokenScope[]
  /** Whether the account also requires a second step. */
  hasTotp: boolean
}

/** A person authenticated by password just now. */
export type PasswordCaller = Caller & { passwordMark: string }

type OnCorrectPassword = () => Promise<void>

/**
 * Authenticates people. Passwords are refused with a `BusyError` while too many are being verified.
 */
export type Credentials = {
  /**
   * Authenticates by address and password; undefined when they do not match. Takes equally long for
   * an unknown address. `before` is called before the verification of a password that is not
   * cached, and may reject; the function it returns is called when the password was correct.
   * Concurrent requests with the same credentials share one verification.
   */
  byPassword: (
    email: string,
    password: string,
    before?: () => Promise<OnCorrectPassword | undefined>,
  ) => Promise<Caller | undefined>
  /** Like `byPassword`, without the cache, for sign-in and sensitive actions. */
  byPasswordNow: (email: string, password: string) => Promise<PasswordCaller | undefined>
  /** Authenticates by bearer token. Stores the time of use, at most once an hour. */
  byToken: (token: string) => Promise<Caller | undefined>
}

const PASSWORD_BYTES_MAX = 1_024
const TOKEN = /^sp_[A-Za-z0-9_-]{43}$/
/** Time in milliseconds until a changed password or a revoked token takes effect everywhere. */
const REMEMBERED_MS = 10_000
const REMEMBERED_MAX = 10_000
const USE_NOTED_MS = HOUR_MS
const LATEST = new Date(8.64e15)
/**
 * Maximum number of concurrent verifications, each of which takes 20 ms of a core: the last one
 * waits up to 3 s.
 */
const CHECKS_MAX = 150
/** Refused clients are asked to retry after 3 to 12 s, so that they do not all return at once. */
const RETRY_SECONDS = { first: 3, spread: 10 }

/**
 * Returns an argon2id hash with the library's parameters (19 MiB, 2 passes: OWASP's first choice).
 */
export function hashPassword(password: string): Promise<string> {
  return hash(password)
}

/** Returns a mark that changes with the password and reveals nothing about it. */
export function passwordMarkOf(passwordHash: string): string {
  return hashText('sha256', `signalpost password ${passwordHash}`, 'base64url')
}

/**
 * Returns a new token and the hash under which it is stored. The token itself is shown only once.
 */
export function createToken(): { token: string; hash: Buffer } {
  const token = `sp_${systemRandom(32).toString('base64url')}`
  return { token, hash: hashText('sha256', token, 'buffer') }
}

/** Maximum number of tokens of a reporter. */
const TOKENS_MAX = 100

/** Adds a token to an account and returns it; undefined when the account has too many. */
export async function addToken(
  { pool, clock }: { pool: Pool; clock: Clock },
  reporterId: string,
  token: { name: string; scopes: readonly TokenScope[]; role: Role | null },
): Promise<string | undefined> {
  const { token: secret, hash } = createToken()
  const createdAt = clock()
  return inTransaction(pool, async (tx) => {
    await holdReporters(tx, [reporterId], 'change')
    if ((await countTokens(tx, reporterId)) >= TOKENS_MAX) return undefined
    await insertToken(tx, { hash, reporterId, ...token, createdAt })
    return secret
  })
}

/** How callers are found: in the database, or by the main installation of a front. */
export type LookUps = {
  /** Returns the account if the password is correct. Takes equally long for every address. */
  findByPassword: (email: string, password: string) => Promise<Account | undefined>
  findByToken: (digest: Buffer) => Promise<TokenOwner | undefined>
}

type CredentialOptions = {
  lookUps?: LookUps | undefined
  clock?: Clock
  checksMax?: number
  rules?: RoleRules
  callers?: Pick<Callers, 'find'>
  outage?: Pick<Outage, 'since'>
}

/**
 * Creates credentials that verify passwords and tokens. They cache successful verifications for ten
 * seconds, because plug-ins send the password with every report and argon2 takes 20 ms of a core;
 * the cache contains only keyed hashes. Without a clock, the use of tokens is not recorded, and
 * roles that end do not count.
 */
export function createCredentials(
  db: Db,
  {
    clock,
    checksMax = CHECKS_MAX,
    rules = { isSecondStepRequired: false, oidc: undefined },
    callers = unknownCallers,
    outage = noOutage,
    lookUps = createLookUps(db, callers),
  }: CredentialOptions = {},
): Credentials {
  const { findByPassword, findByToken } = lookUps
  const remembered = new LRUCache<string, Caller>({ max: REMEMBERED_MAX, ttl: REMEMBERED_MS })
  const checks = boundedWork(checksMax)
  const now = () => clock?.() ?? LATEST

  async function byPasswordNow(
    email: string,
    password: string,
  ): Promise<PasswordCaller | undefined> {
    if (password.length > PASSWORD_BYTES_MAX || email.length > 320) return undefined
    // PostgreSQL text cannot contain NUL.
    if (email.includes('\0')) return undefined
    const found = await checks.run(() => findByPassword(email, password))
    // Without the database, the answer must not tell whether the account exists.
    if (!found && outage.since()) throw needsDatabase()
    if (!found?.passwordHash || found.state !== 'active') return undefined
    const role = usableRole(found, rules, { proof: 'password', now: now() })
    return passwordCaller({ ...found, role }, found.passwordHash)
  }

  async function byToken(token: string): Promise<Caller | undefined> {
    if (!TOKEN.test(token)) return undefined
    const digest = hashText('sha256', token, 'buffer')
    const name = digest.toString('base64')
    const known = remembered.get(name)
    if (known) return known
    const owner = await findByToken(digest)
    if (!owner) return undefined
    const { id, email, usedAt } = owner
    const held = usableRole(owner, rules, { proof: 'token', now: now() })
    const role = lesserRole(held, owner.tokenRole)
    const caller = { id, email, role, scopes: owner.scopes, tokenHash: digest, hasTotp: false }
    remembered.set(name, caller)
    if (clock) noteTokenUse(db, { digest, usedAt, now: clock() })
    return caller
  }

  const byPassword = rememberPasswords({ remembered, checks, byPasswordNow })
  return { byPassword, byPasswordNow, byToken }
}

/** Verifies the same password once for concurrent requests, and at most every ten seconds. */
function rememberPasswords({
  remembered,
  checks,
  byPasswordNow,
}: Pick<Credentials, 'byPasswordNow'> & {
  remembered: LRUCache<string, Caller>
  checks: ReturnType<typeof boundedWork>
}): Credentials['byPassword'] {
  const key = systemRandom(32)
  const looks = sharedWork<Caller | undefined>()
  return async (email, password, before) => {
    const name = createHmac('sha256', key)
      .update(`${email.length} ${email}${password}`)
      .digest('base64')
    const known = remembered.get(name)
    if (known) return known
    return looks(name, async () => {
      // Called before the attempt is counted, because a client that must retry has not failed.
      checks.refuseWhenFull()
      const whenRight = await before?.()
      const caller = await byPasswordNow(email, password)
      if (!caller) return undefined
      remembered.set(name, caller)
      await whenRight?.()
      return caller
    })
  }
}

/** Look-ups in the database, remembered for the time when it is away. */
function createLookUps(db: Db, callers: Pick<Callers, 'find'>): LookUps {
  const decoy = hashPassword('nobody has this password')

  function findAccount(email: string) {
    const find = () => findReporterByEmail(db, email)
    return callers.find({ kind: 'account', key: email.toLowerCase(), find, markOf: accountMark })
  }

  return {
    async findByPassword(email, password) {
      const account = await findAccount(email).catch(async (error: unknown) => {
        await verify(await decoy, password)
        throw error
      })
      const isRight = await verify(account?.passwordHash ?? (await decoy), password)
      return isRight ? account : undefined
    },
    findByToken(digest) {
      const find = () => findTokenOwner(db, digest)
      return callers.find({ kind: 'token', key: digest.toString('hex'), find })
    },
  }
}

/** As `listValidKeys` returns it. */
function accountMark({ passwordHash, hasTotp }: Pick<Account, 'passwordHash' | 'hasTotp'>): string {
  return `${passwordHash ?? ''} ${hasTotp ? 't' : 'f'}`
}

/**
 * Stores the time of a token's use in the background; if that fails, the next request stores it.
 */
function noteTokenUse(
  db: Db,
  { digest, usedAt, now }: { digest: Buffer; usedAt: Date | null; now: Date },
): void {
  const after = new Date(now.getTime() - USE_NOTED_MS)
  if (usedAt && usedAt > after) return
  markTokenUsed(db, digest, now, after).catch(() => undefined)
}

/** Limits the number of concurrent tasks to `most`. Refuses more with a `BusyError`. */
function boundedWork(most: number) {
  let [running, refused] = [0, 0]
  const refuseWhenFull = () => {
    if (running < most) return
    const seconds = RETRY_SECONDS.first + (refused++ % RETRY_SECONDS.spread)
    throw new BusyError('Too many clients are signing in. Try again shortly.', seconds)
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

/**
 * Returns a function that shares work: while work for a name is in progress, later callers get its
 * result.
 */
function sharedWork<T>(): (name: string, work: () => Promise<T>) => Promise<T> {
  const underWay = new Map<string, Promise<T>>()
  return (name, work) =>
    underWay.getOrInsertComputed(name, () => work().finally(() => underWay.delete(name)))
}

function passwordCaller(account: Account, passwordHash: string): PasswordCaller {
  const { id, email, role, hasTotp } = account
  const passwordMark = passwordMarkOf(passwordHash)
  const proof = { tokenHash: undefined, scopes, hasTotp, passwordMark }
  return { id, email, role, ...proof }
}
