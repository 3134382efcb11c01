import { dayOf, generationsAt, slotOf } from '../counting/keys.ts'
import {
  type Campaign,
  type CampaignKey,
  carryCampaignKeys,
  claimFounding,
  findCampaignKeys,
  findNewestCampaign,
  insertCampaignKeys,
  insertCampaigns,
  type NewCampaign,
} from '../db/campaigns.ts'
import { generationOf } from '../db/partitions.ts'
import { nearReport } from '../db/nodes.ts'
import { type Db, inTransaction, type Pool } from '../db/pool.ts'
import { findCampaign, findNeighborhood, type Neighborhood } from '../judging/find-campaigns.ts'
import { campaignKeys, type Fingerprints } from '../pieces/fingerprints.ts'
import { type Clock, uuidFloor, uuidTime, uuidv7 } from '../world.ts'

/** A message, and the keys that find similar messages. */
type Message = { reportId: string; fingerprints: Fingerprints; keys: readonly string[] }

/**
 * Maximum number of campaigns per key; the oldest are kept. A key that more campaigns share carries
 * little information, and a flood of messages with one key would require a comparison with every
 * campaign.
 */
export const CAMPAIGNS_PER_KEY_MAX = 32

/**
 * Returns the campaign of each message by report id: the oldest campaign under its keys whose first
 * message matches, otherwise a new one. Messages without keys, and those whose keys are all full,
 * are absent. Commits new campaigns immediately, before the reports are stored, so that a repeated
 * run finds them. Must not be called inside a transaction.
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
  const near = nearReport(pool, messages[0]?.reportId)
  const neighborhood = await findNeighborhood(near, keyed, now)
  const joined = new Map<string, Campaign>()
  for (const message of keyed) {
    const campaign = findCampaign(message, neighborhood)
    if (campaign) joined.set(message.reportId, campaign)
  }
  const alone = keyed.filter(({ reportId }) => !joined.has(reportId))
  await renewKeys(pool, new Set(joined.values()), neighborhood, now)
  const founded = alone.length > 0 ? await createCampaigns(pool, alone, clock) : []
  return new Map(
    [...joined, ...founded].map(([reportId, campaign]) => [reportId, campaign.id] as const),
  )
}

/**
 * Copies the keys of campaigns that were last matched in an earlier generation to the current one.
 */
async function renewKeys(
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
 * Searches again under a lock and creates the campaigns that are still missing. All their ids
 * contain one instant taken under the lock, so the oldest of several matches is also the one that
 * was visible first, and equal messages join the same campaign.
 */
async function createCampaigns(
  pool: Pool,
  messages: readonly Message[],
  clock: Clock,
): Promise<Map<string, Campaign>> {
  return inTransaction(pool, async (tx) => {
    await claimFounding(tx)
    const now = clock()
    const [neighborhood, foundedAt] = await Promise.all([
      findNeighborhood(tx, messages, now),
      afterOthers(tx, now),
    ])
    const room = roomUnder(neighborhood)
    const ids = messages.map(() => uuidv7(foundedAt)).sort()
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

/**
 * The instant for the ids of new campaigns: now, or later if a process whose clock is up to ten
 * minutes ahead of this one has created campaigns.
 */
async function afterOthers(tx: Db, now: Date): Promise<Date> {
  const newest = await findNewestCampaign(tx, uuidFloor(new Date(now.getTime() + SKEW_MS_MAX)))
  if (newest === undefined) return now
  return new Date(Math.max(now.getTime(), uuidTime(newest).getTime() + 1))
}

const SKEW_MS_MAX = 600_000

/** Returns a function that tells whether one more campaign fits under a key. */
function roomUnder({ byKey }: Neighborhood): (key: string) => boolean {
  return (key) => (byKey.get(key)?.length ?? 0) < CAMPAIGNS_PER_KEY_MAX
}

function generationNow(now: Date): number {
  return generationOf(dayOf(slotOf(now)))
}
