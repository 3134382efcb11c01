import sql, { raw } from 'sql-template-tag'
import type { Role } from '../roles.ts'
import type { Language } from '../texts/messages.ts'
import { lockedWith } from './nodes.ts'
import type { Db } from './pool.ts'
import { isOneOf, prepared } from './prepared.ts'
import { changesAny, excluded, numberOf, rowOf, rowsOf, valuesOf } from './rows.ts'

/** A person with an account. The role is null for a reporter. */
export type Reporter = { id: string; email: string; role: Role | null }

/** Disabled accounts cannot do anything; an erasure cannot be reversed. */
export type ReporterState = 'active' | 'disabled' | 'erasing'

export type ReporterSecret = Reporter & { passwordHash: string | null }

/** An account with all that sign-in needs. */
export type Account = ReporterSecret & {
  state: ReporterState
  /** Set if the provider of the organization gave the role, which holds until then. */
  roleUntil: Date | null
  hasTotp: boolean
  /** The language of mail to the address; null: not set. */
  language: Language | null
  createdAt: Date
}

/**
 * Adds an account and returns its id; undefined when the address already has one. The address is
 * stored in lower case.
 */
export async function insertReporter(
  db: Db,
  reporter: ReporterSecret & { createdAt: Date },
): Promise<string | undefined> {
  const [id] = await valuesOf(db)`
    insert into reporters (id, email, password_hash, role, created_at)
    values (${reporter.id}, lower(${reporter.email}), ${reporter.passwordHash},
      ${reporter.role}, ${reporter.createdAt})
    on conflict (email) do nothing
    returning id`
  return id
}

/**
 * Adds the account of a mailbox user for whom a provider reports, unless it exists, and returns its
 * id and state. It gets no letters, and nobody can sign in to it.
 */
export async function insertMailboxUser(
  tx: Db,
  user: { id: string; email: string; providerId: string; createdAt: Date },
): Promise<{ id: string; state: ReporterState } | undefined> {
  await tx.query(sql`
    insert into reporters (id, email, provider_id, wants_answers, wants_advice, created_at)
    values (${user.id}, ${user.email}, ${user.providerId}, false, false, ${user.createdAt})
    on conflict (email) do nothing`)
  return rowOf(tx)`select id, state from reporters where email = ${user.email}`
}

/** Gives a user of a mail server that has one of the earlier addresses a new one. */
export async function renameMailboxUser(
  tx: Db,
  earlier: readonly string[],
  email: string,
): Promise<void> {
  const named = await rowOf(tx)<{ id: string }>`
    select id from reporters where email = any(${earlier}::text[]) and provider_id is not null
    order by id limit 1`
  const taken = named && (await rowOf(tx)`select id from reporters where email = ${email}`)
  if (!named || taken) return
  await tx.query(sql`update reporters set email = ${email} where id = ${named.id}`)
}

/** Changes the password and the role of an account; undefined fields stay unchanged. */
export async function updateReporter(
  db: Db,
  id: string,
  change: { passwordHash?: string | undefined; role?: Role | undefined },
): Promise<void> {
  await db.query(sql`update reporters
    set password_hash = coalesce(${change.passwordHash}, password_hash),
      role = coalesce(${change.role}, role)
    where id = ${id}`)
}

/**
 * Sets the role of an account; null takes it away. `until` is set for a role that the provider of
 * the organization gave.
 */
export async function setRole(
  tx: Db,
  id: string,
  role: Role | null,
  until: Date | null = null,
): Promise<void> {
  await tx.query(sql`
    update reporters set role = ${role}, role_until = ${until} where id = ${id}`)
}

const account = sql`id, email, role, role_until as "roleUntil",
  password_hash as "passwordHash", state,
  totp_secret is not null as "hasTotp", language, created_at as "createdAt"`

/** Returns the account with an address, in any case and any state. */
export function findReporterByEmail(db: Db, email: string): Promise<Account | undefined> {
  return rowOf(db)`
    select ${account} from reporters where email = lower(${email})`
}

