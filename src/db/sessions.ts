import { uuidv7 } from '../world.ts'
import type { Db } from './pool.ts'
import type { Reporter } from './reporters.ts'
import { first, values } from './rows.ts'

/** A browser in which a reporter is signed in. Its id is never told: it would be the session. */
export type SignedInBrowser = {
  /** Names it on pages. */
  handle: string
  openedAt: Date
  seenAt: Date
  /** What the browser calls itself. */
  agent: string
}

/** The browsers a reporter is signed in with, the latest seen first. */
export async function listSessions(
  db: Db,
  reporterId: string,
  now: Date,
): Promise<SignedInBrowser[]> {
  const { rows } = await db.query<Record<keyof SignedInBrowser, string | null>>(
    `select sess ->> 'handle' as handle, sess ->> 'openedAt' as "openedAt",
       sess ->> 'seenAt' as "seenAt", sess ->> 'agent' as agent
     from sessions where reporter_id = $1 and expire >= $2`,
    [reporterId, now],
  )
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

/** Ends one session of a reporter; false when there is none of that name. */
export async function removeSession(db: Db, reporterId: string, handle: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `delete from sessions where reporter_id = $1 and sess ->> 'handle' = $2`,
    [reporterId, handle],
  )
  return rowCount !== null && rowCount > 0
}

/** Ends all sessions of a reporter but one; all of them without it. Returns how many. */
export async function removeSessions(
  db: Db,
  reporterId: string,
  exceptHandle: string | undefined,
): Promise<number> {
  const { rowCount } = await db.query(
    `delete from sessions where reporter_id = $1
       and ($2::text is null or sess ->> 'handle' is distinct from $2)`,
    [reporterId, exceptHandle ?? null],
  )
  return rowCount ?? 0
}

/** Keeps what a session holds, if it has not been ended; when it ends by itself stays as it was. */
export async function updateSession(db: Db, id: string, content: object): Promise<void> {
  await db.query(`update sessions set sess = $2 where sid = $1`, [id, JSON.stringify(content)])
}

/** What a code of the second step is checked against; sealed by `people/second-step`. */
export type TotpState = { secret: Buffer; step: number | null }

/** Of a reporter who has a second step. */
export async function findTotp(db: Db, reporterId: string): Promise<TotpState | undefined> {
  const answer = await db.query<TotpState>(
    `select totp_secret as secret, totp_step as step from reporters
     where id = $1 and totp_secret is not null`,
    [reporterId],
  )
  return first(answer)
}

/** Uses up a step and all before it; false when that was done: a code works once. */
export async function takeTotpStep(db: Db, reporterId: string, step: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `update reporters set totp_step = $2
     where id = $1 and totp_secret is not null and (totp_step is null or totp_step < $2)`,
    [reporterId, step],
  )
  return rowCount === 1
}

/** Switches the second step on, with its codes for the loss of the device. */
export async function putTotp(
  tx: Db,
  reporterId: string,
  totp: { secret: Buffer; step: number; codeHashes: readonly Buffer[] },
): Promise<void> {
  await tx.query(`update reporters set totp_secret = $2, totp_step = $3 where id = $1`, [
    reporterId,
    totp.secret,
    totp.step,
  ])
  await putRecoveryCodes(tx, reporterId, totp.codeHashes)
}

/** Switches it off. */
export async function removeTotp(tx: Db, reporterId: string): Promise<void> {
  await tx.query(`update reporters set totp_secret = null, totp_step = null where id = $1`, [
    reporterId,
  ])
  await tx.query(`delete from recovery_codes where reporter_id = $1`, [reporterId])
}

/** Gives new recovery codes in place of those that are left. */
export async function putRecoveryCodes(
  tx: Db,
  reporterId: string,
  hashes: readonly Buffer[],
): Promise<void> {
  await tx.query(`delete from recovery_codes where reporter_id = $1`, [reporterId])
  const { text, params } = values(hashes.map((hash) => [reporterId, hash]))
  await tx.query(`insert into recovery_codes (reporter_id, code_hash) values ${text}`, params)
}

