import { type Db, inTransaction, type Pool } from '../db/pool.ts'
import { claimNewEvents } from '../db/report-events.ts'
import {
  areDaysWaiting,
  tryLockDays,
  countReporterDay,
  findDueDay,
  keepDay,
  listDaysOf,
  markDaysDue,
} from '../db/reporter-days.ts'
import { insertSearchNews } from '../db/search.ts'
import { dateOf, HOUR_MS } from '../durations.ts'
import { complainer } from '../errors.ts'
import type { Logger } from '../log.ts'
import { shingleHash } from '../pieces/shingles/hash.ts'
import { pairTypes, pieceTypes } from '../pieces/shingles/piece-types.ts'
import { type Clock, type Rounds, runRounds, untilNext } from '../world.ts'
import { wholePairKey } from './keys.ts'
import type { CounterReader, Point } from './reader.ts'

/** Pair types that are counted for a campaign besides its reports. */
const pairs = {
  reporters: 'campaign-reporters',
  networks: 'campaign-networks',
  authors: 'campaign-authors',
} as const

type Pair = keyof typeof pairs

/**
 * Exact numbers of distinct reporters and other pieces seen with a campaign on one day, given as
 * `2026-11-20`.
 */
type DistinctCounts = { day: string } & Record<Pair, number>

/**
 * Reports of a campaign in the last day, in buckets of ten minutes, and its unique counters for
 * each day of the last two weeks.
 */
export type CampaignCounts = { tenMinutes: Point[]; different: DistinctCounts[] }

/** Reads the counters of a campaign, which are usually at most a few seconds old. */
export async function readCampaignCounts(
  reader: CounterReader,
  campaignId: string,
): Promise<CampaignCounts> {
  const piece = pieceOf(campaignId)
  const [own, ...others] = await Promise.all([
    reader.readSeries(piece, 'reports'),
    ...names.map((name) => reader.readSeries(keyOf(name, piece), 'reports')),
  ])
  const byDay = new Map<string, DistinctCounts>()
  for (const [index, { days }] of others.entries()) {
    for (const { startsAt, unique } of days) {
      const day = dateOf(startsAt)
      const row = byDay.getOrInsert(day, { day, reporters: 0, networks: 0, authors: 0 })
      row[names[index] ?? 'reporters'] = unique
    }
  }
  return {
    tenMinutes: own.tenMinutes,
    different: [...byDay.values()].sort((a, b) => (a.day < b.day ? -1 : 1)),
  }
}

/** What was reported in a period, and in the period of the same length before it. */
export type Growth = { now: number; before: number }

/** Returns the complaints about campaigns in the last hour and in the hour before, by campaign. */
export async function readHourlyGrowth(
  reader: CounterReader,
  campaignIds: readonly string[],
  now: Date,
): Promise<Map<string, Growth>> {
  const from = (hours: number) => now.getTime() - hours * HOUR_MS
  const counts = await Promise.all(
    campaignIds.map(async (id) => {
      const { tenMinutes } = await reader.readSeries(pieceOf(id), 'reports')
      const since = (at: number) =>
        tenMinutes.reduce((sum, { startsAt, complaint }) => {
          return startsAt.getTime() >= at ? sum + complaint : sum
        }, 0)
      const lastHour = since(from(1))
      return [id, { now: lastHour, before: since(from(2)) - lastHour }] as const
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

const NEWS_MAX = 500
const DAYS_MAX = 200

/**
 * Marks the days of changed reports as due, then recounts each due day from the reports themselves,
 * in its own transaction. A day is never incremented, so after a crash it is either counted
 * completely or still due. Only one process does this at a time. Returns the number of days
 * counted.
 */
export async function countReporterDays(
  pool: Pool,
  clock: () => Date,
  isClosed: () => boolean = () => false,
): Promise<number> {
  if (!(await areDaysWaiting(pool, clock()))) return 0
  while ((await inTransaction(pool, (tx) => markChangedDays(tx, clock()))) === NEWS_MAX) {
    if (isClosed()) return 0
  }
  let counted = 0
  while (counted < DAYS_MAX && !isClosed()) {
    if (!(await inTransaction(pool, (tx) => countDueDay(tx, clock())))) break
    counted++
  }
  return counted
}

async function markChangedDays(tx: Db, now: Date): Promise<number> {
  if (!(await tryLockDays(tx))) return 0
  const news = await claimNewEvents(tx, NEWS_MAX, now)
  if (news.ids.length > 0) await markDaysDue(tx, await listDaysOf(tx, news.ids), now)
  await insertSearchNews(tx, news.ids, now)
  return news.rows
}

async function countDueDay(tx: Db, now: Date): Promise<boolean> {
  if (!(await tryLockDays(tx))) return false
  const day = await findDueDay(tx, now)
  if (!day) return false
  // The day is locked against marking. A change that is not visible yet will mark the day again
  // later.
  await keepDay(tx, day, await countReporterDay(tx, day), now)
  return true
}

/**
 * Pause in milliseconds between rounds if no day was due; after a round that counted days, a fifth
 * of it.
 */
const PAUSE_MS = 5_000

/**
 * Recounts the days of reporters until closed. May run in several processes; only one of them works
 * at a time.
 */
export function runReporterDayCounts(app: { pool: Pool; clock: Clock; log: Logger }): Rounds {
  const complain = complainer(app, 'Could not update the statistics of reporters. Will retry.')
  return runRounds(
    async (isClosed) => {
      const counted = await countReporterDays(app.pool, app.clock, isClosed).catch(
        (error: unknown) => {
          complain(error)
          return 0
        },
      )
      return counted > 0 ? PAUSE_MS / 5 : untilNext(PAUSE_MS)
    },
    { keepsAlive: true },
  )
}
