import { insertDeltas } from '../db/counter-rows.ts'
import type { Db } from '../db/pool.ts'
import {
  type PackedShingles,
  readShingles,
  type ShingleHalves,
} from '../pieces/shingles/packed-shingles.ts'
import { gatedTypes } from '../pieces/shingles/piece-types.ts'
import { uuidv7 } from '../world.ts'
import { pairKey, type Prefix, prefixes, slotOf } from './keys.ts'
import { REDEEMED } from './packed/cursor.ts'
import {
  createDeltaWriter,
  type DeltaBlock,
  type DeltaEntry,
  type DeltaWriter,
  GATED,
  headOf,
} from './packed/delta-packing.ts'

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

/** What a report was counted as, in bytes: which amounts were one, then its shingles. */
export type CountedShingles = { amounts: Amounts; shingles: PackedShingles }

/** Amounts that a report may have, by their bits. */
const countable = ['ham', 'spam', 'complaint'] as const

/** Packs what a report counts as; its amounts are 1 or 0. */
export function packCounted({ amounts, shingles }: CountedShingles): Buffer {
  const bits = countable.reduce((all, kind, index) => all | (amounts[kind] ? 1 << index : 0), 0)
  return Buffer.concat([Buffer.of(bits), shingles])
}

/** Reads what `packCounted` wrote. */
export function readCounted(content: Buffer): CountedShingles {
  const bits = content[0] ?? 0
  const amounts: Amounts = {}
  for (const [index, kind] of countable.entries()) if (bits & (1 << index)) amounts[kind] = 1
  return { amounts, shingles: content.subarray(1) }
}

/** What is added to every shingle of a message; uniques follow by themselves. */
export type Amounts = { ham?: number; spam?: number; complaint?: number; redeemed?: number }

/** A message that is counted. `at` is the period it counts for: of a report, its receipt. */
export type CountedMessage = {
  prefix: Prefix
  shingles: PackedShingles
  amounts: Amounts
  at: Date
}

/**
 * Counts messages in the caller's transaction: they count when it commits, and exactly once. A
 * piece is counted under its own hash, a pair under `pairKey` of its piece, where the pair is the
 * unique. Pieces of gated types may be held back until they were seen often enough, but never what
 * is reported, nor pairs.
 */
export async function countMessages(
  tx: Db,
  messages: readonly CountedMessage[],
  now: Date,
): Promise<void> {
  await appendBlocks(tx, packMessages(messages, now), now)
}

/**
 * What takes a message back, in the period where it was counted: uniques that rested on it alone
 * fall too.
 */
export function opposite({ amounts, ...message }: CountedMessage): CountedMessage {
  const turned = Object.entries(amounts).map(([kind, amount]) => [kind, -amount] as const)
  return { ...message, amounts: Object.fromEntries(turned) }
}

/** The same for a report that its reporter takes back: and one `redeemed` for each shingle now. */
export function redemption(message: CountedMessage, now: Date): CountedMessage[] {
  return [opposite(message), { ...message, amounts: { redeemed: 1 }, at: now }]
}

/** The deltas of messages, by shard. */
export function packMessages(messages: readonly CountedMessage[], now: Date): DeltaBlock[] {
  const writer = createDeltaWriter(slotOf(now))
  for (const message of messages) putMessage(writer, message)
  return writer.finish()
}

function putMessage(writer: DeltaWriter, { prefix, shingles, amounts, at }: CountedMessage): void {
  const entry = newEntry(amounts, at)
  const bits = entry.amounts.reduce<number>((all, amount, index) => {
    return amount === 0 ? all : all | (1 << index)
  }, 0)
  if (bits === 0) return
  const number = prefixes.indexOf(prefix)
  const headOfPiece = headOf(bits, number, 0)
  // What people report counts from the first time on, and to the digit: the gate is for traffic.
  const headOfGated = prefix === 'reports' ? headOfPiece : headOfPiece | GATED
  // A redemption says nothing of who was seen with whom.
  const headOfPair = headOf(bits, number, bits === REDEEMED_ALONE ? 0 : 1)
  for (const shingle of readShingles(shingles)) {
    setKeys(entry, shingle)
    if (shingle.of) entry.head = headOfPair
    else entry.head = gatedTypes.has(shingle.type) ? headOfGated : headOfPiece
    writer.put(entry)
  }
}

const REDEEMED_ALONE = 1 << REDEEMED

function newEntry({ ham = 0, spam = 0, complaint = 0, redeemed = 0 }: Amounts, at: Date) {
  const amounts = [ham, spam, complaint, redeemed]
  return { hi: 0, lo: 0, head: 0, slot: slotOf(at), amounts, uniqueHi: 0, uniqueLo: 0 }
}

function setKeys(entry: DeltaEntry, { type, hi, lo, of }: ShingleHalves): void {
  const key = of ? pairKey(type, of) : { hi, lo }
  entry.hi = key.hi
  entry.lo = key.lo
  entry.uniqueHi = of ? hi : 0
  entry.uniqueLo = of ? lo : 0
}
