import sql, { bulk, empty, raw, type Sql } from 'sql-template-tag'
import { dateOf } from '../durations.ts'
import type { Fingerprints } from '../pieces/fingerprints.ts'
import { shardOf, uuidOf } from '../world.ts'
import { lockClasses } from './lock-keys.ts'
import type { Db } from './pool.ts'
import { isId, isOneOf, isOneOfIds, prepared, preparedInsert, preparedRowsOf } from './prepared.ts'
import { bigintArray, excluded, numberOf, rowOf, rowsOf, valuesOf } from './rows.ts'

export type Campaign = { id: string; fingerprints: Fingerprints }

export type NewCampaign = Campaign & { firstReportId: string }

/**
 * Waits until no other transaction creates campaigns, and locks the creation until this transaction
 * ends. A process that hangs loses its lock after 10 seconds of inactivity. The commit is written
 * to disk: another connection may store reports of the campaign, and these must not survive a crash
 * that loses the campaign.
 */
export async function claimFounding(tx: Db): Promise<void> {
  await tx.query(sql`select set_config('idle_in_transaction_session_timeout', '10s', true),
    pg_advisory_xact_lock(${lockClasses.campaigns}, 0)`)
}

/** Returns the newest campaign with an id below `before`. */
export async function findNewestCampaign(tx: Db, before: string): Promise<string | undefined> {
  const newest = await rowOf(tx)<{ id: string }>`
    select id from campaigns where id < ${before} order by id desc limit 1`
  return newest?.id
}

/** Inserts campaigns, in the order of their ids. */
export async function insertCampaigns(tx: Db, campaigns: readonly NewCampaign[]): Promise<void> {
  if (campaigns.length === 0) return
  const values = bulk(
    campaigns
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      .map(({ id, firstReportId, fingerprints }) => [
        id,
        shardOf(id),
        firstReportId,
        JSON.stringify(fingerprints),
      ]),
  )
  await tx.query(sql`
    insert into campaigns (id, shard, first_report_id, fingerprints) values ${values}`)
}

export type CampaignHead = { id: string; firstReportId: string }

/** Returns campaigns by id, unordered, without their fingerprints. */
export async function listCampaignHeads(db: Db, ids: readonly string[]): Promise<CampaignHead[]> {
  if (ids.length === 0) return []
  return preparedRowsOf(db)`
    select id, first_report_id as "firstReportId" from campaigns
    where ${isOneOfIds('id', ids)}`
}

/** Returns the given campaigns that still exist, unordered. */
export async function listCampaignsByIds(db: Db, ids: readonly string[]): Promise<Campaign[]> {
  if (ids.length === 0) return []
  return preparedRowsOf(db)`
    select id, fingerprints from campaigns where ${isOneOfIds('id', ids)}`
}

/** A key under which a campaign can be found; `key` has 16 hexadecimal digits. */
export type CampaignKey = { key: string; generation: number; campaignId: string }

/** Keeps each statement below the limit of parameters (65,535). */
const ROWS_PER_STATEMENT = 10_000
const ROW_BYTES = 28

/**
 * Returns all campaigns under any of the keys in the given generations, unordered. The server sends
 * them as one value, which is cheaper for the driver than one row each. The generations are part of
 * the text, so that only their partitions are planned.
 */
export async function findCampaignKeys(
  db: Db,
  keys: readonly string[],
  [oldest, newest]: readonly [number, number],
): Promise<CampaignKey[]> {
  if (keys.length === 0) return []
  const { rows } = await db.query<{ found: Buffer | null }>(prepared`
    select string_agg(int8send(key) || int4send(generation) || uuid_send(campaign_id), ''::bytea)
      as found
    from campaign_keys where key = any(${bigintArray(Buffer.from(keys.join(''), 'hex'))}::bigint[])
      and generation between ${raw(String(oldest))} and ${raw(String(newest))}`)
  const found = rows[0]?.found ?? Buffer.alloc(0)
  return Array.from({ length: found.length / ROW_BYTES }, (_, index) => {
    const at = index * ROW_BYTES
    return {
      key: found.toString('hex', at, at + 8),
      generation: found.readInt32BE(at + 8),
      campaignId: uuidOf(found.toString('hex', at + 12, at + ROW_BYTES)),
    }
  })
}

/** Inserts the keys of new campaigns, in key order. */
export async function insertCampaignKeys(tx: Db, rows: readonly CampaignKey[]): Promise<void> {
  await insertRows(tx, rows, empty)
}

/** Inserts existing keys into another generation, in key order; rows that exist already stay. */
export async function carryCampaignKeys(tx: Db, rows: readonly CampaignKey[]): Promise<void> {
  await insertRows(tx, rows, sql`on conflict (key, generation, campaign_id) do nothing`)
}

