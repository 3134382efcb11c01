import xxhash from 'xxhash-wasm'

const { h64 } = await xxhash()

/**
 * The seed of all shingles: `shingles` in ASCII, read as a big-endian number. Hashes are stored
 * for weeks: whoever changes it, a type's number or a normalization begins to count anew.
 */
const seed = 0x7368696e676c6573n

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
