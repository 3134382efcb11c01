import { generationsAt, slotOf } from '../counting/keys.ts'
import {
  type Campaign,
  type CampaignKey,
  findCampaignKeys,
  listCampaignsByIds,
} from '../db/campaigns.ts'
import { type FoundLayer, listLayers } from '../db/networks.ts'
import type { Db } from '../db/pool.ts'
import { parseIp } from '../mail/ip.ts'
import { type MergedNetwork, mergeLayers, type Network } from '../origin/networks.ts'
import { campaignKeys, type Fingerprints, isSameCampaign } from '../pieces/fingerprints.ts'

export type Neighborhood = { byKey: Map<string, Campaign[]>; rows: readonly CampaignKey[] }

/** A message with the keys by which similar messages are found. */
type Keyed = { fingerprints: Fingerprints; keys: readonly string[] }

/**
 * Returns the campaign ids of messages, in order; undefined where none is known. Read-only: creates
 * and extends no campaign.
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
    // Keys can outlive their campaign, and a campaign that continues has keys in two generations.
    if (campaign && !others.includes(campaign)) others.push(campaign)
  }
  return { byKey, rows }
}

/**
 * Returns the oldest campaign that shares a key with the message and whose first message is
 * similar.
 */
export function findCampaign(
  { keys, fingerprints }: Keyed,
  { byKey }: Pick<Neighborhood, 'byKey'>,
): Campaign | undefined {
  const candidates = new Set(keys.flatMap((key) => byKey.get(key) ?? []))
  return [...candidates]
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .find((campaign) => isSameCampaign(campaign.fingerprints, fingerprints))
}

/**
 * Returns the networks of IP addresses, by address (see `findMerged`). Unknown addresses are
 * absent.
 */
export async function findNetworks(
  db: Db,
  ips: readonly string[],
  now: Date,
): Promise<Map<string, Network>> {
  const merged = await findMerged(db, ips, now)
  return new Map([...merged].map(([ip, { network }]) => [ip, network]))
}

/**
 * Merges what imported tables, registries and administrators say of IP addresses, by address (see
 * `mergeLayers`). Unknown addresses are absent.
 */
async function findMerged(
  db: Db,
  ips: readonly string[],
  now: Date,
): Promise<Map<string, MergedNetwork<FoundLayer>>> {
  const asked = new Map<string, string>()
  for (const ip of ips) {
    const address = parseIp(ip)
    if (address) asked.set(ip, address.text)
  }
  if (asked.size === 0) return new Map()
  const found = await listLayers(db, [...new Set(asked.values())], now)
  const layersOf = Map.groupBy(found, ({ ip }) => ip)
  return new Map(
    [...asked].flatMap(([ip, text]) => {
      const merged = mergeLayers(layersOf.get(text) ?? [])
      return merged ? [[ip, merged] as const] : []
    }),
  )
}