/**
 * `onConflict` is empty where no conflict is possible: the check costs a sixth of creating a
 * campaign.
 */
async function insertRows(tx: Db, rows: readonly CampaignKey[], onConflict: Sql): Promise<void> {
  const sorted = rows
    .map((row) => ({ ...row, key: BigInt.asIntN(64, BigInt(`0x${row.key}`)) }))
    .sort(byKey)
  for (let at = 0; at < sorted.length; at += ROWS_PER_STATEMENT) {
    const values = bulk(
      sorted
        .slice(at, at + ROWS_PER_STATEMENT)
        .map(({ key, generation, campaignId }) => [key, generation, campaignId]),
    )
    await tx.query(sql`
      insert into campaign_keys (key, generation, campaign_id) values ${values} ${onConflict}`)
  }
}

type SignedKey = { key: bigint; generation: number; campaignId: string }

function byKey(a: SignedKey, b: SignedKey): number {
  if (a.key !== b.key) return a.key < b.key ? -1 : 1
  if (a.generation !== b.generation) return a.generation - b.generation
  return a.campaignId < b.campaignId ? -1 : 1
}

/** Returns the campaign that a report counts for; undefined when it has none or is not counted. */
export async function findCampaignOf(db: Db, reportId: string): Promise<string | undefined> {
  const [campaignId] = await valuesOf(db)<string | null>`
    select campaign_id from counted_reports where ${isId('id', reportId)}`
  return campaignId ?? undefined
}

/**
 * Returns the campaigns of reports, as shown to their reporters: a report without effect on others
 * shows the campaign it would count for. Reports are absent if they have no campaign, are not
 * analyzed yet, or are retracted.
 */
export function listCampaignsOf(
  db: Db,
  reportIds: readonly string[],
): Promise<{ id: string; campaignId: string; isCounted: boolean }[]> {
  return rowsOf(db)`
    select id, "campaignId", "isCounted" from (
      select reports.id, counted_reports.id is not null as "isCounted",
        coalesce(campaign_id, (judgment ->> 'campaignId')::uuid) as "campaignId"
      from reports
        left join counted_reports on counted_reports.id = reports.id
          and counted_reports.shard = reports.shard
          and ${isOneOfIds('counted_reports.id', reportIds)}
        left join analyses on analyses.id = reports.id and analyses.shard = reports.shard
          and ${isOneOfIds('analyses.id', reportIds)} and shadow is not null
      where ${isOneOfIds('reports.id', reportIds)} and state not in ('received', 'retracted')
    ) as known where "campaignId" is not null`
}

/** Returns the ids of the newest or the oldest reports of a campaign. */
export function listMemberIds(
  db: Db,
  campaignId: string,
  { from, limit }: { from: 'newest' | 'oldest'; limit: number },
): Promise<string[]> {
  return valuesOf(db)`
    select id from counted_reports where campaign_id = ${campaignId}
    order by id ${from === 'newest' ? raw('desc') : raw('asc')} limit ${limit}`
}

/** Returns the first reports of a campaign after an id and below another, oldest first. */
export function listMembersBetween(
  db: Db,
  campaignId: string,
  { afterId, untilId, limit }: { afterId: string; untilId: string; limit: number },
): Promise<string[]> {
  return valuesOf(db)`
    select id from counted_reports
    where campaign_id = ${campaignId} and id > ${afterId} and id < ${untilId}
    order by id limit ${limit}`
}

/**
 * Returns a page of the ids of a campaign's reports, newest first; `before` is the last id of the
 * previous page.
 */
export function listCampaignMembers(
  db: Db,
  campaignId: string,
  page: { before: string | undefined; limit: number },
): Promise<string[]> {
  return valuesOf(db)`
    select id from counted_reports
    where campaign_id = ${campaignId}
      and (${page.before}::uuid is null or id < ${page.before}::uuid)
    order by id desc limit ${page.limit}`
}

/** An origin address of reports, with its network at the time of the analysis. */
export type OriginCount = {
  ip: string
  network: string | null
  asn: number | null
  country: string | null
  reports: number
}

/**
 * Returns the origin addresses of reports with the number of reports from each, the most frequent
 * first.
 */
export function countOrigins(
  db: Db,
  reportIds: readonly string[],
  limit: number,
): Promise<OriginCount[]> {
  return rowsOf(db)`
    select host(origin_ip) as ip, network_name as network, network_asn as asn,
      network_country as country, count(*)::integer as reports
    from analyses where ${isOneOfIds('id', reportIds)} and origin_ip is not null
    group by origin_ip, network_name, network_asn, network_country
    order by 5 desc, origin_ip limit ${limit}`
}

