import { removeOldWitnesses } from '../../db/campaign-witnesses.ts'
import { inTransaction, type Pool } from '../../db/pool.ts'
import { awaitEvidence } from '../../db/reputation-evidence.ts'
import { removeOldReputations } from '../../db/reputations.ts'
import { shardOfSubject } from '../evidence.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** What was silent for so long is forgotten: a hundredth of its evidence would be left. */
const SILENT_DAYS = 200
/** What was seen once or twice, and then no more, is most of all there is. */
const LITTLE_DAYS = 45
const LITTLE = 1
const WITNESS_DAYS = 30
/** Slices of the keys, some of which are swept at each hour: all of them twice a day. */
const SLICES = 256
const SLICES_AN_HOUR = 24
const SLICE = 1n << 56n
const LOWEST = -(1n << 63n)
const STEP_ROWS = 1_000

/**
 * Forgets what was silent for long, in small steps: a part of the subjects each hour, a thousand
 * rows at a time, each step while nobody folds their shard. And the witnesses of old campaigns.
 * Nothing is kept for longer than reports, which are kept for `daysMax`.
 */
export async function forgetReputations(pool: Pool, now: Date, daysMax: number): Promise<void> {
  const first = (Math.floor(now.getTime() / HOUR_MS) * SLICES_AN_HOUR) % SLICES
  for (let index = 0; index < SLICES_AN_HOUR; index++) {
    await sweep(pool, LOWEST + BigInt((first + index) % SLICES) * SLICE, now, daysMax)
  }
  const day = daysBefore(now, Math.min(WITNESS_DAYS, daysMax)).toISOString().slice(0, 10)
  while ((await removeOldWitnesses(pool, day, STEP_ROWS)) === STEP_ROWS);
}

async function sweep(pool: Pool, from: bigint, now: Date, daysMax: number): Promise<void> {
  const which = {
    from,
    to: from + SLICE - 1n,
    before: daysBefore(now, Math.min(SILENT_DAYS, daysMax)),
    littleBefore: daysBefore(now, Math.min(LITTLE_DAYS, daysMax)),
    littleMax: LITTLE,
    limit: STEP_ROWS,
  }
  let removed: number
  do {
    removed = await inTransaction(pool, async (tx) => {
      await awaitEvidence(tx, shardOfSubject(from))
      return removeOldReputations(tx, which)
    })
  } while (removed === STEP_ROWS)
}

function daysBefore(now: Date, days: number): Date {
  return new Date(now.getTime() - days * DAY_MS)
}
