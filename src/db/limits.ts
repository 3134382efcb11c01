import sql, { type Sql } from 'sql-template-tag'
import type { FeedbackKey } from './feedback-reports.ts'
import type { Db } from './pool.ts'
import { isId, isOneOf, isOneOfIds, prepared } from './prepared.ts'
import { type Report, reportColumns } from './reports.ts'
import { changesAny, named, rowOf, rowsOf } from './rows.ts'

/** The actions that rate limits apply to. */
export type Attempt =
  | 'report'
  | 'read'
  | 'sign-in'
  /** A sign-in in a browser that was used for a successful sign-in before. */
  | 'sign-in-device'
  | 'password'
  | 'sign-up'
  | 'reset'
  | 'confirm'
  | 'enroll'
  | 'lookup'
  | 'webhook'
  | 'mail-in'
  /** A report that a provider sends for a mailbox user: by that user, and by the provider. */
  | 'mailbox-user'
  | 'provider'
  | 'form'
  /** A letter about an account: to its owner, or to an address without an account. */
  | 'letter-owner'
  | 'letter-stranger'

/** The property of a client that a limit counts by. */
export type KeyKind =
  | 'reporter'
  | 'token'
  | 'device'
  | 'address'
  | 'network'
  | 'wide-network'
  | 'name'
  | 'name-and-address'
  | 'name-and-network'
  | 'all'

/** The maximum number of attempts in any window, and what happens above it. */
export type RateLimit = {
  /** Also the policy name in the rate-limit headers of HTTP responses. */
  name: string
  attempt: Attempt
  keyKind: KeyKind
  /** A multiple of 60: windows are counted in 60 sub-windows. */
  windowMs: number
  attemptsMax: number
  behavior: 'refuse' | 'shadow' | 'off'
}

/** Attempts to count under one key, a UUID. */
export type Counting = { key: string; windowMs: number; amount: number }

/** The attempts counted under one key. */
export type LimitCount = {
  /** Attempts in the window, including those just counted. */
  total: number
  /** The time in milliseconds since the current sub-window began. */
  overMs: number
  /** Attempts by sub-window, from the oldest one with any to the current one: at most 61. */
  counts: number[]
}

/** Returns all limits, by name. */
export function listRateLimits(db: Db): Promise<RateLimit[]> {
  return rowsOf(db)`
    select name, attempt, key_kind as "keyKind", window_ms as "windowMs",
      attempts_max as "attemptsMax", behavior
    from rate_limits order by name`
}

/** The fields of a limit that can be changed. */
export type LimitChange = Pick<RateLimit, 'windowMs' | 'attemptsMax' | 'behavior'>

/** Changes a limit; false when there is none with that name. */
export function updateRateLimit(
  tx: Db,
  name: string,
  { windowMs, attemptsMax, behavior }: LimitChange,
  at: Date,
): Promise<boolean> {
  return changesAny(tx)`update rate_limits
    set window_ms = ${windowMs}, attempts_max = ${attemptsMax}, behavior = ${behavior},
      changed_at = ${at}
    where name = ${name}`
}

/**
 * Deletes keys whose counts have all expired, among the first `limit` keys after `after`. Returns
 * the last key it checked, or undefined when there are no more. Uses the clock of the database, as
 * counting does: a process whose clock is ahead must not delete counts that still apply.
 */
export async function removeIdleCounts(
  db: Db,
  page: { after: string; limit: number },
  notBefore: Date | null = null,
): Promise<string | undefined> {
  const { rows } = await db.query<{ key: string; isIdle: boolean }>(sql`
    select key, ${idleBy(notBefore)} as "isIdle" from rate_counts
    where key > ${page.after} order by key limit ${page.limit}`)
  const idle = rows.flatMap(({ key, isIdle }) => (isIdle ? [key] : []))
  // One key per statement: a statement that locks several keys could deadlock with one that counts
  // them.
  for (const key of idle) {
    await db.query(named('remove-idle-count')`
      delete from rate_counts where key = ${key} and ${idleBy(notBefore)}
      returning set_config('synchronous_commit', 'off', true)`)
  }
  return rows.length < page.limit ? undefined : rows.at(-1)?.key
}

