import { uuidFloor } from '../world.ts'
import type { Db } from './pool.ts'
import { values } from './rows.ts'

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
  told: number
  kept: number
  asked: number
  retracted: number
  mails: number
  answered: number
}

/** The counts of a day, as shown to the reporter. */
export type CountedDay = DayCounts & { day: string }

/** All counts of a day. */
export type WholeDay = DayCounts & {
  networks: NetworkCount[]
  /** The number of reports by country. */
  countries: Record<string, number>
}

const DAY_MS = 86_400_000
/** Differs from all other advisory locks of the program. */
const LOCK = 20_828
/** Minimum time in milliseconds between two counts of a day, for each report of the day. */
const PAUSE_MS_A_REPORT = 5
/**
 * Maximum number of networks stored for a day, the most frequent ones: enough for the ten most
 * frequent of a month.
 */
const NETWORKS_MAX = 200

/**
 * Returns the days on which reports arrived, each once; reports that no longer exist are ignored.
 */
export async function listDaysOf(db: Db, reportIds: readonly string[]): Promise<ReporterDay[]> {
  const { rows } = await db.query<ReporterDay>(
    `select distinct reporter_id as "reporterId",
       (received_at at time zone 'UTC')::date::text as day
     from reports where id = any($1::uuid[])`,
    [reportIds],
  )
  return rows
}

/**
 * Marks days to be counted again: at once, or for a day with many reports after a pause of about a
 * thousand times the duration of the count.
 */
export async function markDaysDue(tx: Db, days: readonly ReporterDay[], now: Date): Promise<void> {
  if (days.length === 0) return
  const ordered = days.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  const { text, params } = values(ordered.map(({ reporterId, day }) => [reporterId, day, now]))
  await tx.query(
    `insert into reporter_days as known (reporter_id, day, due_at) values ${text}
     on conflict (reporter_id, day) do update
       set due_at = greatest(excluded.due_at, known.counted_at + interval '1 millisecond'
         * (${PAUSE_MS_A_REPORT} * (known.spam + known.phishing + known.not_spam)))
       where known.due_at is null`,
    params,
  )
}

/**
 * Locks the marking and counting of days until the transaction ends; false at once when another
 * transaction holds the lock. If the server dies, days whose counts were lost are still due.
 */
export async function claimDays(tx: Db): Promise<boolean> {
  const { rows } = await tx.query<{ free: boolean }>(
    `select set_config('synchronous_commit', 'off', true), pg_try_advisory_xact_lock($1) as free`,
    [LOCK],
  )
  return rows[0]?.free === true
}

/** Returns the day that has been due for the longest time. */
export async function findDueDay(tx: Db, now: Date): Promise<ReporterDay | undefined> {
  const { rows } = await tx.query<ReporterDay>(
    `select reporter_id as "reporterId", day::text as day from reporter_days
     where due_at is not null and due_at <= $1
     order by due_at limit 1`,
    [now],
  )
  return rows[0]
}

/** Stores the counts of a day. */
export async function keepDay(
  tx: Db,
  { reporterId, day }: ReporterDay,
  counts: WholeDay,
  now: Date,
): Promise<void> {
  await tx.query(
    `update reporter_days set due_at = null, counted_at = $3, spam = $4, phishing = $5,
       not_spam = $6, told = $7, kept = $8, asked = $9, retracted = $10, mails = $11,
       answered = $12, networks = $13, countries = $14
     where reporter_id = $1 and day = $2`,
    [
      ...[reporterId, day, now, counts.spam, counts.phishing, counts.notSpam],
      ...[counts.told, counts.kept, counts.asked, counts.retracted, counts.mails],
      ...[counts.answered, JSON.stringify(counts.networks), JSON.stringify(counts.countries)],
    ],
  )
}

/** Returns the counts of a reporter since a day, oldest first, without networks and countries. */
export async function listReporterDays(
  db: Db,
  reporterId: string,
  from: string,
): Promise<CountedDay[]> {
  const { rows } = await db.query<CountedDay>(
    `select day::text as day, spam, phishing, not_spam as "notSpam", told, kept, asked, retracted,
       mails, answered
     from reporter_days where reporter_id = $1 and day >= $2 order by reporter_days.day`,
    [reporterId, from],
  )
  return rows
}

