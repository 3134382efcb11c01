import sql, { bulk, type Sql } from 'sql-template-tag'
import { DAY_MS } from '../durations.ts'
import { uuidFloor } from '../world.ts'
import { shownState } from './feedback-reports.ts'
import { lockKeys } from './lock-keys.ts'
import { type Db, onConnection, type Pool } from './pool.ts'
import { isOneOfIds, preparedRowOf } from './prepared.ts'
import { numberOf, rowOf, rowsOf } from './rows.ts'

/** A day (UTC, `2026-11-20`) on which a reporter's reports arrived. */
export type ReporterDay = { reporterId: string; day: string }

/** The number of reports from a network, named as at the time of the analysis. */
export type NetworkCount = {
  asn: number | null
  name: string
  country: string | null
  reports: number
}

/** The number of a day's reports, by kind and by outcome. */
export type DayCounts = {
  spam: number
  phishing: number
  notSpam: number
  notified: number
  kept: number
  asked: number
  retracted: number
  mails: number
  answered: number
}

/** The counts of a day, as shown to the reporter. */
export type CountedDay = DayCounts & { day: string }

export type WholeDay = DayCounts & {
  networks: NetworkCount[]
  countries: Record<string, number>
}

/** Minimum time between two counts of a day, in milliseconds per report of the day. */
const PAUSE_MS_A_REPORT = 5
/**
 * Maximum number of networks stored for a day, the most frequent ones: enough for the ten most
 * frequent of a month.
 */
const NETWORKS_MAX = 200

/**
 * Returns the days on which reports arrived, each once; reports that no longer exist are ignored.
 */
export function listDaysOf(db: Db, reportIds: readonly string[]): Promise<ReporterDay[]> {
  return rowsOf(db)`select distinct reporter_id as "reporterId",
      (received_at at time zone 'UTC')::date::text as day
    from reports where ${isOneOfIds('id', reportIds)}`
}

/**
 * Marks days to be counted again: immediately, or, for a day with many reports, after a pause of
 * about a thousand times the duration of the count.
 */
export async function markDaysDue(tx: Db, days: readonly ReporterDay[], now: Date): Promise<void> {
  if (days.length === 0) return
  const ordered = days.toSorted((a, b) => (dayKey(a) < dayKey(b) ? -1 : 1))
  const values = bulk(ordered.map(({ reporterId, day }) => [reporterId, day, now]))
  await tx.query(sql`
    insert into reporter_days as known (reporter_id, day, due_at) values ${values}
    on conflict (reporter_id, day) do update
      set due_at = greatest(excluded.due_at, (known.counted_at at time zone 'UTC'
        + interval '1 millisecond' * (${PAUSE_MS_A_REPORT}::integer
          * (known.spam + known.phishing + known.not_spam))) at time zone 'UTC')
      where known.due_at is null`)
}

/**
 * Locks the marking and counting of days until the transaction ends; false immediately when another
 * transaction holds the lock. If the server dies and loses the counts of a day, the day is still
 * due.
 */
export async function tryLockDays(tx: Db): Promise<boolean> {
  const { rows } = await tx.query<{ free: boolean }>(sql`
    select set_config('synchronous_commit', 'off', true),
      pg_try_advisory_xact_lock(${lockKeys.reporterDays}) as free`)
  return rows[0]?.free === true
}

/** Whether reports have changed, or days are due to be counted. */
export function areDaysWaiting(pool: Pool, now: Date): Promise<boolean> {
  return onConnection(pool, async (db) => {
    const [news, day] = await Promise.all([
      preparedRowOf(db)`select id from report_news limit 1`,
      preparedRowOf(db)`select day from reporter_days where due_at <= ${now} limit 1`,
    ])
    return news !== undefined || day !== undefined
  })
}

/** Returns the day that has been due for the longest time. */
export function findDueDay(tx: Db, now: Date): Promise<ReporterDay | undefined> {
  return rowOf(tx)`
    select reporter_id as "reporterId", day::text as day from reporter_days
    where due_at is not null and due_at <= ${now}
    order by due_at limit 1`
}

/** Stores the counts of a day, which is then no longer due. */
export async function keepDay(
  tx: Db,
  { reporterId, day }: ReporterDay,
  counts: WholeDay,
  now: Date,
): Promise<void> {
  await tx.query(sql`
    update reporter_days set due_at = null, counted_at = ${now}, spam = ${counts.spam},
      phishing = ${counts.phishing}, not_spam = ${counts.notSpam}, told = ${counts.notified},
      kept = ${counts.kept}, asked = ${counts.asked}, retracted = ${counts.retracted},
      mails = ${counts.mails}, answered = ${counts.answered},
      networks = ${JSON.stringify(counts.networks)}, countries = ${JSON.stringify(counts.countries)}
    where reporter_id = ${reporterId} and day = ${day}`)
}

