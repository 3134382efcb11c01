import { uuidv7 } from '../world.ts'
import type { Db } from './pool.ts'
import type { Reporter } from './reporters.ts'
import { first } from './values.ts'

/**
 * What a token may be allowed: to report, to read, to take reports back, to change the account, and
 * to use the rights of an administrator.
 */
export const scopes = ['report', 'read', 'retract', 'account', 'admin'] as const

/** One of them. */
export type Scope = (typeof scopes)[number]

/** What the owner of an account may allow a token, and may do by the password. */
export function scopesOf({ isAdmin }: Pick<Reporter, 'isAdmin'>): readonly Scope[] {
  return isAdmin ? scopes : scopes.filter((scope) => scope !== 'admin')
}

/** What tokens may do that were made without a word about it. */
export const usualScopes: readonly Scope[] = ['report', 'read', 'retract']

/** A token as its owner sees it: neither itself nor its hash. */
export type Token = {
  id: string
  name: string
  scopes: readonly Scope[]
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
    scopes?: readonly Scope[]
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
export type TokenOwner = Reporter & { scopes: readonly Scope[]; usedAt: Date | null }

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
