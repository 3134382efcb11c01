import { createHash, createHmac } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'
import { LRUCache } from 'lru-cache'
import { findReporterByEmail, findReporterByToken, type Reporter } from '../db/reporters.ts'
import type { Db } from '../db/pool.ts'
import { systemRandom } from '../world.ts'

/** What a token may be allowed: to report, to read, to take reports back, to change the account. */
export const scopes = ['report', 'read', 'retract', 'account'] as const

/** One of them. */
export type Scope = (typeof scopes)[number]

/** Who proved to be somebody, and what that proof allows. */
export type Caller = Reporter & {
  /** By which token; undefined: by the password. */
  tokenHash: Buffer | undefined
  scopes: readonly Scope[]
}

/** Proves who somebody is. */
export type Credentials = {
  /**
   * By address and password; undefined when they do not fit. Takes as long for a stranger.
   * `before` comes before a password is looked at that is not remembered, and may reject.
   */
  byPassword: (
    email: string,
    password: string,
    before?: () => Promise<void>,
  ) => Promise<Caller | undefined>
  /** By bearer token. */
  byToken: (token: string) => Promise<Caller | undefined>
}

/** Of tokens that were made without a word about scopes. */
const tokenScopes: readonly Scope[] = ['report', 'read', 'retract']
const PASSWORD_BYTES_MAX = 1_024
const TOKEN = /^sp_[A-Za-z0-9_-]{43}$/
/** How long a change of password or a withdrawn token may take to be noticed. */
const REMEMBERED_MS = 10_000
const REMEMBERED_MAX = 10_000

/** An argon2id hash, with the library's parameters (19 MiB, 2 passes: OWASP's first choice). */
export function hashPassword(password: string): Promise<string> {
  return hash(password)
}

/** A new token and the hash under which it is kept. The token itself is shown once. */
export function createToken(): { token: string; hash: Buffer } {
  const token = `sp_${systemRandom(32).toString('base64url')}`
  return { token, hash: tokenHash(token) }
}

/**
 * Checks passwords and tokens against the accounts. What was right is remembered for ten seconds,
 * because plug-ins send the password with every report and argon2 takes 20 ms of a core; the
 * memory holds keyed hashes only.
 */
export function createCredentials(db: Db): Credentials {
  const key = systemRandom(32)
  const remembered = new LRUCache<string, Caller>({ max: REMEMBERED_MAX, ttl: REMEMBERED_MS })
  const decoy = hashPassword('nobody has this password')

  async function byPassword(
    email: string,
    password: string,
    before?: () => Promise<void>,
  ): Promise<Caller | undefined> {
    if (password.length > PASSWORD_BYTES_MAX || email.length > 320) return undefined
    const name = createHmac('sha256', key)
      .update(`${email.length} ${email}${password}`)
      .digest('base64')
    const known = remembered.get(name)
    if (known) return known
    await before?.()
    const found = await findReporterByEmail(db, email)
    const isRight = await verify(found?.passwordHash ?? (await decoy), password)
    if (!found?.passwordHash || !isRight) return undefined
    const { id, isAdmin } = found
    const caller = { id, email: found.email, isAdmin, tokenHash: undefined, scopes }
    remembered.set(name, caller)
    return caller
  }

  async function byToken(token: string): Promise<Caller | undefined> {
    if (!TOKEN.test(token)) return undefined
    const digest = tokenHash(token)
    const name = digest.toString('base64')
    const known = remembered.get(name)
    if (known) return known
    const reporter = await findReporterByToken(db, digest)
    if (!reporter) return undefined
    const caller = { ...reporter, tokenHash: digest, scopes: tokenScopes }
    remembered.set(name, caller)
    return caller
  }

  return { byPassword, byToken }
}

function tokenHash(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
