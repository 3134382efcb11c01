import sql, { type Sql } from 'sql-template-tag'
import type { Db } from './pool.ts'
import { changesAny, named, rowsOf } from './rows.ts'

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

export type Counting = { key: string; windowMs: number; amount: number }

export type LimitCount = {
  /** Attempts in the window, including those just counted. */
  total: number
  /** The time in milliseconds since the current sub-window began. */
  overMs: number
  /** Attempts by sub-window, from the oldest one with any to the current one: at most 61. */
  counts: number[]
}

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

const KEYS_SOUGHT_MAX = 20_000
/** Old counts leave the window: the busiest key need not be the one with the most of them. */
const CANDIDATES = 5

/** Returns the attempts in the present window of the busiest key between two keys. */
export async function findBusiest(
  db: Db,
  range: { from: string; to: string },
  notBefore: Date | null = null,
): Promise<number> {
  const present = sql`present_ms(${notBefore}::timestamptz)`
  const { rows } = await db.query<{ attempts: number | null }>(named('find-busiest')`
    select max((count_attempts(newest, total, counts, ${present} / sub_window_ms, 0)).total)::float8
      as attempts
    from (
      select newest, total, counts, sub_window_ms
      from (
        select newest, total, counts, sub_window_ms from rate_counts
        where key between ${range.from}::uuid and ${range.to}::uuid limit ${KEYS_SOUGHT_MAX}
      ) as sought
      where (newest + 61) * sub_window_ms >= ${present}
      order by total desc limit ${CANDIDATES}
    ) as candidates`)
  return rows[0]?.attempts ?? 0
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
  const asked = {
    keys: ordered.map(({ key }) => key),
    subWindows: ordered.map(({ windowMs }) => windowMs / 60),
    amounts: ordered.map(({ amount }) => amount),
  }
  const present = sql`present_ms(${notBefore}::timestamptz)`
  const { rows } = await db.query<LimitCount & { key: string }>(named('count-attempts')`
    insert into rate_counts (key, sub_window_ms, newest, total, counts)
    select key, sub_window_ms, ${present} / sub_window_ms, amount, array[amount]
    from unnest(${asked.keys}::uuid[], ${asked.subWindows}::integer[],
      ${asked.amounts}::integer[]) as asked (key, sub_window_ms, amount)
    on conflict (key) do update set (newest, total, counts) = (
      select counted.newest, counted.total, counted.counts
      from count_attempts(rate_counts.newest, rate_counts.total, rate_counts.counts,
        ${present} / rate_counts.sub_window_ms, excluded.total) as counted)
    returning key, total, counts,
      (${present} - newest * sub_window_ms)::integer as "overMs",
      set_config('synchronous_commit', 'off', true) as "lazily"`)
  const found = new Map(rows.map((row) => [row.key, row]))
  return countings.map(({ key }) => {
    const row = found.get(key)
    if (!row) throw new Error('The database returned no row for a rate limit.')
    return row
  })
}
