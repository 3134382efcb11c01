import type { Db } from './pool.ts'
import { first } from './values.ts'

/** Who reports, or administers. */
export type Reporter = { id: string; email: string; isAdmin: boolean }

/** A reporter with what proves a password. */
export type ReporterSecret = Reporter & { passwordHash: string | null }

/**
 * Adds an account; undefined when the address already has one.
 * The address is kept in lower case.
 */
export async function insertReporter(
  db: Db,
  reporter: ReporterSecret & { createdAt: Date },
): Promise<string | undefined> {
  const answer = await db.query<{ id: string }>(
    `insert into reporters (id, email, password_hash, is_admin, created_at)
     values ($1, lower($2), $3, $4, $5)
     on conflict (email) do nothing
     returning id`,
    [reporter.id, reporter.email, reporter.passwordHash, reporter.isAdmin, reporter.createdAt],
  )
  return first(answer)?.id
}

/** Changes the password and the rights of an account; undefined keeps what is. */
export async function updateReporter(
  db: Db,
  id: string,
  change: { passwordHash: string | undefined; isAdmin: boolean | undefined },
): Promise<void> {
  await db.query(
    `update reporters
     set password_hash = coalesce($2, password_hash), is_admin = coalesce($3, is_admin)
     where id = $1`,
    [id, change.passwordHash, change.isAdmin],
  )
}

/** The account of an address, in any case. */
export async function findReporterByEmail(
  db: Db,
  email: string,
): Promise<ReporterSecret | undefined> {
  const answer = await db.query<ReporterSecret>(
    `select id, email, is_admin as "isAdmin", password_hash as "passwordHash"
     from reporters where email = lower($1)`,
    [email],
  )
  return first(answer)
}

/** The account of an id. */
export async function findReporter(db: Db, id: string): Promise<Reporter | undefined> {
  const answer = await db.query<Reporter>(
    `select id, email, is_admin as "isAdmin" from reporters where id = $1`,
    [id],
  )
  return first(answer)
}

/** The addresses of several reporters. */
export async function listReporterEmails(
  db: Db,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await db.query<{ id: string; email: string }>(
    `select id, email from reporters where id = any($1::uuid[])`,
    [ids],
  )
  return new Map(rows.map(({ id, email }) => [id, email]))
}

/**
 * Holds reporters until the transaction ends: `change` keeps out everybody who holds them,
 * `keep-still` only those who change. Held is what belongs to them as a whole, such as what is
 * known of their relays; reports come in all the while.
 */
export async function holdReporters(
  tx: Db,
  ids: readonly string[],
  why: 'change' | 'keep-still',
): Promise<void> {
  const lock = why === 'change' ? 'for no key update' : 'for share'
  await tx.query(`select id from reporters where id = any($1::uuid[]) order by id ${lock}`, [ids])
}

/** Adds a token, known by its SHA-256. */
export async function insertToken(
  db: Db,
  token: { hash: Buffer; reporterId: string; name: string; createdAt: Date },
): Promise<void> {
  await db.query(
    `insert into tokens (token_hash, reporter_id, name, created_at) values ($1, $2, $3, $4)`,
    [token.hash, token.reporterId, token.name, token.createdAt],
  )
}

/** The account a token belongs to. */
export async function findReporterByToken(db: Db, hash: Buffer): Promise<Reporter | undefined> {
  const answer = await db.query<Reporter>(
    `select reporters.id, email, is_admin as "isAdmin"
     from tokens join reporters on reporters.id = tokens.reporter_id
     where token_hash = $1`,
    [hash],
  )
  return first(answer)
}