/** Returns the counts of a reporter since a day, oldest first, without networks and countries. */
export function listReporterDays(db: Db, reporterId: string, from: string): Promise<CountedDay[]> {
  return rowsOf(db)`
    select day::text as day, spam, phishing, not_spam as "notSpam", told as notified, kept, asked,
      retracted, mails, answered
    from reporter_days where reporter_id = ${reporterId} and day >= ${from}
      order by reporter_days.day`
}

/** Returns the most frequent networks of a reporter's reports since a day. */
export function sumReporterNetworks(
  db: Db,
  reporterId: string,
  from: string,
  limit: number,
): Promise<NetworkCount[]> {
  return rowsOf(db)`
    select asn, name, country, sum(reports)::integer as reports
    from reporter_days, jsonb_to_recordset(networks)
      as network (asn bigint, name text, country text, reports integer)
    where reporter_id = ${reporterId} and day >= ${from}
    group by asn, name, country order by 4 desc, name, asn limit ${limit}`
}

/** Returns the most frequent countries of a reporter's reports since a day. */
export function sumReporterCountries(
  db: Db,
  reporterId: string,
  from: string,
  limit: number,
): Promise<{ country: string; reports: number }[]> {
  return rowsOf(db)`
    select country, sum(reports::integer)::integer as reports
    from reporter_days, jsonb_each_text(countries) as one (country, reports)
    where reporter_id = ${reporterId} and day >= ${from}
    group by country order by 2 desc, country limit ${limit}`
}

/** Counts the reports of a day in their current states. */
export async function countReporterDay(db: Db, { reporterId, day }: ReporterDay) {
  const from = new Date(`${day}T00:00:00Z`)
  const within: Bounds = {
    reporterId,
    from: uuidFloor(from),
    to: uuidFloor(new Date(from.getTime() + DAY_MS)),
  }
  const [states, mails, networks] = await Promise.all([
    countStates(db, within),
    countMails(db, within),
    countNetworks(db, within),
  ])
  const countries: Record<string, number> = {}
  for (const { country, reports } of networks) {
    if (country !== null) countries[country] = (countries[country] ?? 0) + reports
  }
  const whole: WholeDay = {
    ...states,
    mails,
    networks: networks.slice(0, NETWORKS_MAX),
    countries,
  }
  return whole
}

/** The reports of one reporter with ids from `from` to before `to`. */
type Bounds = { reporterId: string; from: string; to: string }

function isOwn({ reporterId, from, to }: Bounds): Sql {
  return sql`reports.reporter_id = ${reporterId} and reports.id >= ${from} and reports.id < ${to}`
}

const kind = (name: string) =>
  sql`count(*) filter (where kind = ${name} and state <> 'retracted')::integer`

async function countStates(db: Db, within: Bounds) {
  const { rows } = await db.query<Omit<DayCounts, 'mails'>>(sql`
    select ${kind('spam')} as spam, ${kind('phishing')} as phishing,
      ${kind('not-spam')} as "notSpam",
      count(*) filter (where state = 'forwarded')::integer as notified,
      count(*) filter (where state = 'kept')::integer as kept,
      count(*) filter (where state = 'kept'
        and judgment -> 'consequence' ->> 'action' in ('ask', 'confirm'))::integer as asked,
      count(*) filter (where state = 'retracted')::integer as retracted,
      count(*) filter (where state = 'forwarded' and exists (
        select from report_events where report_id = reports.id and shard = reports.shard
          and event like 'desk-%'))::integer as answered
    from reports left join analyses on analyses.id = reports.id and analyses.shard = reports.shard
      and analyses.id >= ${within.from} and analyses.id < ${within.to}
    where ${isOwn(within)}`)
  const none = { spam: 0, phishing: 0, notSpam: 0, notified: 0, kept: 0, asked: 0 }
  return rows[0] ?? { ...none, retracted: 0, answered: 0 }
}

function countMails(db: Db, within: Bounds): Promise<number> {
  return numberOf(db)`
    select count(*)::integer as mails
    from reports join feedback_reports on report_id = reports.id
      and feedback_reports.shard = reports.shard
      and report_id >= ${within.from} and report_id < ${within.to}
    where ${isOwn(within)} and reports.state = 'forwarded'
      and feedback_reports.kind = 'complaint' and ${shownState} in ('sent', 'merged')`
}

function countNetworks(db: Db, within: Bounds): Promise<NetworkCount[]> {
  return rowsOf(db)`
    select network_asn as asn, coalesce(network_name, network_cidr::text) as name,
      network_country as country, count(*)::integer as reports
    from reports join analyses on analyses.id = reports.id and analyses.shard = reports.shard
      and analyses.id >= ${within.from} and analyses.id < ${within.to}
    where ${isOwn(within)} and state <> 'retracted' and network_cidr is not null
    group by 1, 2, 3 order by 4 desc, 2, 1`
}

function dayKey({ reporterId, day }: ReporterDay): string {
  return `${reporterId} ${day}`
}