/** Returns the accounts with an address at a domain, by address. */
export function listReportersAt(
  db: Db,
  domain: string,
): Promise<(Reporter & { state: ReporterState; createdAt: Date })[]> {
  return rowsOf(db)`
    select id, email, role, state, created_at as "createdAt" from reporters
    where right(email, ${domain.length + 1}::int) = ${`@${domain}`} order by email`
}

export function findAccount(db: Db, id: string): Promise<Account | undefined> {
  return rowOf(db)`select ${account} from reporters where id = ${id}`
}

/** Returns the reporter with an id; undefined when the account is disabled or being erased. */
export function findReporter(
  db: Db,
  id: string,
): Promise<(Reporter & Pick<Account, 'hasTotp' | 'roleUntil'>) | undefined> {
  return rowOf(db)`
    select id, email, role, role_until as "roleUntil", totp_secret is not null as "hasTotp"
    from reporters where id = ${id} and state = 'active'`
}

/** Changes the address of an active account; false when another account has it. */
export function updateReporterEmail(tx: Db, id: string, email: string): Promise<boolean> {
  return changesAny(tx)`update reporters set email = lower(${email})
    where id = ${id} and state = 'active'
      and not exists (select from reporters where email = lower(${email}))`
}

/** Moves an account from one of the states `from` to `to`; false when it is in another state. */
export function markReporter(
  tx: Db,
  id: string,
  from: readonly ReporterState[],
  to: ReporterState,
): Promise<boolean> {
  return changesAny(tx)`
    update reporters set state = ${to} where id = ${id} and state = any(${from}::text[])`
}

/** Locks all administrators until the transaction ends, so that none of them changes meanwhile. */
export async function holdAdmins(tx: Db): Promise<void> {
  const { rows } = await tx.query<{ id: string }>(sql`
    select id from reporters where role = 'administrator' order by id`)
  await holdReporters(
    tx,
    rows.map(({ id }) => id),
    'change',
  )
}

export async function hasAdmin(db: Db): Promise<boolean> {
  const ids = await valuesOf(db)`
    select id from reporters where role = 'administrator' limit 1`
  return ids.length > 0
}

export function countOtherAdmins(tx: Db, id: string): Promise<number> {
  return numberOf(tx)`
    select count(*) as count from reporters
    where role = 'administrator' and state = 'active' and id <> ${id}`
}

/** Deletes an account and all rows that refer to it by cascading foreign keys. */
export async function removeReporter(tx: Db, id: string): Promise<void> {
  await tx.query(sql`delete from reporters where id = ${id}`)
}

/** Returns the addresses of several reporters, by id. Absent ids and repetitions are left out. */
export async function listReporterEmails(
  db: Db,
  given: readonly (string | null | undefined)[],
): Promise<Map<string, string>> {
  const ids = [...new Set(given.flatMap((id) => id ?? []))]
  const { rows } = await db.query<{ id: string; email: string }>(prepared`
    select id, email from reporters where ${isOneOf('id', ids, 'uuid[]')}`)
  return new Map(rows.map(({ id, email }) => [id, email]))
}

/**
 * Locks reporters until the transaction ends: `change` blocks all other callers, `keep-still` only
 * those with `change`. The lock protects data about the reporter as a whole, such as known relays;
 * it does not block new reports. Returns the reporters' addresses, by id. These are advisory locks:
 * in a distributed database, a lock of one row of this table would lock all of them.
 */
export async function holdReporters(
  tx: Db,
  ids: readonly string[],
  why: 'change' | 'keep-still',
): Promise<Map<string, string>> {
  const lock = raw(why === 'change' ? 'pg_advisory_xact_lock' : 'pg_advisory_xact_lock_shared')
  // Locked in one order: otherwise two transactions that share reporters deadlock. On one server,
  // both statements are sent together; the second reads what was committed before the lock was
  // obtained.
  const locks = lockedWith(tx)
  const locked = locks.query(prepared`select ${lock}(hashtextextended('reporter ' || id, 0))
    from unnest(${ids.toSorted()}::text[]) as id`)
  if (locks !== tx) await locked
  const [, emails] = await Promise.all([locked, listReporterEmails(tx, ids)])
  return emails
}