function idleBy(notBefore: Date | null): Sql {
  return sql`(newest + 61) * sub_window_ms < present_ms(${notBefore}::timestamptz)`
}

/**
 * Counts attempts under each of several keys, which must differ, and returns the counts in their
 * order. One statement: the lock of a key's row orders all processes, and the time is read from the
 * database's clock after the lock is taken. `notBefore` is a lower bound of that time (for tests).
 *
 * A crash of the database may lose the last half second of counts: waiting for the disk would lock
 * the rows of busy keys for milliseconds.
 */
export async function countAttempts(
  db: Db,
  countings: readonly Counting[],
  notBefore: Date | null = null,
): Promise<LimitCount[]> {
  // In key order: unordered, two statements that share keys deadlock.
  const ordered = countings.toSorted((one, other) => (one.key < other.key ? -1 : 1))
  const { rows } = await db.query<LimitCount & { key: string }>({
    ...(ordered.length <= NAMED_MAX && { name: `count-attempts-${ordered.length}` }),
    text: (texts[ordered.length] ??= textFor(ordered.length)),
    values: [
      notBefore,
      ...ordered.flatMap(({ key, windowMs, amount }) => [key, windowMs / 60, amount]),
    ],
  })
  const found = new Map(rows.map((row) => [row.key, row]))
  return countings.map(({ key }) => {
    const row = found.get(key)
    if (!row) throw new Error('The database returned no row for a rate limit.')
    return row
  })
}

/**
 * Maximum number of keys in a prepared statement. Each number of keys is a different statement, so
 * there are too many longer ones to prepare them all.
 */
const NAMED_MAX = 16
const texts: string[] = []

function textFor(rows: number): string {
  const present = (subWindow: string) => `present_ms($1) / ${subWindow}`
  const row = (at: number) =>
    `($${at}::uuid, $${at + 1}::integer, ${present(`$${at + 1}::integer`)}, $${at + 2}::integer,
      array[$${at + 2}::integer])`
  return `insert into rate_counts (key, sub_window_ms, newest, total, counts)
    values ${Array.from({ length: rows }, (_, index) => row(index * 3 + 2)).join(',')}
    on conflict (key) do update set (newest, total, counts) = (
      select counted.newest, counted.total, counted.counts
      from count_attempts(rate_counts.newest, rate_counts.total, rate_counts.counts,
        ${present('rate_counts.sub_window_ms')}, excluded.total) as counted)
    returning key, total, counts, (present_ms($1) - newest * sub_window_ms)::integer as "overMs",
      set_config('synchronous_commit', 'off', true) as "lazily"`
}

/** The shadow ban of a reporter, whose reports are held. */
export type ShadowBan = {
  reporterId: string
  reason: string
  imposedAt: Date
  /** Null when imposed at the command line. */
  imposedBy: string | null
}

const columns = sql`reporter_id as "reporterId", reason, imposed_at as "imposedAt",
  imposed_by as "imposedBy"`

/** Returns the given reporters that are banned. */
export async function listBannedAmong(
  db: Db,
  reporterIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ reporterId: string }>(prepared`
    select reporter_id as "reporterId" from shadow_bans
    where ${isOneOf('reporter_id', reporterIds, 'uuid[]')}`)
  return new Set(rows.map(({ reporterId }) => reporterId))
}

export function findShadowBan(db: Db, reporterId: string): Promise<ShadowBan | undefined> {
  return rowOf(db)`
      select ${columns} from shadow_bans where reporter_id = ${reporterId}`
}

/**
 * Returns a page of the bans by reporter id, newest accounts first; `before` is the last reporter
 * id of the previous page.
 */
export function listShadowBans(
  db: Db,
  page: { before: string | undefined; limit: number },
): Promise<ShadowBan[]> {
  return rowsOf(db)`
    select ${columns} from shadow_bans where ${page.before}::uuid is null
      or reporter_id < ${page.before}::uuid
    order by reporter_id desc limit ${page.limit}`
}

