import type { Db } from './pool.ts'
import { foundColumns, type FoundReport } from './report-search.ts'
import { first } from './values.ts'

/** The campaign that a report counts for; undefined when it is of none, or does not count. */
export async function findCampaignOf(db: Db, reportId: string): Promise<string | undefined> {
  const found = await db.query<{ campaignId: string | null }>(
    'select campaign_id as "campaignId" from counted_reports where id = $1',
    [reportId],
  )
  return first(found)?.campaignId ?? undefined
}

/**
 * The campaigns of reports, as their reporters see them: a report that has no effect on others
 * shows the campaign for which it would count. Those that are of none are absent, and those that
 * are not analyzed or that are retracted.
 */
export async function listCampaignsOf(
  db: Db,
  reportIds: readonly string[],
): Promise<{ id: string; campaignId: string; isCounted: boolean }[]> {
  const { rows } = await db.query<{ id: string; campaignId: string; isCounted: boolean }>(
    `select id, "campaignId", "isCounted" from (
       select reports.id, counted_reports.id is not null as "isCounted",
         coalesce(campaign_id, (judgment ->> 'campaignId')::uuid) as "campaignId"
       from reports
         left join counted_reports on counted_reports.id = reports.id
           and counted_reports.id = any($1::uuid[])
         left join analyses on analyses.id = reports.id and analyses.id = any($1::uuid[])
           and shadow is not null
       where reports.id = any($1::uuid[]) and state not in ('received', 'retracted')
     ) as known where "campaignId" is not null`,
    [reportIds],
  )
  return rows
}

/** Ids of the reports of a campaign, the newest first, or the oldest. */
export async function listMemberIds(
  db: Db,
  campaignId: string,
  { from, limit }: { from: 'newest' | 'oldest'; limit: number },
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from counted_reports where campaign_id = $1
     order by id ${from === 'newest' ? 'desc' : 'asc'} limit $2`,
    [campaignId, limit],
  )
  return rows.map(({ id }) => id)
}

/** A page of the reports of a campaign, newest first; `before` is the last id that was shown. */
export async function listMembers(
  db: Db,
  campaignId: string,
  page: { before: string | undefined; limit: number },
): Promise<FoundReport[]> {
  const { rows } = await db.query<FoundReport>(
    `select ${foundColumns}
     from counted_reports
     join reports on reports.id = counted_reports.id
     left join analyses on analyses.id = counted_reports.id
     where campaign_id = $1 and ($2::uuid is null or counted_reports.id < $2)
     order by counted_reports.id desc limit $3`,
    [campaignId, page.before ?? null, page.limit],
  )
  return rows
}

/** An address from which reports came, with its network as it was when they were analyzed. */
export type OriginCount = {
  ip: string
  network: string | null
  asn: number | null
  country: string | null
  reports: number
}

/** From where these reports came, the most frequent address first. */
export async function countOrigins(
  db: Db,
  reportIds: readonly string[],
  limit: number,
): Promise<OriginCount[]> {
  const { rows } = await db.query<OriginCount>(
    `select host(origin_ip) as ip, network_name as network, network_asn as asn,
       network_country as country, count(*)::integer as reports
     from analyses where id = any($1::uuid[]) and origin_ip is not null
     group by origin_ip, network_name, network_asn, network_country
     order by 5 desc, origin_ip limit $2`,
    [reportIds, limit],
  )
  return rows
}

/** How many different reporters these reports have, without one of them. */
export async function countOtherReporters(
  db: Db,
  reportIds: readonly string[],
  reporterId: string,
): Promise<number> {
  const { rows } = await db.query<{ others: number }>(
    `select count(distinct reporter_id)::integer as others from reports
     where id = any($1::uuid[]) and reporter_id <> $2`,
    [reportIds, reporterId],
  )
  return rows[0]?.others ?? 0
}