/** Uses up a recovery code; false when it is none, or was used. */
export async function takeRecoveryCode(db: Db, reporterId: string, hash: Buffer): Promise<boolean> {
  const { rowCount } = await db.query(
    `delete from recovery_codes where reporter_id = $1 and code_hash = $2`,
    [reporterId, hash],
  )
  return rowCount === 1
}

/** How many recovery codes are left. */
export async function countRecoveryCodes(db: Db, reporterId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*) as count from recovery_codes where reporter_id = $1`,
    [reporterId],
  )
  return rows[0]?.count ?? 0
}

/**
 * What a token may be allowed: to report, to read, to take reports back, to change the account, and
 * to use the rights of an administrator.
 */
export const scopes = ['report', 'read', 'retract', 'account', 'admin'] as const

/** One of them. */
export type TokenScope = (typeof scopes)[number]

/** What the owner of an account may allow a token, and may do by the password. */
export function scopesOf({ isAdmin }: Pick<Reporter, 'isAdmin'>): readonly TokenScope[] {
  return isAdmin ? scopes : scopes.filter((scope) => scope !== 'admin')
}

/** What tokens may do that were made without a word about it. */
export const usualScopes: readonly TokenScope[] = ['report', 'read', 'retract']

/** A token as its owner sees it: neither itself nor its hash. */
export type Token = {
  id: string
  name: string
  scopes: readonly TokenScope[]
  createdAt: Date
  /** Within the hour; null: never since this is written down. */
  usedAt: Date | null
}

/** Adds a token, known by its SHA-256. Returns its id. */
export async function insertToken(
  db: Db,
  token: {
    hash: Buffer
    reporterId: string
    name: string
    createdAt: Date
    scopes?: readonly TokenScope[]
  },
): Promise<string> {
  const id = uuidv7(token.createdAt)
  await db.query(
    `insert into tokens (token_hash, id, reporter_id, name, scopes, created_at)
     values ($1, $2, $3, $4, $5, $6)`,
    [token.hash, id, token.reporterId, token.name, token.scopes ?? usualScopes, token.createdAt],
  )
  return id
}

/**
 * Whose a token is, and what it may do. `isAdmin` says whether it has the rights of administrators:
 * one of an administrator has them with the scope "admin".
 */
export type TokenOwner = Reporter & { scopes: readonly TokenScope[]; usedAt: Date | null }

/** The active account a token belongs to. */
export async function findTokenOwner(db: Db, hash: Buffer): Promise<TokenOwner | undefined> {
  const answer = await db.query<TokenOwner>({
    name: 'find-token-owner',
    text: `select reporters.id, email, is_admin and 'admin' = any(scopes) as "isAdmin", scopes,
        used_at as "usedAt"
      from tokens join reporters on reporters.id = tokens.reporter_id
      where token_hash = $1 and state = 'active'`,
    values: [hash],
  })
  return first(answer)
}

/** Notes that a token was used, unless somebody did so since `after`. */
export async function markTokenUsed(db: Db, hash: Buffer, at: Date, after: Date): Promise<void> {
  await db.query(
    `update tokens set used_at = $2
     where token_hash = $1 and (used_at is null or used_at < $3)`,
    [hash, at, after],
  )
}

/** The tokens of a reporter, newest first. */
export async function listTokens(db: Db, reporterId: string): Promise<Token[]> {
  const { rows } = await db.query<Token>(
    `select id, name, scopes, created_at as "createdAt", used_at as "usedAt"
     from tokens where reporter_id = $1 order by created_at desc, id desc`,
    [reporterId],
  )
  return rows
}

/** How many tokens a reporter has. */
export async function countTokens(db: Db, reporterId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*) as count from tokens where reporter_id = $1`,
    [reporterId],
  )
  return rows[0]?.count ?? 0
}

/** Ends a token of a reporter; false when it is none of theirs. */
export async function removeToken(db: Db, reporterId: string, id: string): Promise<boolean> {
  const { rowCount } = await db.query(`delete from tokens where reporter_id = $1 and id = $2`, [
    reporterId,
    id,
  ])
  return rowCount === 1
}

/** Ends all tokens of a reporter. */
export async function removeTokens(tx: Db, reporterId: string): Promise<void> {
  await tx.query(`delete from tokens where reporter_id = $1`, [reporterId])
}
