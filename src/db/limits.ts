import type { FeedbackKey } from './feedback-reports.ts'
import type { Db } from './pool.ts'
import { type Report, reportColumns } from './reports.ts'
import { first } from './rows.ts'

/** What is done, as often as a limit says. */
export type Attempt =
  | 'report'
  | 'read'
  | 'sign-in'
  /** With a browser that somebody signed in with before. */
  | 'sign-in-device'
  | 'password'
  | 'sign-up'
  | 'reset'
  | 'confirm'
  | 'enroll'
  | 'lookup'
  | 'webhook'
  | 'mail-in'
  | 'form'
  /** A letter about an account, to its owner or to an address without one. */
  | 'letter-owner'
  | 'letter-stranger'

/** By what the attempts of one limit are told apart. */
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

/** So many attempts in any window, and what becomes of who is above it. */
export type RateLimit = {
  /** Also the name of the policy that clients are told. */
  name: string
  attempt: Attempt
  keyKind: KeyKind
  /** A multiple of 60. */
  windowMs: number
  attemptsMax: number
  behavior: 'refuse' | 'shadow' | 'off'
}

/** Attempts to be counted under one key, a UUID. */
export type Counting = { key: string; windowMs: number; amount: number }

/** What one key has after a counting. */
export type LimitCount = {
  /** Attempts in the window, all that were just counted included. */
  total: number
  /** How many milliseconds of the sub-window that counts now are over. */
  overMs: number
  /** Attempts by sub-window, the oldest that has any first, the present one last: at most 61. */
  counts: number[]
}

/** All limits, by name. */
export async function listRateLimits(db: Db): Promise<RateLimit[]> {
  const { rows } = await db.query<RateLimit>(
    `select name, attempt, key_kind as "keyKind", window_ms as "windowMs",
       attempts_max as "attemptsMax", behavior
     from rate_limits order by name`,
  )
  return rows
}

/** What may be changed of a limit. */
export type LimitChange = Pick<RateLimit, 'windowMs' | 'attemptsMax' | 'behavior'>

