import { listCampaignsByIds } from './campaigns.ts'
import type { Db } from './pool.ts'
import { values } from './values.ts'

/** Reports of a campaign that came on a day (UTC), or of a negative number, that are taken back. */
export type CampaignDayChange = { campaignId: string; day: Date | string; reports: number }

/**
 * Adds reports to the days of their campaigns. To be called last in a transaction: its rows are
 * those that many transactions write. A day may be an instant in it. What was of a campaign that is
 * gone is not taken back.
 */
export async function addToCampaignDays(
  tx: Db,
  changes: readonly CampaignDayChange[],
): Promise<void> {
  const rows = await withoutGone(tx, sumByDay(changes))
  if (rows.length === 0) return
  const { text, params } = values(
    rows.map(({ campaignId, day, reports }) => [campaignId, day, reports]),
  )
  await tx.query(
    `insert into campaign_days (campaign_id, day, reports) values ${text}
     on conflict (campaign_id, day)
       do update set reports = campaign_days.reports + excluded.reports`,
    params,
  )
}

/** What came of a campaign on a day (UTC, `2026-11-20`). */
export type CampaignDay = { day: string; reports: number }

/** The days on which anything of a campaign came, the first first. */
export async function listCampaignDays(db: Db, campaignId: string): Promise<CampaignDay[]> {
  const { rows } = await db.query<CampaignDay>(
    `select day::text as day, reports from campaign_days
     where campaign_id = $1 and reports > 0 order by campaign_days.day`,
    [campaignId],
  )
  return rows
}

/** A campaign as a line of a list. */
export type CampaignLine = { campaignId: string; reports: number }

/** A page of the campaigns of a day, the largest first; `after` is the last of the page before. */
export async function listLargestCampaigns(
  db: Db,
  day: string,
  page: { after: CampaignLine | undefined; limit: number },
): Promise<CampaignLine[]> {
  const { rows } = await db.query<CampaignLine>(
    `select campaign_id as "campaignId", reports from campaign_days
     where day = $1 and reports > 0
       and ($2::integer is null or reports <= $2)
       and ($2::integer is null or reports < $2 or campaign_id > $3::uuid)
     order by reports desc, campaign_id limit $4`,
    [day, page.after?.reports ?? null, page.after?.campaignId ?? null, page.limit],
  )
  return rows
}

/** All that came of a campaign, and on which days the first and the last. */
export type CampaignTotal = CampaignLine & { firstDay: string; lastDay: string }

/** The sums of campaigns, in no order; those of which all was taken back are not among them. */
export async function sumCampaignDays(
  db: Db,
  campaignIds: readonly string[],
): Promise<CampaignTotal[]> {
  const { rows } = await db.query<CampaignTotal>(
    `select campaign_id as "campaignId", sum(reports)::integer as reports,
       min(day)::text as "firstDay", max(day)::text as "lastDay"
     from campaign_days where campaign_id = any($1::uuid[]) and reports > 0
     group by campaign_id`,
    [campaignIds],
  )
  return rows
}

type DaySum = { campaignId: string; day: string; reports: number }

/** One row of each campaign and day, in their order. */
function sumByDay(changes: readonly CampaignDayChange[]): DaySum[] {
  const sums = new Map<string, DaySum>()
  for (const { campaignId, day, reports } of changes) {
    const row = { campaignId, day: new Date(day).toISOString().slice(0, 10), reports }
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

/** A report may outlive its campaign, whose rows then have no place any more. */
async function withoutGone(tx: Db, rows: readonly DaySum[]): Promise<readonly DaySum[]> {
  const taken = rows.filter(({ reports }) => reports < 0)
  if (taken.length === 0) return rows
  const ids = taken.map(({ campaignId }) => campaignId)
  const present = new Set((await listCampaignsByIds(tx, ids)).map(({ id }) => id))
  return rows.filter(({ campaignId, reports }) => reports > 0 || present.has(campaignId))
}
