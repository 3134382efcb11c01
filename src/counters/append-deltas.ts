import { insertDeltas } from '../db/counter-deltas.ts'
import type { Db } from '../db/pool.ts'
import { uuidv7 } from '../world.ts'
import type { DeltaBlock } from './packed/delta-packing.ts'

/**
 * Appends deltas in the caller's transaction: they count when it commits, and exactly once. Those
 * of many reports in one call cost little more than those of one.
 */
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
