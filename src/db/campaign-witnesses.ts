import type { Db } from './pool.ts'
import { values } from './values.ts'

/** Who reported a campaign as what, packed, and the day (`2026-11-20`, UTC) of the last. */
export type CampaignWitnesses = { campaignId: string; day: string; content: Buffer }

/** Of campaigns by their ids, in no order. */
export async function findWitnesses(
  db: Db,
  campaignIds: readonly string[],
): Promise<Omit<CampaignWitnesses, 'day'>[]> {
  const { rows } = await db.query<Omit<CampaignWitnesses, 'day'>>(
    `select campaign_id as "campaignId", content from campaign_witnesses
     where campaign_id = any($1::uuid[])`,
    [campaignIds],
  )
  return rows
}

/** Writes the witnesses of campaigns, given in the order of their ids. */
export async function upsertWitnesses(tx: Db, rows: readonly CampaignWitnesses[]): Promise<void> {
  if (rows.length === 0) return
  const { text, params } = values(
    rows.map(({ campaignId, day, content }) => [campaignId, day, content]),
  )
  await tx.query(
    `insert into campaign_witnesses (campaign_id, day, content) values ${text}
     on conflict (campaign_id) do update set day = excluded.day, content = excluded.content`,
    params,
  )
}

/** Forgets campaigns that nobody reported since the day `before`, at most `limit`; how many. */
export async function removeOldWitnesses(db: Db, before: string, limit: number): Promise<number> {
  const { rows } = await db.query<{ id: string }>(
    `select campaign_id as id from campaign_witnesses where day < $1 order by day limit $2`,
    [before, limit],
  )
  const ids = rows.map(({ id }) => id)
  await db.query(
    `delete from campaign_witnesses where campaign_id = any($1::uuid[]) and day < $2`,
    [ids, before],
  )
  return ids.length
}
