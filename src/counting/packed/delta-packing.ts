import { shardOf } from '../keys.ts'
import {
  type Count,
  type Cursor,
  ensureRoom,
  readSmall,
  readVarint,
  unzigzag,
  writeVarint,
  zigzag,
} from './cursor.ts'

/**
 * Format of increments before the roll-up. A block starts with a varint: twice its base slot, plus
 * 1 if the gate may hold back its keys. Entries follow:
 *
 *     8 bytes   key, big-endian
 *     1 byte    bits 0-3: which amounts follow (ham, spam, complaint, redeemed); 4-5: prefix;
 *               6: a unique follows; 7: a slot follows
 *     varints   the slot relative to the base, then the amounts, all zigzag
 *     8 bytes   the unique
 */
export const HAS_UNIQUE = 64
const HAS_SLOT = 128
/** Set in the head of an entry before it is written: the gate may hold back its key. */
export const GATED = 256
const PREFIX_SHIFT = 4
const AMOUNTS = 4

/** Maximum size of a block in bytes. Limits the cost of one statement and one roll-up. */
const BLOCK_BYTES_MAX = 64_000
const ENTRY_BYTES_MAX = 64

export type DeltaBlock = { shard: number; content: Buffer }

/** Writes entries one by one, and returns the blocks at the end. */
export type DeltaWriter = {
  /** `head` is the byte of the entry without bit 7, optionally with `GATED`. */
  put: (entry: DeltaEntry) => void
  finish: () => DeltaBlock[]
}

/** One entry, with hashes in halves; `amounts` has four elements. */
export type DeltaEntry = {
  hi: number
  lo: number
  head: number
  slot: number
  amounts: readonly Count[]
  uniqueHi: number
  uniqueLo: number
}

/** Returns the head of an entry: bits of the amounts, the prefix, and whether it has a unique. */
export function headOf(kindBits: number, prefix: number, hasUnique: number): number {
  return kindBits | (prefix << PREFIX_SHIFT) | (hasUnique ? HAS_UNIQUE : 0)
}

export function entryPrefix(head: number): number {
  return (head >> PREFIX_SHIFT) & 3
}

/** Creates a writer for blocks whose entries are mostly in `slot`. */
export function createDeltaWriter(slot: number): DeltaWriter {
  const open = new Map<number, Cursor>()
  const closed: DeltaBlock[] = []
  const close = (place: number, { bytes, at }: Cursor) => {
    closed.push({ shard: place >> 1, content: Buffer.from(bytes.subarray(0, at)) })
  }
  const blockOf = (place: number): Cursor => {
    const present = open.get(place)
    if (present && present.at < BLOCK_BYTES_MAX) return present
    if (present) close(place, present)
    const fresh = { bytes: present?.bytes ?? Buffer.allocUnsafe(1_024), at: 0 }
    writeVarint(fresh, slot * 2 + (place & 1))
    open.set(place, fresh)
    return fresh
  }
  return {
    put(entry) {
      const place = shardOf(entry.hi) * 2 + (entry.head & GATED ? 1 : 0)
      writeEntry(blockOf(place), entry, slot)
    },
    finish() {
      for (const [place, cursor] of open) close(place, cursor)
      open.clear()
      return closed.splice(0)
    },
  }
}

function writeEntry(cursor: Cursor, entry: DeltaEntry, base: number): void {
  ensureRoom(cursor, ENTRY_BYTES_MAX)
  writeHalf(cursor, entry.hi)
  writeHalf(cursor, entry.lo)
  const hasSlot = entry.slot !== base
  cursor.bytes[cursor.at++] = (entry.head & ~GATED) | (hasSlot ? HAS_SLOT : 0)
  if (hasSlot) writeVarint(cursor, zigzag(entry.slot - base))
  for (let kind = 0; kind < AMOUNTS; kind++) {
    if (entry.head & (1 << kind)) writeVarint(cursor, zigzag(entry.amounts[kind] ?? 0))
  }
  if (!(entry.head & HAS_UNIQUE)) return
  ensureRoom(cursor, 8)
  writeHalf(cursor, entry.uniqueHi)
  writeHalf(cursor, entry.uniqueLo)
}

function writeHalf(cursor: Cursor, half: number): void {
  cursor.bytes[cursor.at++] = half >>> 24
  cursor.bytes[cursor.at++] = half >>> 16
  cursor.bytes[cursor.at++] = half >>> 8
  cursor.bytes[cursor.at++] = half
}

/** Reads four bytes, big-endian, as an unsigned number. */
export function readHalf(cursor: Cursor): number {
  const { bytes, at } = cursor
  cursor.at = at + 4
  const high = (bytes[at] ?? 0) * 0x1000000
  return high + (((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0))
}

/**
 * Calls `found` for each entry of a block with its key, its slot, its position, and 1 if it is
 * gated.
 */
export function scanBlock(
  block: Buffer,
  found: (hi: number, lo: number, slot: number, at: number, gated: number) => void,
): void {
  const cursor = { bytes: block, at: 0 }
  const start = readSmall(cursor)
  const [base, gated] = [start >> 1, start & 1]
  while (cursor.at < block.length) {
    const hi = readHalf(cursor)
    const lo = readHalf(cursor)
    const at = cursor.at
    const head = block[cursor.at++] ?? 0
    const slot = head & HAS_SLOT ? base + Number(unzigzag(readVarint(cursor))) : base
    found(hi, lo, slot, at, gated)
    for (let bits = head & 15; bits; bits &= bits - 1) {
      while ((block[cursor.at++] ?? 0) > 127);
    }
    if (head & HAS_UNIQUE) cursor.at += 8
  }
}

/** Reads the amounts of the entry at the cursor; returns its head. */
export function readEntry(cursor: Cursor, amounts: Count[]): number {
  const head = cursor.bytes[cursor.at++] ?? 0
  if (head & HAS_SLOT) while ((cursor.bytes[cursor.at++] ?? 0) > 127);
  for (let kind = 0; kind < AMOUNTS; kind++) {
    amounts[kind] = head & (1 << kind) ? unzigzag(readVarint(cursor)) : 0
  }
  return head
}
