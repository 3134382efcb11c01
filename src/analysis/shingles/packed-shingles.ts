import { hexOf } from './hash.ts'
import { pairTypes } from './pair-types.ts'
import { pieceTypes } from './piece-types.ts'
import type { Shingle } from './shingle-list.ts'

/**
 * The shingles of a message in bytes, as they cross threads and are stored. A piece is nine bytes:
 * its type's number, then its hash, big end first. A pair has two more: the place of the counted
 * piece among all entries, counted from 0.
 */
export type PackedShingles = Buffer

/** One packed shingle: its hash in unsigned halves, and of a pair that of the counted piece. */
export type ShingleHalves = { type: number; hi: number; lo: number; of?: Halves }

/** A 64-bit hash as two unsigned halves. */
type Halves = { hi: number; lo: number }

/** How long a piece is when it is packed. */
export const PIECE_BYTES = 9
/** The same of a pair. */
export const PAIR_BYTES = 11

const names = new Map<number, string>(
  [...Object.values(pieceTypes), ...pairTypes].map(({ number, name }) => [number, name]),
)
/** 1 for the numbers of pairs, 0 for others. */
export const isPairType = Uint8Array.from({ length: 256 }, (_, number) =>
  pairTypes.some((type) => type.number === number) ? 1 : 0,
)

/** Packs shingles; those that a pair is counted under must stand before it. */
export function packShingles(shingles: readonly Shingle[]): PackedShingles {
  const placeOf = new Map<string, number>()
  const packed = Buffer.allocUnsafe(shingles.length * PAIR_BYTES)
  let at = 0
  for (const [place, { type, hash, of }] of shingles.entries()) {
    at = packed.writeUInt8(type, at)
    at = packed.writeUInt32BE(Number.parseInt(hash.slice(0, 8), 16), at)
    at = packed.writeUInt32BE(Number.parseInt(hash.slice(8), 16), at)
    if (of === undefined) placeOf.set(hash, place)
    else at = packed.writeUInt16BE(placeOf.get(of) ?? 0, at)
  }
  return packed.subarray(0, at)
}

/** All packed shingles, in their order. */
export function readShingles(packed: PackedShingles): ShingleHalves[] {
  const found: ShingleHalves[] = []
  for (let at = 0; at + PIECE_BYTES <= packed.length;) {
    const type = packed[at] ?? 0
    const [hi, lo] = [packed.readUInt32BE(at + 1), packed.readUInt32BE(at + 5)]
    const isPair = isPairType[type] === 1
    const of = isPair ? found[packed.readUInt16BE(at + PIECE_BYTES)] : undefined
    found.push(of ? { type, hi, lo, of } : { type, hi, lo })
    at += isPair ? PAIR_BYTES : PIECE_BYTES
  }
  return found
}

/** The same with names and in hexadecimal, for people. */
export function unpackShingles(packed: PackedShingles): Shingle[] {
  const hex = ({ hi, lo }: Halves) => hexOf((BigInt(hi) << 32n) | BigInt(lo))
  return readShingles(packed).map(({ type, of, ...hash }) => ({
    type,
    name: names.get(type) ?? String(type),
    hash: hex(hash),
    ...(of && { of: hex(of) }),
  }))
}
