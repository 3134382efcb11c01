import xxhash from 'xxhash-wasm'

const { h64, h64Raw } = await xxhash()

/**
 * The seed of all shingles; `shingles` in ASCII, read as a big-endian number, where nobody gave
 * one. Hashes are stored for weeks: whoever changes it, a type's number or a normalization begins
 * to count anew.
 */
let seed = 0x7368696e676c6573n

/**
 * Sets the seed of this thread, below 2^64: once, before anything is hashed. Each installation has
 * its own: with one that stands in the source, anybody can make a piece with the hash of another.
 */
export function seedShingles(own: bigint): void {
  seed = own
}

/** The seed of this thread, for those that are to hash alike. */
export function shingleSeed(): bigint {
  return seed
}

/** The 64-bit hash of a piece: XXH64 of the type's number in decimal, a NUL and the piece. */
export function shingleHash(type: number, piece: string): bigint {
  return h64(`${type}\0${piece}`, seed)
}

/** The 64-bit hash of a text that is no piece of a type: XXH64 with the same seed. */
export function textHash(text: string): bigint {
  return h64(text, seed)
}

/** As JSON has it: 16 hexadecimal digits, unsigned. */
export function hexOf(hash: bigint): string {
  return hash.toString(16).padStart(16, '0')
}

/** As PostgreSQL's `bigint` has it: signed. `hex` is what `hexOf` gave. */
export function signedOf(hex: string): bigint {
  return BigInt.asIntN(64, BigInt(`0x${hex}`))
}

/** What `hexOf` gives, of a signed one. */
export function hexOfSigned(signed: bigint): string {
  return hexOf(BigInt.asUintN(64, signed))
}

/** The high and the low half as signed 32-bit numbers. `hex` is what `hexOf` gave. */
export function lanesOf(hex: string): [number, number] {
  return [Number.parseInt(hex.slice(0, 8), 16) | 0, Number.parseInt(hex.slice(8), 16) | 0]
}

/** Hashes as halves, signed 32-bit numbers: the high half of one at 2n, its low half behind. */
export type HashHalves = Int32Array

/** Writes what `shingleHash` gives, several times as fast. `type` is below 1,000. */
export function writePieceHash(to: HashHalves, at: number, type: number, piece: string): void {
  if (piece.length > pieceCharsMax) hashed[0] = shingleHash(type, piece)
  else {
    const start = writeType(type)
    hashFirst(start + bytes.write(piece, start))
  }
  keepHash(to, at)
}

/** The same of a pair: its piece is the hashes at `of` and `other` by `hexOf`, with a blank. */
export function writePairHash(
  hashes: HashHalves,
  at: number,
  pair: { type: number; of: number; other: number },
): void {
  const start = writeType(pair.type)
  writeDigits(start, hashes, pair.of)
  bytes[start + 16] = 0x20
  writeDigits(start + 17, hashes, pair.other)
  hashFirst(start + 33)
  keepHash(hashes, at)
}

/** What `hexOf` gives, of the hash there. */
export function hexOfHalves(hashes: HashHalves, at: number): string {
  writeDigits(0, hashes, at)
  return bytes.toString('latin1', 0, 16)
}

/** Longer pieces are rare; they take the longer way. */
const pieceCharsMax = 16 * 1024
const typeBytes = 4
const bytes = Buffer.alloc(typeBytes + pieceCharsMax * 3)
/** The first so many bytes, once for all: to make a view costs more than the hash. */
const views = Array.from({ length: 1024 }, (_, end) => bytes.subarray(0, end))
const hashed = new BigUint64Array(1)
/** The low half first: Node runs on little-endian machines, all but one. */
const halves = new Int32Array(hashed.buffer)
const digits = Buffer.from('0123456789abcdef')

/** The type in decimal and a NUL; answers where the piece begins. */
function writeType(type: number): number {
  let at = 0
  if (type >= 100) bytes[at++] = 0x30 + Math.trunc(type / 100)
  if (type >= 10) bytes[at++] = 0x30 + (Math.trunc(type / 10) % 10)
  bytes[at++] = 0x30 + (type % 10)
  bytes[at++] = 0
  return at
}

function writeDigits(start: number, hashes: HashHalves, at: number): void {
  const hi = hashes[at * 2] ?? 0
  const lo = hashes[at * 2 + 1] ?? 0
  for (let digit = 0; digit < 8; digit++) {
    const shift = 28 - digit * 4
    bytes[start + digit] = digits[(hi >>> shift) & 15] ?? 0
    bytes[start + 8 + digit] = digits[(lo >>> shift) & 15] ?? 0
  }
}

/** Hashes so many bytes from the beginning. */
function hashFirst(end: number): void {
  hashed[0] = h64Raw(views[end] ?? bytes.subarray(0, end), seed)
}

function keepHash(to: HashHalves, at: number): void {
  to[at * 2] = halves[1] ?? 0
  to[at * 2 + 1] = halves[0] ?? 0
}
