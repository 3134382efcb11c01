import { insertDeltas } from '../db/counter-deltas.ts'
import type { Db } from '../db/pool.ts'
import { uuidv7 } from '../world.ts'
import { type DeltaBlock, packIncrements } from './packed/delta-packing.ts'
import type { Increment } from './increment.ts'

/**
 * Appends increments in the caller's transaction: they count when it commits, and exactly once.
 * Those of many reports in one call cost little more than those of one. Taking a report back is
 * `reversal` of what it appended.
 */
export async function appendDeltas(
  tx: Db,
  increments: Iterable<Increment>,
  now: Date,
): Promise<void> {
  await appendBlocks(tx, packIncrements(increments, now), now)
}

/** Appends what is packed already. */
export async function appendBlocks(
  tx: Db,
  blocks: readonly DeltaBlock[],
  now: Date,
): Promise<void> {
  await insertDeltas(
    tx,
    blocks.map((block) => ({ ...block, id: uuidv7(now) })),
  )
}

/**
 * What takes increments back, for a report that was retracted: the opposite, in the periods where
 * they were counted, and one `redeemed` for each now. Uniques that rested on it alone fall too.
 */
export function reversal(increments: readonly Increment[], now: Date): Increment[] {
  return increments.flatMap(({ prefix, shingle, unique, gated, at, ...amounts }) => [
    {
      prefix,
      shingle,
      unique,
      gated,
      at,
      ham: -(amounts.ham ?? 0),
      spam: -(amounts.spam ?? 0),
      complaint: -(amounts.complaint ?? 0),
      redeemed: -(amounts.redeemed ?? 0),
    },
    { prefix, shingle, gated, redeemed: 1, at: now },
  ])
}
