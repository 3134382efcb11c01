import { appendBlocks } from '../../src/counting/count-messages.ts'
import { halvesOf, type Prefix, prefixes, slotOf } from '../../src/counting/keys.ts'
import {
  createDeltaWriter,
  type DeltaBlock,
  GATED,
  headOf,
} from '../../src/counting/packed/delta-packing.ts'
import type { Db } from '../../src/db/pool.ts'

/** An increment of one counter. Negative amounts subtract. */
export type Increment = {
  prefix: Prefix
  /** The 64-bit hash of a piece of a message, with its type. */
  shingle: bigint
  /** The 64-bit hash of the partner of a pair, if the counter counts uniques. */
  unique?: bigint | undefined
  ham?: number
  spam?: number
  complaint?: number
  redeemed?: number
  /** Whether the key may be held back until it was seen often enough; never for exact types. */
  gated?: boolean | undefined
  /** The time for which the increment counts: when the report was received. */
  at: Date
}

/**
 * Appends increments in the caller's transaction: they count when it commits, exactly once.
 * Appending the increments of many reports in one call takes little longer than appending those of
 * one report. To retract a report, append the `reversal` of its increments.
 */
export async function appendDeltas(
  tx: Db,
  increments: Iterable<Increment>,
  now: Date,
): Promise<void> {
  await appendBlocks(tx, packIncrements(increments, now), now)
}

/** Packs increments by shard. */
export function packIncrements(increments: Iterable<Increment>, now: Date): DeltaBlock[] {
  const writer = createDeltaWriter(slotOf(now))
  const entry = { hi: 0, lo: 0, head: 0, slot: 0, amounts: [0, 0, 0, 0], uniqueHi: 0, uniqueLo: 0 }
  for (const { prefix, shingle, unique, gated, at, ...kinds } of increments) {
    const amounts = [kinds.ham, kinds.spam, kinds.complaint, kinds.redeemed].map((one) => one ?? 0)
    const bits = amounts.reduce((all, amount, index) => all | (amount === 0 ? 0 : 1 << index), 0)
    if (bits === 0) continue
    Object.assign(entry, halvesOf(shingle))
    const { hi: uniqueHi, lo: uniqueLo } = halvesOf(unique ?? 0n)
    entry.head = headOf(bits, prefixes.indexOf(prefix), unique === undefined ? 0 : 1)
    if (gated) entry.head |= GATED
    writer.put(Object.assign(entry, { slot: slotOf(at), amounts, uniqueHi, uniqueLo }))
  }
  return writer.finish()
}

/**
 * The reversal of increments for a retracted report: the opposite amounts in the periods where they
 * were counted, and one `redeemed` now for each. Uniques that depended only on the report are
 * removed too.
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
