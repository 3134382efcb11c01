import sql, { join, type Sql } from 'sql-template-tag'
import { uuidFloor } from '../world.ts'
import type { Db } from './pool.ts'
import { changesAny, rowOf, rowsOf } from './rows.ts'

const parts = ['kind', 'class', 'outcome', 'country', 'network'] as const

/**
 * A count of a month's reports. `key` is a kind, a class of verdicts, an outcome (`kept`, the
 * answer of the desk, or `unanswered`), or the country or the AS number of the origin: empty if the
 * origin is not published. `country` and `name` are those of a network.
 */
export type MonthCount = {
  part: (typeof parts)[number]
  key: string
  country: string
  name: string
  reports: number
  reporters: number
}

/** All reports of a month, and the median time in seconds until the first mail about a report. */
export type MonthTotal = {
  reports: number
  reporters: number
  forwarded: number
  forwardedReporters: number
  medianSeconds: number | null
}

/** The months to count, and which origins are published. */
export type MonthBounds = {
  from: Date
  to: Date
  originConfidenceMin: number
  unwantedClasses: readonly string[]
}

/**
 * Counts the reports of a month. Retracted reports, those of shadow-banned people, and messages
 * that a mail server learned do not count. The origin of a report counts if it is sure, the message
 * is unwanted, and the abuse desk did not dispute the report. Reads all reports of the month, so
 * that it takes minutes with many millions of them.
 */
export async function countMonth(
  tx: Db,
  bounds: MonthBounds,
): Promise<{ total: MonthTotal; counts: MonthCount[] }> {
  await tx.query(sql`create temporary table month_reports on commit drop as ${reportsOf(bounds)}`)
  const total = await rowOf(tx)<MonthTotal>`
    select count(*)::integer as reports, count(distinct reporter_id)::integer as reporters,
      count(took)::integer as forwarded,
      count(distinct reporter_id) filter (where took is not null)::integer
        as "forwardedReporters",
      percentile_disc(0.5) within group (order by took) as "medianSeconds"
    from month_reports`
  const counts = await tx.query<MonthCount>(join(parts.map(countBy), ' union all '))
  const none = { reports: 0, reporters: 0, forwarded: 0, forwardedReporters: 0 }
  return { total: total ?? { ...none, medianSeconds: null }, counts: counts.rows }
}

const columns: Record<(typeof parts)[number], Sql> = {
  kind: sql`kind as key, '' as country`,
  class: sql`class as key, '' as country`,
  outcome: sql`outcome as key, '' as country`,
  country: sql`country as key, '' as country`,
  network: sql`asn as key, country`,
}

function countBy(part: (typeof parts)[number]): Sql {
  return sql`
    select ${part}::text as part, key, country, coalesce(max(name), '') as name,
      count(*)::integer as reports, count(distinct reporter_id)::integer as reporters
    from (select ${columns[part]}, name, reporter_id from month_reports) as keyed
    group by key, country`
}

function reportsOf({ from, to, originConfidenceMin, unwantedClasses }: MonthBounds): Sql {
  const [first, end] = [uuidFloor(from), uuidFloor(to)]
  const within = (id: Sql) => sql`${id} >= ${first} and ${id} < ${end}`
  const isPublished = sql`kind <> 'not-spam' and origin_confidence >= ${originConfidenceMin}
    and verdict_class = any(${unwantedClasses}) and network_asn is not null
    and network_country is not null and coalesce(answer, '') not in ('wrong', 'not-ours')`
  return sql`
    select reporter_id, kind, coalesce(verdict_class, 'undecided') as class,
      case when state = 'forwarded' then coalesce(answer, 'unanswered') else 'kept' end as outcome,
      case when ${isPublished} then network_country else '' end as country,
      case when ${isPublished} then network_asn::text else '' end as asn,
      case when ${isPublished} then network_name end as name,
      case when state = 'forwarded'
        then extract(epoch from sent_at - received_at)::float end as took
    from reports
    left join analyses on analyses.id = reports.id and analyses.shard = reports.shard
      and ${within(sql`analyses.id`)}
    left join (
      select report_id, shard, min(finished_at) as sent_at from feedback_reports
      where ${within(sql`report_id`)} and kind = 'complaint' and state in ('sent', 'bounced')
      group by report_id, shard
    ) as sent on sent.report_id = reports.id and sent.shard = reports.shard
    left join (
      select report_id, shard, (array['resolved', 'wrong', 'not-ours', 'stop'])[
        min(array_position(array['resolved', 'wrong', 'not-ours', 'stop'], substr(event, 6)))]
        as answer
      from report_events where ${within(sql`report_id`)}
        and event in ('desk-resolved', 'desk-wrong', 'desk-not-ours', 'desk-stop')
      group by report_id, shard
    ) as answered on answered.report_id = reports.id and answered.shard = reports.shard
    where ${within(sql`reports.id`)} and state <> 'retracted' and shadow is null
      and channel not in ('learn', 'trap')
      and judgment #>> '{consequence,action}' is distinct from 'simulation'`
}

/** A month (its first day, `2026-11-01`) and its figures as they were stored. */
export type StoredMonth<Figures> = { month: string; figures: Figures | null }

/** Stores the figures of a month; a month that was counted before keeps its figures. */
export async function insertMonth(
  tx: Db,
  { month, figures }: StoredMonth<object>,
  now: Date,
): Promise<void> {
  await tx.query(sql`
    insert into statistic_months (month, counted_at, figures)
    values (${month}, ${now}, ${figures && JSON.stringify(figures)})
    on conflict (month) do nothing`)
}

/** Returns the counted months, oldest first. */
export function listMonths<Figures>(db: Db): Promise<StoredMonth<Figures>[]> {
  return rowsOf(db)`select month::text as month, figures from statistic_months order by 1`
}

/** Whether anyone may open the page of figures. */
export async function publishesStatistics(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ isPublic: boolean }>(
    'select publishes_statistics as "isPublic" from installation',
  )
  return rows[0]?.isPublic === true
}

/** Opens or closes the page of figures for the public; false if nothing changed. */
export function setPublishesStatistics(tx: Db, isPublic: boolean): Promise<boolean> {
  return changesAny(tx)`
    update installation set publishes_statistics = ${isPublic}
    where publishes_statistics <> ${isPublic}`
}
