import sql, { bulk } from 'sql-template-tag'
import { uuidv7 } from '../world.ts'
import type { Db } from './pool.ts'
import type { Role } from '../roles.ts'
import type { Reporter } from './reporters.ts'
import { changesAny, numberOf, rowOf, rowsOf } from './rows.ts'
import { preparedRowOf } from './prepared.ts'

/**
 * A browser in which a reporter is signed in. It does not contain the session id, which is a
 * secret.
 */
export type SignedInBrowser = {
  /** Identifies the session on pages, in place of its secret id. */
  handle: string
  openedAt: Date
  seenAt: Date
  agent: string
}

/** Returns the browsers in which a reporter is signed in, the latest seen first. */
export async function listSessions(
  db: Db,
  reporterId: string,
  now: Date,
): Promise<SignedInBrowser[]> {
  const { rows } = await db.query<Record<keyof SignedInBrowser, string | null>>(sql`
    select sess ->> 'handle' as handle, sess ->> 'openedAt' as "openedAt",
      sess ->> 'seenAt' as "seenAt", sess ->> 'agent' as agent
    from sessions where reporter_id = ${reporterId} and expire >= ${now}`)
  return rows
    .flatMap(({ handle, openedAt, seenAt, agent }) => {
      if (handle === null || openedAt === null) return []
      const opened = new Date(openedAt)
      return [
        { handle, openedAt: opened, seenAt: new Date(seenAt ?? openedAt), agent: agent ?? '' },
      ]
    })
    .toSorted((a, b) => b.seenAt.getTime() - a.seenAt.getTime())
}

/** Ends one session of a reporter; false when there is none with that handle. */
export function removeSession(db: Db, reporterId: string, handle: string): Promise<boolean> {
  return changesAny(db)`
    delete from sessions where reporter_id = ${reporterId} and sess ->> 'handle' = ${handle}`
}

/** Ends the sessions of a reporter, except the given one if any; returns the number ended. */
export async function removeSessions(
  db: Db,
  reporterId: string,
  exceptHandle: string | undefined,
): Promise<number> {
  const { rowCount } = await db.query(sql`delete from sessions where reporter_id = ${reporterId}
    and (${exceptHandle}::text is null
      or sess ->> 'handle' is distinct from ${exceptHandle}::text)`)
  return rowCount ?? 0
}

/** Stores the content of a session unless it has ended; its expiry stays unchanged. */
export async function updateSession(db: Db, id: string, content: object): Promise<void> {
  await db.query(sql`update sessions set sess = ${JSON.stringify(content)} where sid = ${id}`)
}

/**
 * The state with which second-step codes are verified; the secret is sealed by
 * `people/second-step`.
 */
export type TotpState = { secret: Buffer; step: number | null }

/** Returns the state of a reporter's second step; undefined when it is off. */
export function findTotp(db: Db, reporterId: string): Promise<TotpState | undefined> {
  return rowOf(db)`
    select totp_secret as secret, totp_step as step from reporters
    where id = ${reporterId} and totp_secret is not null`
}

/**
 * Invalidates a time step and all before it, so that a code works only once; false when it was
 * invalidated before.
 */
export function takeTotpStep(db: Db, reporterId: string, step: number): Promise<boolean> {
  return changesAny(db)`update reporters set totp_step = ${step}
    where id = ${reporterId} and totp_secret is not null and (totp_step is null
      or totp_step < ${step})`
}

/** Enables the second step, and stores recovery codes for a lost device. */
export async function putTotp(
  tx: Db,
  reporterId: string,
  totp: { secret: Buffer; step: number; codeHashes: readonly Buffer[] },
): Promise<void> {
  await tx.query(sql`
    update reporters set totp_secret = ${totp.secret}, totp_step = ${totp.step}
      where id = ${reporterId}`)
  await putRecoveryCodes(tx, reporterId, totp.codeHashes)
}

/** Disables the second step and deletes its recovery codes. */
export async function removeTotp(tx: Db, reporterId: string): Promise<void> {
  await tx.query(sql`
    update reporters set totp_secret = null, totp_step = null where id = ${reporterId}`)
  await tx.query(sql`delete from recovery_codes where reporter_id = ${reporterId}`)
}

