import type { LetterLanguage } from '../texts/letters.ts'
import type { Db } from './pool.ts'
import { first } from './rows.ts'

/** Who reports, or administers. */
export type Reporter = { id: string; email: string; isAdmin: boolean }

/** Disabled accounts can do nothing; one that is being erased has no way back. */
export type ReporterState = 'active' | 'disabled' | 'erasing'

/** A reporter with what proves a password. */
export type ReporterSecret = Reporter & { passwordHash: string | null }

/** An account with all that signing in asks of it. */
export type Account = ReporterSecret & {
  state: ReporterState
  hasTotp: boolean
  /** Of the mail to it; null: never said. */
  language: 'en' | 'fr' | 'ru' | null
  createdAt: Date
}

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

const account = `id, email, is_admin as "isAdmin", password_hash as "passwordHash", state,
  totp_secret is not null as "hasTotp", language, created_at as "createdAt"`

/** The account of an address, in any case and any state. */
export async function findReporterByEmail(db: Db, email: string): Promise<Account | undefined> {
  const answer = await db.query<Account>(
    `select ${account} from reporters where email = lower($1)`,
    [email],
  )
  return first(answer)
}

/** The account of an id, in any state. */
export async function findAccount(db: Db, id: string): Promise<Account | undefined> {
  return first(await db.query<Account>(`select ${account} from reporters where id = $1`, [id]))
}

/** The reporter of an id; undefined when the account is disabled or being erased. */
export async function findReporter(db: Db, id: string): Promise<Reporter | undefined> {
  const answer = await db.query<Reporter>(
    `select id, email, is_admin as "isAdmin" from reporters where id = $1 and state = 'active'`,
    [id],
  )
  return first(answer)
}

/** Gives an active account another address; false when another account has it. */
export async function updateReporterEmail(tx: Db, id: string, email: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update reporters set email = lower($2)
     where id = $1 and state = 'active'
       and not exists (select from reporters where email = lower($2))`,
    [id, email],
  )
  return rowCount === 1
}

/** Moves an account from one of the states `from` to `to`; false when it was in another. */
export async function markReporter(
  tx: Db,
  id: string,
  from: readonly ReporterState[],
  to: ReporterState,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update reporters set state = $3 where id = $1 and state = any($2::text[])`,
    [id, from, to],
  )
  return rowCount === 1
}

/** Holds all administrators until the transaction ends: none of them changes meanwhile. */
export async function holdAdmins(tx: Db): Promise<void> {
  const { rows } = await tx.query<{ id: string }>(
    `select id from reporters where is_admin order by id`,
  )
  await holdReporters(
    tx,
    rows.map(({ id }) => id),
    'change',
  )
}

/** How many other administrators could still act. */
export async function countOtherAdmins(tx: Db, id: string): Promise<number> {
  const { rows } = await tx.query<{ count: number }>(
    `select count(*) as count from reporters where is_admin and state = 'active' and id <> $1`,
    [id],
  )
  return rows[0]?.count ?? 0
}

/** Removes an account, and with it what hangs on it by foreign keys. */
export async function removeReporter(tx: Db, id: string): Promise<void> {
  await tx.query(`delete from reporters where id = $1`, [id])
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

/** How a reporter wants to be written to. */
export type ReporterSettings = {
  /** Null: never said; English then. */
  language: LetterLanguage | null
  /** Whether answers of abuse desks come by mail too. */
  wantsAnswers: boolean
  /** Whether letters say how to unsubscribe from what was reported. */
  wantsAdvice: boolean
}

/** What a reporter has set; undefined when there is no such account. */
export async function findReporterSettings(
  db: Db,
  id: string,
): Promise<ReporterSettings | undefined> {
  const answer = await db.query<ReporterSettings>(
    `select language, wants_answers as "wantsAnswers", wants_advice as "wantsAdvice"
     from reporters where id = $1`,
    [id],
  )
  return first(answer)
}

/** Sets it; undefined keeps what is. */
export async function updateReporterSettings(
  db: Db,
  id: string,
  change: { [Name in keyof ReporterSettings]?: NonNullable<ReporterSettings[Name]> | undefined },
): Promise<void> {
  await db.query(
    `update reporters
     set language = coalesce($2, language), wants_answers = coalesce($3, wants_answers),
       wants_advice = coalesce($4, wants_advice)
     where id = $1`,
    [id, change.language ?? null, change.wantsAnswers ?? null, change.wantsAdvice ?? null],
  )
}

/** The address a reporter mails reports to, without its secret. */
export type MailInAddress = {
  reporterId: string
  /** Counts the addresses that the reporter has had. */
  generation: number
  secretHash: Buffer
  since: Date
}

/** The address of a reporter; undefined when none was ever made. */
export async function findMailInAddress(
  db: Db,
  reporterId: string,
): Promise<MailInAddress | undefined> {
  const answer = await db.query<MailInAddress>(
    `select reporter_id as "reporterId", generation, secret_hash as "secretHash", since
     from mail_in_addresses where reporter_id = $1`,
    [reporterId],
  )
  return first(answer)
}

/** Whose address has a secret of this hash. */
export async function findMailInReporter(db: Db, secretHash: Buffer): Promise<string | undefined> {
  const answer = await db.query<{ reporterId: string }>(
    `select reporter_id as "reporterId" from mail_in_addresses where secret_hash = $1`,
    [secretHash],
  )
  return first(answer)?.reporterId
}

/**
 * Gives a reporter an address in place of the one before it; false when another request had made
 * one of this generation or a later one.
 */
export async function putMailInAddress(db: Db, address: MailInAddress): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into mail_in_addresses (reporter_id, generation, secret_hash, since)
     values ($1, $2, $3, $4)
     on conflict (reporter_id) do update
       set generation = excluded.generation, secret_hash = excluded.secret_hash,
         since = excluded.since
       where mail_in_addresses.generation < excluded.generation`,
    [address.reporterId, address.generation, address.secretHash, address.since],
  )
  return rowCount === 1
}

/**
 * Notes that a mail of this reporter is answered now with what was wrong; false when one was since
 * `after`. Holds the row: two mails at once are answered once.
 */
export async function markMailInAnswered(
  tx: Db,
  mark: { reporterId: string; after: Date; at: Date },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update mail_in_addresses set answered_at = $3
     where reporter_id = $1 and (answered_at is null or answered_at < $2)`,
    [mark.reporterId, mark.after, mark.at],
  )
  return rowCount === 1
}

/** Notes that the reporter is told now of the first report by mail; false when told before. */
export async function markMailInConfirmed(
  tx: Db,
  mark: { reporterId: string; at: Date },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update mail_in_addresses set confirmed_at = $2
     where reporter_id = $1 and confirmed_at is null`,
    [mark.reporterId, mark.at],
  )
  return rowCount === 1
}

/** Ends the address of a reporter. */
export async function removeMailInAddress(tx: Db, reporterId: string): Promise<void> {
  await tx.query(`delete from mail_in_addresses where reporter_id = $1`, [reporterId])
}