export type ReporterSettings = {
  /** Null: not set, which means English. */
  language: Language | null
  /** Whether answers of abuse desks and open questions are also sent by mail. */
  wantsAnswers: boolean
  wantsSummary: boolean
  /** Whether letters advise how to unsubscribe from reported mail. */
  wantsAdvice: boolean
}

/** Returns the settings of a reporter; undefined when there is no such account. */
export function findReporterSettings(db: Db, id: string): Promise<ReporterSettings | undefined> {
  return rowOf(db)`
    select language, wants_answers as "wantsAnswers", wants_advice as "wantsAdvice",
      wants_summary as "wantsSummary"
    from reporters where id = ${id}`
}

/** Changes settings; undefined fields stay unchanged. */
export async function updateReporterSettings(
  db: Db,
  id: string,
  change: { [Name in keyof ReporterSettings]?: NonNullable<ReporterSettings[Name]> | undefined },
): Promise<void> {
  await db.query(sql`update reporters
    set language = coalesce(${change.language}, language),
      wants_answers = coalesce(${change.wantsAnswers}, wants_answers),
      wants_advice = coalesce(${change.wantsAdvice}, wants_advice),
      wants_summary = coalesce(${change.wantsSummary}, wants_summary)
    where id = ${id}`)
}

/** The address to which a reporter mails reports, without its secret. */
export type MailInAddress = {
  reporterId: string
  /** The number of addresses that the reporter has had, including this one. */
  generation: number
  secretHash: Buffer
  since: Date
}

export function findMailInAddress(db: Db, reporterId: string): Promise<MailInAddress | undefined> {
  return rowOf(db)`
    select reporter_id as "reporterId", generation, secret_hash as "secretHash", since
    from mail_in_addresses where reporter_id = ${reporterId}`
}

export async function findMailInReporter(db: Db, secretHash: Buffer): Promise<string | undefined> {
  const [reporterId] = await valuesOf(db)`
    select reporter_id from mail_in_addresses where secret_hash = ${secretHash}`
  return reporterId
}

/**
 * Stores the mail-in address of a reporter in place of the previous one; false when another request
 * has stored the same or a later generation.
 */
export function putMailInAddress(db: Db, address: MailInAddress): Promise<boolean> {
  return changesAny(db)`
    insert into mail_in_addresses (reporter_id, generation, secret_hash, since)
    values (${address.reporterId}, ${address.generation}, ${address.secretHash}, ${address.since})
    on conflict (reporter_id) do update set ${excluded`generation, secret_hash, since`}
      where mail_in_addresses.generation < excluded.generation`
}

/**
 * Claims the answer to a faulty mail from this reporter; false when one was claimed since `after`.
 * The row lock ensures that of two concurrent mails only one is answered.
 */
export function markMailInAnswered(
  tx: Db,
  mark: { reporterId: string; after: Date; at: Date },
): Promise<boolean> {
  return changesAny(tx)`update mail_in_addresses set answered_at = ${mark.at}
    where reporter_id = ${mark.reporterId}
      and (answered_at is null or answered_at < ${mark.after})`
}

/**
 * Claims the letter that confirms the reporter's first report by mail; false when claimed before.
 */
export function markMailInConfirmed(
  tx: Db,
  mark: { reporterId: string; at: Date },
): Promise<boolean> {
  return changesAny(tx)`update mail_in_addresses set confirmed_at = ${mark.at}
    where reporter_id = ${mark.reporterId} and confirmed_at is null`
}

export async function removeMailInAddress(tx: Db, reporterId: string): Promise<void> {
  await tx.query(sql`delete from mail_in_addresses where reporter_id = ${reporterId}`)
}