/** Changes a limit; false when there is none of that name. */
export async function updateRateLimit(
  tx: Db,
  name: string,
  { windowMs, attemptsMax, behavior }: LimitChange,
  at: Date,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update rate_limits
     set window_ms = $2, attempts_max = $3, behavior = $4, changed_at = $5
     where name = $1`,
    [name, windowMs, attemptsMax, behavior, at],
  )
  return (rowCount ?? 0) > 0
}

/**
 * Forgets keys under which nothing counts any more, among the first `limit` after the key `after`;
 * answers the last of those it looked at, undefined when there are no more. By the clock of the
 * database, which counts: a machine whose clock is ahead must not forget what still does.
 */
export async function removeIdleCounts(
  db: Db,
  page: { after: string; limit: number },
  notBefore: Date | null = null,
): Promise<string | undefined> {
  const { rows } = await db.query<{ key: string; isIdle: boolean }>(
    `select key, ${idleBy('$3')} as "isIdle" from rate_counts
     where key > $1 order by key limit $2`,
    [page.after, page.limit, notBefore],
  )
  const idle = rows.flatMap(({ key, isIdle }) => (isIdle ? [key] : []))
  // One at a time: whoever holds several keys at once can wait for who counts them, and he for him.
  for (const key of idle) {
    await db.query({
      name: 'remove-idle-count',
      text: `delete from rate_counts where key = $1 and ${idleBy('$2')}
        returning set_config('synchronous_commit', 'off', true)`,
      values: [key, notBefore],
    })
  }
  return rows.length < page.limit ? undefined : rows.at(-1)?.key
}

function idleBy(notBefore: string): string {
  return `(newest + 61) * sub_window_ms < present_ms(${notBefore}::timestamptz)`
}

/**
 * Counts attempts under each of several keys, which must differ, and answers in their order. One
 * statement: the lock of a key's row puts all processes in line, and the time is the database's,
 * read behind that lock. `notBefore`: it is at least so late (for tests).
 *
 * A crash of the database may forget the last half second: waiting for the disk would hold the rows
 * of busy keys for milliseconds.
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
    if (!row) throw new Error('A key was counted by nobody.')
    return row
  })
}

/** The server remembers the plans of short statements; of longer ones there are too many. */
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

/** A reporter whose reports are held. */
export type ShadowBan = {
  reporterId: string
  reason: string
  imposedAt: Date
  /** Null: at the command line. */
  imposedBy: string | null
}

const columns = `reporter_id as "reporterId", reason, imposed_at as "imposedAt",
  imposed_by as "imposedBy"`

/** Which of these reporters are banned. */
export async function listBannedAmong(
  db: Db,
  reporterIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ reporterId: string }>({
    name: 'list-banned-among',
    text: `select reporter_id as "reporterId" from shadow_bans
      where reporter_id = any($1::uuid[])`,
    values: [reporterIds],
  })
  return new Set(rows.map(({ reporterId }) => reporterId))
}

/** One reporter's ban. */
export async function findShadowBan(db: Db, reporterId: string): Promise<ShadowBan | undefined> {
  return first(
    await db.query<ShadowBan>(`select ${columns} from shadow_bans where reporter_id = $1`, [
      reporterId,
    ]),
  )
}

/** A page of the bans, in the order of the reporters' ids, the youngest accounts first. */
export async function listShadowBans(
  db: Db,
  page: { before: string | undefined; limit: number },
): Promise<ShadowBan[]> {
  const { rows } = await db.query<ShadowBan>(
    `select ${columns} from shadow_bans where $1::uuid is null or reporter_id < $1
     order by reporter_id desc limit $2`,
    [page.before ?? null, page.limit],
  )
  return rows
}

/** Bans a reporter, or gives another reason; who is banned already stays so. */
export async function putShadowBan(tx: Db, ban: ShadowBan): Promise<void> {
  await tx.query(
    `insert into shadow_bans (reporter_id, reason, imposed_at, imposed_by)
     values ($1, $2, $3, $4)
     on conflict (reporter_id) do update set reason = excluded.reason`,
    [ban.reporterId, ban.reason, ban.imposedAt, ban.imposedBy],
  )
}

/** Lifts a ban; false when there was none. */
export async function removeShadowBan(tx: Db, reporterId: string): Promise<boolean> {
  const { rowCount } = await tx.query(`delete from shadow_bans where reporter_id = $1`, [
    reporterId,
  ])
  return (rowCount ?? 0) > 0
}

/**
 * A page of the reports that are held, newest first, of one reporter or of all; `before` is the
 * last id of the page before. Retracted reports are left out.
 */
export async function listHeldReports(
  db: Db,
  page: { reporterId: string | undefined; before: string | undefined; limit: number },
): Promise<Report[]> {
  const { rows } = await db.query<Report>(
    `select ${reportColumns} from reports
     where ($1::uuid is null or reporter_id = $1) and ($2::uuid is null or id < $2)
       and shadow = 'held' and state <> 'retracted'
     order by id desc limit $3`,
    [page.reporterId ?? null, page.before ?? null, page.limit],
  )
  return rows
}

/** Releases or drops held reports that are not retracted; returns the ids of those it changed. */
export async function endHolding(
  tx: Db,
  ids: readonly string[],
  to: 'released' | 'dropped',
): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `update reports set shadow = $2
     where id = any($1::uuid[]) and shadow = 'held' and state <> 'retracted'
     returning id`,
    [ids, to],
  )
  return rows.map(({ id }) => id)
}

/** Those of the reports that have no effect on others, or none yet. */
export async function listShadowedAmong(
  db: Db,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ id: string }>(
    `select id from reports where id = any($1::uuid[]) and shadow is not null`,
    [ids],
  )
  return new Set(rows.map(({ id }) => id))
}

/** Those of the reports that have no effect on others; none of them gets any until `tx` ends. */
export async function keepShadowed(tx: Db, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await tx.query<{ id: string }>(
    `select id from reports
     where id = any($1::uuid[]) and shadow is not null order by id for share`,
    [ids],
  )
  return new Set(rows.map(({ id }) => id))
}

/**
 * Makes released reports that were analyzed while they were held count from now on, and returns
 * the ids of those that did not before: of several runs, one gets an id.
 */
export async function claimReleased(tx: Db, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const { rows } = await tx.query<{ id: string }>(
    `update reports set shadow = null
     where id = any($1::uuid[]) and shadow = 'released'
       and state in ('analyzed', 'forwarded', 'kept', 'failed')
     returning id`,
    [ids],
  )
  return rows.map(({ id }) => id)
}

/** Released reports older than the id `before` that do not count yet, oldest first. */
export async function listUncounted(db: Db, before: string, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from reports
     where shadow = 'released' and id < $1 and state in ('analyzed', 'forwarded', 'kept')
     order by id limit $2`,
    [before, limit],
  )
  return rows.map(({ id }) => id)
}

/** Feedback reports of these reports that only their reporters see, each with its consumer. */
export async function listShadowedFeedback(
  tx: Db,
  reportIds: readonly string[],
): Promise<(FeedbackKey & { consumerId: string })[]> {
  const { rows } = await tx.query<FeedbackKey & { consumerId: string }>(
    `select report_id as "reportId", number, consumer_id as "consumerId" from feedback_reports
     where report_id = any($1::uuid[]) and state = 'shadowed'
     order by report_id, number`,
    [reportIds],
  )
  return rows
}

/** Lets one of them be sent: at once, or when it is due. */
export async function releaseShadowedFeedback(
  tx: Db,
  { reportId, number }: FeedbackKey,
  { state, dueAt }: { state: 'queued' | 'waiting'; dueAt: Date | null },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update feedback_reports set state = $3, due_at = $4
     where report_id = $1 and number = $2 and state = 'shadowed'`,
    [reportId, number, state, dueAt],
  )
  return rowCount === 1
}
