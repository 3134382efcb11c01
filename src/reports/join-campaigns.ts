import { dayOf, generationsAt, slotOf } from '../counting/keys.ts'
import {
  type Campaign,
  type CampaignKey,
  carryCampaignKeys,
  claimFounding,
  findCampaignKeys,
  insertCampaignKeys,
  insertCampaigns,
  type NewCampaign,
} from '../db/campaigns.ts'
import { generationOf } from '../db/partitions.ts'
import { inTransaction, type Pool } from '../db/pool.ts'
import { findCampaign, findNeighborhood, type Neighborhood } from '../judging/find-campaigns.ts'
import { campaignKeys, type Fingerprints } from '../pieces/fingerprints.ts'
import { type Clock, uuidv7 } from '../world.ts'

/** What is asked about: a message, and the keys under which its like are found. */
type Message = { reportId: string; fingerprints: Fingerprints; keys: readonly string[] }

/**
 * So many campaigns are found under one key. One that so many share tells little; and a flood that
 * is made to share a key would make everybody compare with all of it. The oldest stay.
 */
const CAMPAIGNS_PER_KEY_MAX = 32

/**
 * The campaign of each message, by the id of its report: the oldest of those under its keys whose
 * first message it agrees with, else a new one. Messages that have no keys are absent, and so are
 * those of which all keys are taken. Campaigns are founded at once, before the reports are kept; a
 * second run finds what the first founded. Not to be called in a transaction.
 */
export async function joinCampaigns(
  pool: Pool,
  messages: readonly { reportId: string; fingerprints: Fingerprints }[],
  clock: Clock,
): Promise<Map<string, string>> {
  const now = clock()
  const keyed = messages
    .map((message) => ({ ...message, keys: campaignKeys(message.fingerprints) }))
    .filter(({ keys }) => keys.length > 0)
  const neighborhood = await findNeighborhood(pool, keyed, now)
  const joined = new Map<string, Campaign>()
  for (const message of keyed) {
    const campaign = findCampaign(message, neighborhood)
    if (campaign) joined.set(message.reportId, campaign)
  }
  const alone = keyed.filter(({ reportId }) => !joined.has(reportId))
  await carryOn(pool, new Set(joined.values()), neighborhood, now)
  const founded = alone.length > 0 ? await foundCampaigns(pool, alone, clock) : []
  return new Map(
    [...joined, ...founded].map(([reportId, campaign]) => [reportId, campaign.id] as const),
  )
}

/** Writes the keys of campaigns that were last met in a former generation into the present one. */
async function carryOn(
  pool: Pool,
  campaigns: ReadonlySet<Campaign>,
  { rows }: Neighborhood,
  now: Date,
): Promise<void> {
  const generation = generationNow(now)
  const idsOf = (some: readonly CampaignKey[]) => new Set(some.map(({ campaignId }) => campaignId))
  const formerly = idsOf(rows.filter((row) => row.generation < generation))
  const lately = idsOf(rows.filter((row) => row.generation >= generation))
  const old = [...campaigns].filter(({ id }) => formerly.has(id) && !lately.has(id))
  if (old.length === 0) return
  const keys = new Set(old.flatMap(({ fingerprints }) => campaignKeys(fingerprints)))
  const ids = new Set(old.map(({ id }) => id))
  const known = await findCampaignKeys(pool, [...keys], generationsAt(slotOf(now)))
  const own = known.filter(({ campaignId }) => ids.has(campaignId))
  await carryCampaignKeys(
    pool,
    own.map((row) => ({ ...row, generation })),
  )
}

/**
 * Looks again while nobody else founds campaigns, and begins those that are still lacking. The time
 * in their ids is one under the lock: so of two that a message is like, the older is also the one
 * that everybody saw first, and equal messages join the same.
 */
async function foundCampaigns(
  pool: Pool,
  messages: readonly Message[],
  clock: Clock,
): Promise<Map<string, Campaign>> {
  return inTransaction(pool, async (tx) => {
    await claimFounding(tx)
    const now = clock()
    const neighborhood = await findNeighborhood(tx, messages, now)
    const room = roomUnder(neighborhood)
    const ids = messages.map(() => uuidv7(now)).sort()
    const joined = new Map<string, Campaign>()
    const founded: NewCampaign[] = []
    const rows: CampaignKey[] = []
    for (const message of messages) {
      const found = findCampaign(message, neighborhood)
      const keys = found ? [] : message.keys.filter(room)
      const id = ids[founded.length]
      if (found) joined.set(message.reportId, found)
      if (keys.length === 0 || id === undefined) continue
      const campaign = { id, fingerprints: message.fingerprints, firstReportId: message.reportId }
      founded.push(campaign)
      joined.set(message.reportId, campaign)
      for (const key of keys) {
        neighborhood.byKey.getOrInsert(key, []).push(campaign)
        rows.push({ key, generation: generationNow(now), campaignId: id })
      }
    }
    await Promise.all([insertCampaigns(tx, founded), insertCampaignKeys(tx, rows)])
    return joined
  })
}

/** Says of a key whether one more campaign may stand under it. */
function roomUnder({ byKey }: Neighborhood): (key: string) => boolean {
  return (key) => (byKey.get(key)?.length ?? 0) < CAMPAIGNS_PER_KEY_MAX
}

function generationNow(now: Date): number {
  return generationOf(dayOf(slotOf(now)))
}