/** Returns the most frequent networks of a reporter's reports since a day. */
export async function sumReporterNetworks(
  db: Db,
  reporterId: string,
  from: string,
  limit: number,
): Promise<NetworkCount[]> {
  const { rows } = await db.query<NetworkCount>(
    `select asn, name, country, sum(reports)::integer as reports
     from reporter_days, jsonb_to_recordset(networks)
       as network (asn bigint, name text, country text, reports integer)
     where reporter_id = $1 and day >= $2
     group by asn, name, country order by 4 desc, name, asn limit $3`,
    [reporterId, from, limit],
  )
  return rows
}

/** Returns the most frequent countries of a reporter's reports since a day. */
export async function sumReporterCountries(
  db: Db,
  reporterId: string,
  from: string,
  limit: number,
): Promise<{ country: string; reports: number }[]> {
  const { rows } = await db.query<{ country: string; reports: number }>(
    `select country, sum(reports::integer)::integer as reports
     from reporter_days, jsonb_each_text(countries) as one (country, reports)
     where reporter_id = $1 and day >= $2
     group by country order by 2 desc, country limit $3`,
    [reporterId, from, limit],
  )
  return rows
}

/** Deletes days whose reports are no longer stored. */
export async function removeReporterDays(db: Db, before: Date): Promise<void> {
  await db.query(`delete from reporter_days where day < $1`, [before.toISOString().slice(0, 10)])
}

/** Counts the reports of a day in their current states. */
export async function countReporterDay(db: Db, { reporterId, day }: ReporterDay) {
  const from = new Date(`${day}T00:00:00Z`)
  const bounds = [reporterId, uuidFloor(from), uuidFloor(new Date(from.getTime() + DAY_MS))]
  const [states, mails, networks] = await Promise.all([
    countStates(db, bounds),
    countMails(db, bounds),
    countNetworks(db, bounds),
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

const own = 'reports.reporter_id = $1 and reports.id >= $2 and reports.id < $3'

const kind = (name: string) =>
  `count(*) filter (where kind = '${name}' and state <> 'retracted')::integer`

async function countStates(db: Db, bounds: readonly string[]) {
  const { rows } = await db.query<Omit<DayCounts, 'mails'>>(
    `select ${kind('spam')} as spam, ${kind('phishing')} as phishing,
       ${kind('not-spam')} as "notSpam",
       count(*) filter (where state = 'forwarded')::integer as told,
       count(*) filter (where state = 'kept')::integer as kept,
       count(*) filter (where state = 'kept'
         and judgment -> 'consequence' ->> 'action' = 'ask')::integer as asked,
       count(*) filter (where state = 'retracted')::integer as retracted,
       count(*) filter (where state = 'forwarded' and exists (
         select from report_events where report_id = reports.id
           and event like 'desk-%'))::integer as answered
     from reports left join analyses
       on analyses.id = reports.id and analyses.id >= $2 and analyses.id < $3
     where ${own}`,
    [...bounds],
  )
  const none = { spam: 0, phishing: 0, notSpam: 0, told: 0, kept: 0, asked: 0 }
  return rows[0] ?? { ...none, retracted: 0, answered: 0 }
}

async function countMails(db: Db, bounds: readonly string[]): Promise<number> {
  const { rows } = await db.query<{ mails: number }>(
    `select count(*)::integer as mails
     from reports join feedback_reports on report_id = reports.id
       and report_id >= $2 and report_id < $3
     where ${own} and reports.state = 'forwarded' and feedback_reports.kind = 'complaint'
       and feedback_reports.state in ('sent', 'merged')`,
    [...bounds],
  )
  return rows[0]?.mails ?? 0
}

async function countNetworks(db: Db, bounds: readonly string[]): Promise<NetworkCount[]> {
  const { rows } = await db.query<NetworkCount>(
    `select network_asn as asn, coalesce(network_name, network_cidr::text) as name,
       network_country as country, count(*)::integer as reports
     from reports join analyses
       on analyses.id = reports.id and analyses.id >= $2 and analyses.id < $3
     where ${own} and state <> 'retracted' and network_cidr is not null
     group by 1, 2, 3 order by 4 desc, 2, 1`,
    [...bounds],
  )
  return rows
}

function nameOf({ reporterId, day }: ReporterDay): string {
  return `${reporterId} ${day}`
}