/** Counts the distinct reporters of some reports, excluding one. */
export function countOtherReporters(
  db: Db,
  reportIds: readonly string[],
  reporterId: string,
): Promise<number> {
  return numberOf(db)`
    select count(distinct reporter_id)::integer as others from reports
    where ${isOneOfIds('id', reportIds)} and reporter_id <> ${reporterId}`
}

/**
 * The packed statements of the reporters of a campaign, and the day of the last report
 * (`2026-11-20`, UTC).
 */
export type CampaignWitnesses = {
  campaignId: string
  day: string
  content: Buffer
  /** The highest number of independent complainants so far, at most three. */
  complainants: number
}

/** Returns the witnesses of campaigns by id, unordered. */
export async function findWitnesses(
  db: Db,
  campaignIds: readonly string[],
): Promise<Omit<CampaignWitnesses, 'day'>[]> {
  if (campaignIds.length === 0) return []
  return preparedRowsOf(db)`
    select campaign_id as "campaignId", content, complainants from campaign_witnesses
    where ${isOneOf('campaign_id', campaignIds, 'uuid[]')}`
}

/** Inserts or replaces the witnesses of campaigns, given in the order of their ids. */
export async function upsertWitnesses(tx: Db, rows: readonly CampaignWitnesses[]): Promise<void> {
  if (rows.length === 0) return
  const values = bulk(
    rows.map(({ campaignId, day, content, complainants }) => {
      return [campaignId, day, content, complainants]
    }),
  )
  await tx.query(sql`insert into campaign_witnesses (campaign_id, day, content, complainants)
    values ${values}
    on conflict (campaign_id) do update set ${excluded`day, content, complainants`}`)
}

/**
 * Deletes the witnesses of at most `limit` campaigns that were not reported since the day `before`.
 * Returns the number of these campaigns.
 */
export async function removeOldWitnesses(db: Db, before: string, limit: number): Promise<number> {
  const ids = await valuesOf(db)`
    select campaign_id as id from campaign_witnesses where day < ${before} order by day
      limit ${limit}`
  await db.query(sql`
    delete from campaign_witnesses where campaign_id = any(${ids}::uuid[]) and day < ${before}`)
  return ids.length
}

/** The change of a campaign's reports on a day (UTC); negative when reports are retracted. */
export type CampaignDayChange = { campaignId: string; day: Date | string; reports: number }

/**
 * Adds reports to the daily counts of their campaigns. Call it last in a transaction, because many
 * transactions update the same rows. `day` may be any instant of the day. Ignores negative changes
 * of campaigns that no longer exist.
 */
export async function addToCampaignDays(
  tx: Db,
  changes: readonly CampaignDayChange[],
): Promise<void> {
  const rows = await withoutGone(tx, sumByDay(changes))
  if (rows.length === 0) return
  const all = rows.map(({ campaignId, day, reports }) => [
    campaignId,
    shardOf(campaignId),
    day,
    reports,
  ])
  await tx.query(
    preparedInsert(
      all,
      (values) => sql`
    insert into campaign_days (campaign_id, shard, day, reports) values ${values}
    on conflict (campaign_id, day, shard)
      do update set reports = campaign_days.reports + excluded.reports`,
    ),
  )
}

/** The number of reports of a campaign on a day (UTC, `2026-11-20`). */
export type CampaignDay = { day: string; reports: number }

/** Returns the days on which a campaign was reported, oldest first. */
export function listCampaignDays(db: Db, campaignId: string): Promise<CampaignDay[]> {
  return rowsOf(db)`
    select day::text as day, reports from campaign_days
    where ${isId('campaign_id', campaignId)} and reports > 0 order by campaign_days.day`
}

/** A campaign and its number of reports, as shown in a list. */
export type CampaignLine = { campaignId: string; reports: number }

/** Returns the largest campaigns of a day, the largest first. */
export function listLargestCampaigns(db: Db, day: string, limit: number): Promise<CampaignLine[]> {
  return preparedRowsOf(db)`
    select campaign_id as "campaignId", reports from campaign_days
    where day = ${day} and reports > 0
    order by reports desc, campaign_id limit ${raw(String(limit))}`
}

/**
 * Returns at most `limit` campaigns that were among the largest on any of the days, the largest
 * first, by their reports on the days on which they were. Each day is read by its index alone.
 */
