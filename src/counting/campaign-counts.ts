import { type Db, inTransaction, type Pool } from '../db/pool.ts'
import { takeNews } from '../db/report-events.ts'
import {
  claimDays,
  countReporterDay,
  findDueDay,
  keepDay,
  listDaysOf,
  markDaysDue,
} from '../db/reporter-days.ts'
import type { Logger } from '../log.ts'
import { shingleHash } from '../pieces/shingles/hash.ts'
import { pairTypes } from '../pieces/shingles/pair-types.ts'
import { pieceTypes } from '../pieces/shingles/piece-types.ts'
import type { Clock } from '../world.ts'
import { wholePairKey } from './keys.ts'
import type { CounterReader, Point } from './reader.ts'
import { complainer, type Rounds, runRounds } from './run-roll-ups.ts'

/** What is counted of a campaign beside its reports. */
const pairs = {
  reporters: 'campaign-reporters',
  networks: 'campaign-networks',
  authors: 'campaign-authors',
} as const

type Pair = keyof typeof pairs

/** How many different ones a campaign had on a day, exactly; the day as `2026-11-20`. */
type DifferentOnes = { day: string } & Record<Pair, number>

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

const NEWS_MAX = 500
const DAYS_MAX = 200

/**
 * Heeds what happened to reports: marks their days, then counts again those that are due, each
 * from the reports themselves and in a transaction of its own. Nothing is added up, so whoever dies
 * when, a day is either counted whole or still due. Of several processes one does it at a time.
 * Answers how many days it counted.
 */
export async function countOwnDays(
  pool: Pool,
  clock: () => Date,
  isClosed: () => boolean = () => false,
): Promise<number> {
  while ((await inTransaction(pool, (tx) => heedNews(tx, clock()))) === NEWS_MAX) {
    if (isClosed()) return 0
  }
  let counted = 0
  while (counted < DAYS_MAX && !isClosed()) {
    if (!(await inTransaction(pool, (tx) => countDueDay(tx, clock())))) break
    counted++
  }
  return counted
}

async function heedNews(tx: Db, now: Date): Promise<number> {
  if (!(await claimDays(tx))) return 0
  const news = await takeNews(tx, NEWS_MAX)
  if (news.ids.length > 0) await markDaysDue(tx, await listDaysOf(tx, news.ids), now)
  return news.rows
}

async function countDueDay(tx: Db, now: Date): Promise<boolean> {
  if (!(await claimDays(tx))) return false
  const day = await findDueDay(tx, now)
  if (!day) return false
  // Nobody marks a day meanwhile: what is not seen by now is news that will be heeded later.
  await keepDay(tx, day, await countReporterDay(tx, day), now)
  return true
}

/** So long nobody's own statistics are behind, at most, but for days of very many reports. */
const PAUSE_MS = 5_000

/** Keeps the days of reporters counted until closed. Any number of processes may: one does it. */
export function runOwnDays(app: { pool: Pool; clock: Clock; log: Logger }): Rounds {
  const complain = complainer(app, 'Own statistics could not be counted; they will be again.')
  return runRounds(async (isClosed) => {
    const counted = await countOwnDays(app.pool, app.clock, isClosed).catch((error: unknown) => {
      complain(error)
      return 0
    })
    return counted > 0 ? PAUSE_MS / 5 : PAUSE_MS
  })
}