/** Bans a reporter; for a reporter who is banned already, only the reason changes. */
export async function putShadowBan(tx: Db, ban: ShadowBan): Promise<void> {
  await tx.query(sql`insert into shadow_bans (reporter_id, reason, imposed_at, imposed_by)
    values (${ban.reporterId}, ${ban.reason}, ${ban.imposedAt}, ${ban.imposedBy})
    on conflict (reporter_id) do update set reason = excluded.reason`)
}

/** Lifts a ban; false when there was none. */
export function removeShadowBan(tx: Db, reporterId: string): Promise<boolean> {
  return changesAny(tx)`
    delete from shadow_bans where reporter_id = ${reporterId}`
}

/**
 * Returns a page of the held reports of one reporter or of all, newest first, without retracted
 * ones. `before` is the last id of the previous page.
 */
export function listHeldReports(
  db: Db,
  page: { reporterId: string | undefined; before: string | undefined; limit: number },
): Promise<Report[]> {
  return rowsOf(db)`select ${reportColumns} from reports
    where (${page.reporterId}::uuid is null or reporter_id = ${page.reporterId}::uuid)
      and (${page.before}::uuid is null or id < ${page.before}::uuid)
      and shadow = 'held' and state <> 'retracted'
    order by id desc limit ${page.limit}`
}

/** Releases or drops held reports that are not retracted; returns the ids of the changed ones. */
export async function endHolding(
  tx: Db,
  ids: readonly string[],
  to: 'released' | 'dropped',
): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(sql`update reports set shadow = ${to}
    where ${isOneOfIds('id', ids)} and shadow = 'held' and state <> 'retracted'
    returning id`)
  return rows.map(({ id }) => id)
}

/** Returns which of the given reports have no effect on others at present. */
export async function listShadowedAmong(
  db: Db,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ id: string }>(prepared`
    select id from reports where ${isOneOfIds('id', ids)} and shadow is not null`)
  return new Set(rows.map(({ id }) => id))
}

/**
 * Makes released reports count that were analyzed while they were held. Returns the ids of those
 * that did not count before; of several concurrent runs, one gets each id.
 */
export async function claimReleased(tx: Db, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const { rows } = await tx.query<{ id: string }>(prepared`update reports set shadow = null
    where ${isOneOfIds('id', ids)} and shadow = 'released'
      and state in ('analyzed', 'forwarded', 'kept', 'failed')
    returning id`)
  return rows.map(({ id }) => id)
}

/** Returns released reports that do not count yet, with ids below `before`, oldest first. */
export async function listUncounted(db: Db, before: string, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(sql`select id from reports
    where shadow = 'released' and id < ${before} and state in ('analyzed', 'forwarded', 'kept')
    order by id limit ${limit}`)
  return rows.map(({ id }) => id)
}

/** Returns the shadowed feedback reports of some reports, which only their reporters see. */
export function listShadowedFeedback(
  tx: Db,
  reportIds: readonly string[],
): Promise<(FeedbackKey & { consumerId: string })[]> {
  return rowsOf(tx)<FeedbackKey & { consumerId: string }>`
    select report_id as "reportId", number, consumer_id as "consumerId" from feedback_reports
    where ${isOneOfIds('report_id', reportIds)} and state = 'shadowed'
    order by report_id, number`
}

/**
 * Releases a shadowed feedback report: to be sent immediately, or at `dueAt`. One that its reporter
 * has seen as sent keeps `due_at` when it is queued, so that its outcome is not shown again.
 */
export function releaseShadowedFeedback(
  tx: Db,
  { reportId, number }: FeedbackKey,
  { state, dueAt }: { state: 'queued' | 'waiting'; dueAt: Date | null },
): Promise<boolean> {
  return changesAny(tx)`
    update feedback_reports set state = ${state}, due_at = coalesce(${dueAt}::timestamptz,
      case when finished_at is not null then due_at end), finished_at = null
    where ${isId('report_id', reportId)} and number = ${number} and state = 'shadowed'`
}
