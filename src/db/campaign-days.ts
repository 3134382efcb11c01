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