export async function putRecoveryCodes(
  tx: Db,
  reporterId: string,
  hashes: readonly Buffer[],
): Promise<void> {
  await tx.query(sql`delete from recovery_codes where reporter_id = ${reporterId}`)
  const values = bulk(hashes.map((hash) => [reporterId, hash]))
  await tx.query(sql`insert into recovery_codes (reporter_id, code_hash) values ${values}`)
}

/** Invalidates a recovery code; false when it is wrong or was used. */
export function takeRecoveryCode(db: Db, reporterId: string, hash: Buffer): Promise<boolean> {
  return changesAny(db)`
    delete from recovery_codes where reporter_id = ${reporterId} and code_hash = ${hash}`
}

export function countRecoveryCodes(db: Db, reporterId: string): Promise<number> {
  return numberOf(db)`
    select count(*) as count from recovery_codes where reporter_id = ${reporterId}`
}

/**
 * What a token permits its owner as a reporter: to report, to read, to retract reports, to change
 * the account, and to report for others.
 */
export const scopes = ['report', 'read', 'retract', 'account', 'on-behalf'] as const

export type TokenScope = (typeof scopes)[number]

export const usualScopes: readonly TokenScope[] = ['report', 'read', 'retract']

/** A token as shown to its owner, without the secret and its hash. */
export type Token = {
  id: string
  name: string
  scopes: readonly TokenScope[]
  role: Role | null
  createdAt: Date
  /** Updated at most once an hour; null: no use was recorded. */
  usedAt: Date | null
}

/** Adds a token, identified by its SHA-256 hash. Returns its id. */
export async function insertToken(
  db: Db,
  token: {
    hash: Buffer
    reporterId: string
    name: string
    createdAt: Date
    scopes?: readonly TokenScope[]
    role?: Role | null
  },
): Promise<string> {
  const id = uuidv7(token.createdAt)
  await db.query(sql`
    insert into tokens (token_hash, id, reporter_id, name, scopes, role, created_at)
    values (${token.hash}, ${id}, ${token.reporterId}, ${token.name},
      ${token.scopes ?? usualScopes}, ${token.role ?? null}, ${token.createdAt})`)
  return id
}

/** The owner of a token with the role of the account, and what the token permits. */
export type TokenOwner = Reporter & {
  tokenRole: Role | null
  roleUntil: Date | null
  hasTotp: boolean
  scopes: readonly TokenScope[]
  usedAt: Date | null
}

/** Returns the active account that a token belongs to. */
export function findTokenOwner(db: Db, hash: Buffer): Promise<TokenOwner | undefined> {
  return preparedRowOf(db)`
    select reporters.id, email, reporters.role, role_until as "roleUntil",
      tokens.role as "tokenRole", totp_secret is not null as "hasTotp", scopes, used_at as "usedAt"
    from tokens join reporters on reporters.id = tokens.reporter_id
    where token_hash = ${hash} and state = 'active'`
}

/** Stores the time of a token's use, unless a use after `after` is stored. */
export async function markTokenUsed(db: Db, hash: Buffer, at: Date, after: Date): Promise<void> {
  await db.query(sql`update tokens set used_at = ${at}
    where token_hash = ${hash} and (used_at is null or used_at < ${after})`)
}

/** Returns the tokens of a reporter, newest first. */
export function listTokens(db: Db, reporterId: string): Promise<Token[]> {
  return rowsOf(db)`
    select id, name, scopes, role, created_at as "createdAt", used_at as "usedAt"
    from tokens where reporter_id = ${reporterId} order by created_at desc, id desc`
}

export function countTokens(db: Db, reporterId: string): Promise<number> {
  return numberOf(db)`
    select count(*) as count from tokens where reporter_id = ${reporterId}`
}

/** Deletes a token of a reporter; false when the reporter has no such token. */
export function removeToken(db: Db, reporterId: string, id: string): Promise<boolean> {
  return changesAny(db)`
    delete from tokens where reporter_id = ${reporterId} and id = ${id}`
}

export async function removeTokens(tx: Db, reporterId: string): Promise<void> {
  await tx.query(sql`delete from tokens where reporter_id = ${reporterId}`)
}
