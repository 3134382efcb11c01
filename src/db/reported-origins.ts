import sql, { bulk } from 'sql-template-tag'
import type { ReportSeries } from '../verdict/after-notice.ts'
import type { Db } from './pool.ts'
import { changesAny, excluded, rowOf, rowsOf, valuesOf } from './rows.ts'

/** The latest case of an address that sent reported mail. */
export type ReportedOrigin = ReportSeries & {
  ip: string
  networkAsn: number | null
  networkName: string | null
  networkCountry: string | null
  /** A lower bound of the people who reported it. */
  people: number
  /** The last report; null if only reports without effect came. */
  lastAt: Date | null
  /** The last report without effect. */
  shadowLastAt: Date | null
  /** The first notice, the report that it was about, and its consumer. */
  noticedAt: Date | null
  reportId: string | null
  consumerId: string | null
  before: number
  after: number
  silentAt: Date | null
}

const columns = sql`host(ip) as ip, network_asn as "networkAsn", network_name as "networkName",
  network_country as "networkCountry", minutes, counts, people, last_at as "lastAt",
  shadow_last_at as "shadowLastAt", noticed_at as "noticedAt", report_id as "reportId",
  consumer_id as "consumerId", before, after, silent_at as "silentAt"`

/** A report as the follow-up needs it. */
export type OriginReport = Pick<
  ReportedOrigin,
  'ip' | 'networkAsn' | 'networkName' | 'networkCountry'
> & {
  id: string
  reporterId: string
  receivedAt: Date
  isShadowed: boolean
}

/**
 * Returns complaints with a sure origin, oldest first, with ids above `after` and below `until`.
 * Simulated phishing, retracted reports and what mail servers learned are left out.
 */
export function listOriginReports(
  db: Db,
  bounds: { after: string; until: string; limit: number; originConfidenceMin: number },
): Promise<OriginReport[]> {
  const { after, until, limit, originConfidenceMin } = bounds
  // Each table is read in its partitions of this time only.
  return rowsOf(db)`
    select reports.id, reporter_id as "reporterId", received_at as "receivedAt",
      shadow is not null as "isShadowed", host(origin_ip) as ip, network_asn as "networkAsn",
      network_name as "networkName", network_country as "networkCountry"
    from reports
    join analyses on analyses.id = reports.id and analyses.shard = reports.shard
    where reports.id > ${after} and reports.id < ${until}
      and analyses.id > ${after} and analyses.id < ${until}
      and kind <> 'not-spam' and state in ('analyzed', 'forwarded', 'kept') and channel <> 'learn'
      and origin_ip is not null and origin_confidence >= ${originConfidenceMin}
      and judgment #>> '{consequence,action}' is distinct from 'simulation'
    order by reports.id limit ${limit}`
}

/** Returns the rows of addresses, unordered; others are absent. */
export function listReportedOrigins(db: Db, ips: readonly string[]): Promise<ReportedOrigin[]> {
  return rowsOf(db)`select ${columns} from reported_origins where ip = any(${ips}::inet[])`
}

export async function upsertReportedOrigins(
  tx: Db,
  rows: readonly ReportedOrigin[],
  now: Date,
): Promise<void> {
  if (rows.length === 0) return
  const values = rows
    .toSorted((one, other) => (one.ip < other.ip ? -1 : 1))
    .map((row) => [
      ...[row.ip, row.networkAsn, row.networkName, row.networkCountry, row.minutes, row.counts],
      ...[row.people, row.lastAt, row.shadowLastAt, row.noticedAt, row.reportId, row.consumerId],
      ...[row.before, row.after, row.silentAt, now],
    ])
  await tx.query(sql`
    insert into reported_origins (ip, network_asn, network_name, network_country, minutes, counts,
      people, last_at, shadow_last_at, noticed_at, report_id, consumer_id, before, after,
      silent_at, changed_at)
    values ${bulk(values)}
    on conflict (ip) do update set ${excluded`network_asn, network_name, network_country,
      minutes, counts, people, last_at, shadow_last_at, noticed_at, report_id, consumer_id,
      before, after, silent_at, changed_at`}`)
}

