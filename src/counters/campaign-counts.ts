import { pairTypes } from '../analysis/shingles/pair-types.ts'
import { pieceTypes } from '../analysis/shingles/piece-types.ts'
import { shingleHash } from '../analysis/shingles/hash.ts'
import { wholePairKey } from './pair-key.ts'
import type { CounterReader } from './reader.ts'
import type { Point } from './windows.ts'

/** What is counted of a campaign beside its reports. */
const pairs = {
  reporters: 'campaign-reporters',
  networks: 'campaign-networks',
  authors: 'campaign-authors',
} as const

type Pair = keyof typeof pairs

/** How many different ones a campaign had on a day, exactly; the day as `2026-11-20`. */
export type DifferentOnes = { day: string } & Record<Pair, number>

/** Its reports in the last day by ten minutes, and by day of the last two weeks who was in it. */
export type CampaignCounts = { tenMinutes: Point[]; different: DifferentOnes[] }

/** What the counters know of a campaign: what was rolled up, which is a second old or so. */
export async function readCampaignCounts(
  reader: CounterReader,
  campaignId: string,
): Promise<CampaignCounts> {
  const piece = pieceOf(campaignId)
  const [own, ...others] = await Promise.all([
    reader.readSeries(piece, 'reports'),
    ...names.map((name) => reader.readSeries(keyOf(name, piece), 'reports')),
  ])
  const byDay = new Map<string, DifferentOnes>()
  for (const [index, { days }] of others.entries()) {
    for (const { startsAt, unique } of days) {
      const day = dayOf(startsAt)
      const row = byDay.getOrInsert(day, { day, reporters: 0, networks: 0, authors: 0 })
      row[names[index] ?? 'reporters'] = unique
    }
  }
  return {
    tenMinutes: own.tenMinutes,
    different: [...byDay.values()].sort((a, b) => (a.day < b.day ? -1 : 1)),
  }
}

/** How many different reporters campaigns had on a day of the last two weeks, by their ids. */
export async function readReporters(
  reader: CounterReader,
  campaignIds: readonly string[],
  day: string,
): Promise<Map<string, number>> {
  const counts = await Promise.all(
    campaignIds.map(async (id) => {
      const { days } = await reader.readSeries(keyOf('reporters', pieceOf(id)), 'reports')
      return [id, days.find(({ startsAt }) => dayOf(startsAt) === day)?.unique ?? 0] as const
    }),
  )
  return new Map(counts)
}

const names = Object.keys(pairs) as Pair[]

function pieceOf(campaignId: string): bigint {
  return shingleHash(pieceTypes.campaign.number, campaignId)
}

function keyOf(name: Pair, piece: bigint): bigint {
  const type = pairTypes.find((one) => one.name === pairs[name])
  return wholePairKey(type?.number ?? 0, piece)
}

function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10)
}
