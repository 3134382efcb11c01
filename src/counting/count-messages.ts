import { insertDeltas } from '../db/counter-rows.ts'
import type { Db } from '../db/pool.ts'
import {
  type PackedShingles,
  readShingles,
  type ShingleHalves,
} from '../pieces/shingles/packed-shingles.ts'
import { gatedTypes } from '../pieces/shingles/piece-types.ts'
import { uuidv7 } from '../world.ts'
import { pairKey, type Prefix, prefixes, SLOT_MS, slotOf } from './keys.ts'
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
 * Inserts deltas in the caller's transaction, so that each counts exactly once if it commits.
 * Deltas of many reports in one call cost little more than those of one.
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

/** How a report was counted: its amounts, each 1 or absent, and its packed shingles. */
export type CountedShingles = { amounts: Amounts; shingles: PackedShingles }

/** Amounts of a report, in the order of their bits. */
const countable = ['ham', 'spam', 'complaint'] as const

/** Packs how a report is counted; its amounts are 1 or 0. */
export function packCounted({ amounts, shingles }: CountedShingles): Buffer {
  const bits = countable.reduce((all, kind, index) => all | (amounts[kind] ? 1 << index : 0), 0)
  return Buffer.concat([Buffer.of(bits), shingles])
}

/** Unpacks the output of `packCounted`. */
export function readCounted(content: Buffer): CountedShingles {
  const bits = content[0] ?? 0
  const amounts: Amounts = {}
  for (const [index, kind] of countable.entries()) if (bits & (1 << index)) amounts[kind] = 1
  return { amounts, shingles: content.subarray(1) }
}

/** Amounts to add for every shingle of a message; unique counters follow from them. */
export type Amounts = { ham?: number; spam?: number; complaint?: number; redeemed?: number }

/** A message to count. `at` is the time for which it counts: for a report, when it was received. */
export type CountedMessage = {
  prefix: Prefix
  shingles: PackedShingles
  amounts: Amounts
  at: Date
}

/**
 * Counts messages in the caller's transaction, so that each counts exactly once if it commits. A
 * piece is counted under its own hash; a pair under the `pairKey` of its piece, with the pair as
 * the unique. Pieces of gated types may be held back until they were seen often enough; pairs and
 * pieces of reports are never held back.
 */
export async function countMessages(
  tx: Db,
  messages: readonly CountedMessage[],
  now: Date,
): Promise<void> {
  await appendBlocks(tx, packMessages(messages, now), now)
}

/**
 * Returns the message with negated amounts, which reverts it in the period where it was counted,
 * including unique counters that depended on it alone.
 */
export function opposite({ amounts, ...message }: CountedMessage): CountedMessage {
  const turned = Object.entries(amounts).map(([kind, amount]) => [kind, -amount] as const)
  return { ...message, amounts: Object.fromEntries(turned) }
}

/**
 * Returns the messages that count the retraction of a report: the opposite in its period, if the
 * report is in the counters already, and one `redeemed` for each shingle now.
 */
export function redemption(
  message: CountedMessage,
  { isCounted, now }: { isCounted: boolean; now: Date },
): CountedMessage[] {
  const redeemed = { ...message, amounts: { redeemed: 1 }, at: now }
  return isCounted ? [opposite(message), redeemed] : [redeemed]
}

/** A report as it is stored for counting; see `packCounted`. */
export type StoredReport = { slot: number; content: Buffer }

export function packReports(reports: readonly StoredReport[], now: Date): DeltaBlock[] {
  const messages = reports.map(({ slot, content }): CountedMessage => {
    return { prefix: 'reports', at: new Date(slot * SLOT_MS), ...readCounted(content) }
  })
  return packMessages(messages, now)
}

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
  // Reports are counted exactly, from the first sighting on. Only traffic passes the gate.
  const headOfGated = prefix === 'reports' ? headOfPiece : headOfPiece | GATED
  // A redemption adds no unique.
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
