/** A 64-bit count: a number if it is a safe integer, otherwise a bigint. */
export type Count = number | bigint

/**
 * Kinds of counts, in the order of their bits in packed data and of the counts in a bucket.
 * `unique` is derived from the members.
 */
export const kinds = ['ham', 'spam', 'complaint', 'redeemed', 'unique'] as const

/** The index of `unique` in `kinds`. */
export const UNIQUE = 4
/** The index of `redeemed`, the only kind that does not create a unique. */
export const REDEEMED = 3

const MAX = 2n ** 63n - 1n

/** Adds with saturation at 64 bits. */
export function add(a: Count, b: Count): Count {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b
    if (Number.isSafeInteger(sum)) return sum
  }
  const sum = BigInt(a) + BigInt(b)
  if (sum > MAX) return MAX
  if (sum < -MAX) return -MAX
  return narrow(sum)
}

/** Converts to a number if possible, so that equal counts are equal values. */
export function narrow(value: bigint): Count {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

/** Bytes, and the position for reading or writing. */
export type Cursor = { bytes: Buffer; at: number }

const VARINT_BYTES_MAX = 10
const SEVEN_BITS = 128
const SMALL = 2 ** 28

/** Ensures room for `more` bytes after the position; may replace the buffer. */
export function ensureRoom(cursor: Cursor, more: number): void {
  if (cursor.at + more <= cursor.bytes.length) return
  const larger = Buffer.allocUnsafe(Math.max(cursor.bytes.length * 2, cursor.at + more))
  cursor.bytes.copy(larger, 0, 0, cursor.at)
  cursor.bytes = larger
}

/** Writes a non-negative count: seven bits per byte, the lowest first (LEB128). */
export function writeVarint(cursor: Cursor, value: Count): void {
  ensureRoom(cursor, VARINT_BYTES_MAX)
  if (typeof value === 'bigint') return writeBig(cursor, value)
  let rest = value
  while (rest >= SEVEN_BITS) {
    cursor.bytes[cursor.at++] = (rest % SEVEN_BITS) | SEVEN_BITS
    rest = Math.floor(rest / SEVEN_BITS)
  }
  cursor.bytes[cursor.at++] = rest
}

function writeBig(cursor: Cursor, value: bigint): void {
  let rest = value
  while (rest >= 128n) {
    cursor.bytes[cursor.at++] = Number(rest & 127n) | SEVEN_BITS
    rest >>= 7n
  }
  cursor.bytes[cursor.at++] = Number(rest)
}

/** Reads the output of `writeVarint`. */
export function readVarint(cursor: Cursor): Count {
  const start = cursor.at
  let value = 0
  let weight = 1
  for (;;) {
    const byte = cursor.bytes[cursor.at++] ?? 0
    value += (byte & 127) * weight
    if (byte < SEVEN_BITS) return Number.isSafeInteger(value) ? value : readBig(cursor, start)
    weight *= SEVEN_BITS
  }
}

/** Reads the varint at `start` again as a bigint, because it is too large for a number. */
function readBig(cursor: Cursor, start: number): Count {
  let value = 0n
  for (let at = cursor.at - 1; at >= start; at--) {
    value = (value << 7n) | BigInt((cursor.bytes[at] ?? 0) & 127)
  }
  return narrow(value)
}

/** Reads a varint that is known to be small, such as a length or a difference of periods. */
export function readSmall(cursor: Cursor): number {
  const value = readVarint(cursor)
  if (typeof value === 'bigint') throw new RangeError('A packed length is out of range.')
  return value
}

/** Maps a signed count to a non-negative one: 0, -1, 1, -2 become 0, 1, 2, 3. */
export function zigzag(value: Count): Count {
  if (typeof value === 'number' && value < SMALL && value > -SMALL) {
    return value < 0 ? -2 * value - 1 : 2 * value
  }
  const big = BigInt(value)
  return narrow(big < 0n ? -2n * big - 1n : 2n * big)
}

/** Reverses `zigzag`. */
export function unzigzag(value: Count): Count {
  if (typeof value === 'number' && value < SMALL) {
    return value & 1 ? -((value + 1) / 2) : value / 2
  }
  const big = BigInt(value)
  return narrow(big & 1n ? -((big + 1n) / 2n) : big / 2n)
}
