import { campaignKeys, isSameCampaign } from '../analysis/fingerprints/campaign.ts'
import type { Fingerprints } from '../analysis/fingerprints/fingerprints-of.ts'
import { generationsAt, slotOf } from '../counters/period.ts'
import { type CampaignKey, findCampaignKeys } from '../db/campaign-keys.ts'
import { type Campaign, listCampaignsByIds } from '../db/campaigns.ts'
import type { Db } from '../db/pool.ts'

/** The campaigns under each key, and which rows say so. */
export type Neighborhood = { byKey: Map<string, Campaign[]>; rows: readonly CampaignKey[] }

/** A message with the keys under which its like are found. */
type Keyed = { fingerprints: Fingerprints; keys: readonly string[] }

/**
 * The ids of the campaigns that messages are of, in their order; undefined where none is known.
 * Nothing is founded or carried on: a question leaves no trace.
 */
export async function findCampaigns(
  db: Db,
  fingerprints: readonly Fingerprints[],
  now: Date,
): Promise<(string | undefined)[]> {
  const keyed = fingerprints.map((one) => ({ fingerprints: one, keys: campaignKeys(one) }))
  if (keyed.every(({ keys }) => keys.length === 0)) return keyed.map(() => undefined)
  const neighborhood = await findNeighborhood(db, keyed, now)
  return keyed.map((one) => findCampaign(one, neighborhood)?.id)
}

/** The campaigns that share keys with messages. */
export async function findNeighborhood(
  db: Db,
  messages: readonly { keys: readonly string[] }[],
  now: Date,
): Promise<Neighborhood> {
  const keys = [...new Set(messages.flatMap((message) => message.keys))]
  const rows = await findCampaignKeys(db, keys, generationsAt(slotOf(now)))
  const ids = [...new Set(rows.map(({ campaignId }) => campaignId))]
  const campaigns = await listCampaignsByIds(db, ids)
  const byId = new Map(campaigns.map((campaign) => [campaign.id, campaign]))
  const byKey = new Map<string, Campaign[]>()
  for (const { key, campaignId } of rows) {
    const campaign = byId.get(campaignId)
    const others = byKey.getOrInsert(key, [])
    // A campaign that is gone leaves its keys behind; one that goes on has them in two generations.
    if (campaign && !others.includes(campaign)) others.push(campaign)
  }
  return { byKey, rows }
}

/** The oldest campaign under a message's keys whose first message it agrees with. */
export function findCampaign(
  { keys, fingerprints }: Keyed,
  { byKey }: Pick<Neighborhood, 'byKey'>,
): Campaign | undefined {
  const candidates = new Set(keys.flatMap((key) => byKey.get(key) ?? []))
  return [...candidates]
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .find((campaign) => isSameCampaign(campaign.fingerprints, fingerprints))
}
