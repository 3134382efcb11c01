import xxhash from 'xxhash-wasm'

const { h64, h64Raw } = await xxhash()

/**
 * The seed of all shingles; by default `shingles` in ASCII, as a big-endian number. Hashes are
 * stored for weeks: changing the seed, the number of a type or a normalization restarts all counts.
 */
let seed = 0x7368696e676c6573n

/**
 * Sets the seed of this thread, below 2^64. Call it once, before anything is hashed. Each
 * installation has its own seed: with a seed that is public in the source, anybody could construct
 * a piece whose hash collides with another.
 */
export function seedShingles(own: bigint): void {
  seed = own
}

/** Returns the seed of this thread, for other threads that must produce the same hashes. */
export function shingleSeed(): bigint {
  return seed
}

/**
 * Returns the 64-bit hash of a piece: XXH64 of the type's number in decimal, a NUL and the piece.
 */
export function shingleHash(type: number, piece: string): bigint {
  return h64(`${type}\0${piece}`, seed)
}

/** Returns the 64-bit hash of a text that is not a piece: XXH64 with the same seed. */
export function textHash(text: string): bigint {
  return h64(text, seed)
}

/** Formats a hash for JSON: 16 hexadecimal digits, unsigned. */
export function hexOf(hash: bigint): string {
  return hash.toString(16).padStart(16, '0')
}

/**
 * Hashes as halves, signed 32-bit numbers: the high half of hash n at 2n, the low half at 2n + 1.
 */
export type HashHalves = Int32Array

/** Writes the hash that `shingleHash` returns, but several times faster. `type` is below 1,000. */
export function writePieceHash(to: HashHalves, at: number, type: number, piece: string): void {
  if (piece.length > pieceCharsMax) hashed[0] = shingleHash(type, piece)
  else {
    const start = writeType(type)
    hashFirst(start + bytes.write(piece, start))
  }
  keepHash(to, at)
}

/**
 * Writes the hash of a pair. Its piece consists of the hashes at `of` and `other`, formatted by
 * `hexOf` and separated by a blank.
 */
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

/** Formats the hash at an index like `hexOf`. */
export function hexOfHalves(hashes: HashHalves, at: number): string {
  writeDigits(0, hashes, at)
  return bytes.toString('latin1', 0, 16)
}

/** Maximum length of a piece for the fast path. Longer pieces are rare and take the slow path. */
const pieceCharsMax = 16 * 1024
const typeBytes = 4
const bytes = Buffer.alloc(typeBytes + pieceCharsMax * 3)
/** Preallocated views of the first bytes: creating a view costs more than hashing. */
const views = Array.from({ length: 1024 }, (_, end) => bytes.subarray(0, end))
const hashed = new BigUint64Array(1)
/** The low half is first on all platforms of Node but s390x and AIX, which are big-endian. */
const halves = new Int32Array(hashed.buffer)
const digits = Buffer.from('0123456789abcdef')

/** Writes the type in decimal and a NUL; returns the position for the piece. */
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

function hashFirst(end: number): void {
  hashed[0] = h64Raw(views[end] ?? bytes.subarray(0, end), seed)
}

function keepHash(to: HashHalves, at: number): void {
  to[at * 2] = halves[1] ?? 0
  to[at * 2 + 1] = halves[0] ?? 0
}