/** Returns the id up to which reports were added; undefined before the first run. */
export async function findOriginsRead(db: Db): Promise<string | undefined> {
  const [lastId] = await valuesOf(db)`select last_id from reported_origins_progress`
  return lastId
}

/** Stores up to which id reports were added; false if another run has added some. */
export function setOriginsRead(
  tx: Db,
  lastId: string,
  before: string | undefined,
): Promise<boolean> {
  return before === undefined
    ? changesAny(tx)`insert into reported_origins_progress (is_only, last_id)
        values (true, ${lastId}) on conflict (is_only) do nothing`
    : changesAny(tx)`
        update reported_origins_progress set last_id = ${lastId} where last_id = ${before}`
}

/**
 * How the reports ended after the first notices about addresses, and pages, of a consumer or a
 * network: those with enough reports to tell, how many of them have stopped, and the median of the
 * hours from the notice to the last report. The median is null if half of them have not stopped.
 */
export type Endings = { cases: number; stopped: number; medianHours: number | null }

/** The notices to look at, and until when reports are known. */
export type EndingBounds = { from: Date; to: Date; seenUntil: Date }

const endings = (seenUntil: Date) => sql`count(*)::integer as cases,
  (count(*) filter (where silent_at <= ${seenUntil}))::integer as stopped,
  nullif(percentile_disc(0.5) within group (order by case when silent_at <= ${seenUntil}
    then greatest(0, extract(epoch from last_at - noticed_at) / 3600)::float8
    else 'infinity'::float8 end), 'infinity'::float8) as "medianHours"`

/** Returns the endings of consumers by id; consumers without any are absent. */
export async function listEndings(
  db: Db,
  consumerIds: readonly string[],
  { from, to, seenUntil }: EndingBounds,
): Promise<Map<string, Endings>> {
  const rows = await rowsOf(db)<Endings & { consumerId: string }>`
    select consumer_id as "consumerId", ${endings(seenUntil)}
    from (
      select consumer_id, noticed_at, last_at, silent_at from reported_origins
      union all select consumer_id, noticed_at, last_at, silent_at from page_endings) as followed
    where consumer_id = any(${consumerIds}::uuid[]) and noticed_at >= ${from}
      and noticed_at < ${to} and silent_at is not null
    group by consumer_id`
  return new Map(rows.map(({ consumerId, ...row }) => [consumerId, row]))
}

/**
 * Returns the endings by network, with a lower bound of the people who reported its addresses.
 */
export function listNetworkEndings(
  db: Db,
  { from, to, seenUntil }: EndingBounds,
): Promise<(Endings & { asn: number; country: string | null; people: number })[]> {
  return rowsOf(db)`
    select network_asn as asn, network_country as country, max(people)::integer as people,
      ${endings(seenUntil)}
    from reported_origins
    where noticed_at >= ${from} and noticed_at < ${to} and silent_at is not null
      and network_asn is not null
    group by network_asn, network_country`
}

/** Returns the addresses about which a consumer was notified first, the latest first. */
export function listNoticedOrigins(
  db: Db,
  consumerId: string,
  limit: number,
): Promise<ReportedOrigin[]> {
  return rowsOf(db)`select ${columns} from reported_origins
    where consumer_id = ${consumerId} order by noticed_at desc, ip limit ${limit}`
}

/** Returns the row of one address. */
export function findReportedOrigin(db: Db, ip: string): Promise<ReportedOrigin | undefined> {
  return rowOf(db)`select ${columns} from reported_origins where ip = ${ip}::inet`
}

/** Forgets all addresses; reports are read again. */
export async function removeReportedOrigins(tx: Db): Promise<void> {
  await tx.query('delete from reported_origins')
  await tx.query('delete from reported_origins_progress')
}