export async function listLargestOfDays(
  db: Db,
  days: readonly string[],
  limit: number,
): Promise<string[]> {
  const sums = new Map<string, number>()
  for (const day of days) {
    for (const { campaignId, reports } of await listLargestCampaigns(db, day, limit)) {
      sums.set(campaignId, (sums.get(campaignId) ?? 0) + reports)
    }
  }
  const largest = [...sums].sort(([, one], [, other]) => other - one)
  return largest.slice(0, limit).map(([campaignId]) => campaignId)
}

/**
 * Returns the reports of campaigns from a day to the day `until`: `before` the day `split`, and
 * from then to `now`. Campaigns without any are absent.
 */
export async function sumAround(
  db: Db,
  campaignIds: readonly string[],
  { from, split, until }: Record<'from' | 'split' | 'until', string>,
): Promise<Map<string, { now: number; before: number }>> {
  const rows = await rowsOf(db)<{ campaignId: string; now: number; before: number }>`
    select campaign_id as "campaignId",
      coalesce(sum(reports) filter (where day >= ${split}), 0)::integer as now,
      coalesce(sum(reports) filter (where day < ${split}), 0)::integer as before
    from campaign_days
    where campaign_id = any(${campaignIds}::uuid[]) and day between ${from} and ${until}
      and reports > 0
    group by campaign_id`
  return new Map(rows.map(({ campaignId, now, before }) => [campaignId, { now, before }]))
}

export type CampaignTotal = CampaignLine & { firstDay: string; lastDay: string }

/**
 * Returns the totals of campaigns, unordered. Campaigns whose reports were all retracted are
 * absent.
 */
export function sumCampaignDays(db: Db, campaignIds: readonly string[]): Promise<CampaignTotal[]> {
  return rowsOf(db)`
    select campaign_id as "campaignId", sum(reports)::integer as reports,
      min(day)::text as "firstDay", max(day)::text as "lastDay"
    from campaign_days where campaign_id = any(${campaignIds}::uuid[]) and reports > 0
    group by campaign_id`
}

type DaySum = { campaignId: string; day: string; reports: number }

/** Sums the changes to one row for each campaign and day, ordered by both. */
function sumByDay(changes: readonly CampaignDayChange[]): DaySum[] {
  const sums = new Map<string, DaySum>()
  for (const { campaignId, day, reports } of changes) {
    const row = { campaignId, day: dateOf(new Date(day)), reports }
    const key = `${campaignId} ${row.day}`
    const sum = sums.get(key)
    if (sum) sum.reports += reports
    else sums.set(key, row)
  }
  return [...sums.entries()]
    .filter(([, { reports }]) => reports !== 0)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, row]) => row)
}

/** Drops retractions for campaigns that no longer exist: a report may outlive its campaign. */
async function withoutGone(tx: Db, rows: readonly DaySum[]): Promise<readonly DaySum[]> {
  const taken = rows.filter(({ reports }) => reports < 0)
  if (taken.length === 0) return rows
  const ids = taken.map(({ campaignId }) => campaignId)
  const present = new Set((await listCampaignsByIds(tx, ids)).map(({ id }) => id))
  return rows.filter(({ campaignId, reports }) => reports > 0 || present.has(campaignId))
}

/**
 * Counts how many of the latest reports of a reporter belong to campaigns with at least
 * `reportsMin` reports.
 */
export async function countInLargeCampaigns(
  db: Db,
  reporterId: string,
  { latest, reportsMin }: { latest: number; reportsMin: number },
): Promise<{ latest: number; large: number }> {
  const own = await db.query<{ id: string }>(sql`
    select id from reports where reporter_id = ${reporterId} and state <> 'retracted'
    order by reporter_id desc, id desc limit ${latest}`)
  const campaigns = await listCampaignsOf(
    db,
    own.rows.map(({ id }) => id),
  )
  // Reports that are not in the daily counts are added: the result must not reveal which reports
  // were counted.
  const uncounted = new Map<string, number>()
  for (const { campaignId, isCounted } of campaigns) {
    uncounted.set(campaignId, (uncounted.get(campaignId) ?? 0) + (isCounted ? 0 : 1))
  }
  const sums = await db.query<{ id: string; reports: number }>(sql`
    select campaign_id as id, sum(reports)::float8 as reports from campaign_days
    where campaign_id = any(${[...uncounted.keys()]}::uuid[]) group by campaign_id`)
  const counted = new Map(sums.rows.map(({ id, reports }) => [id, reports]))
  const isLarge = ({ campaignId }: (typeof campaigns)[number]) =>
    (counted.get(campaignId) ?? 0) + (uncounted.get(campaignId) ?? 0) >= reportsMin
  return { latest: own.rows.length, large: campaigns.filter(isLarge).length }
}
