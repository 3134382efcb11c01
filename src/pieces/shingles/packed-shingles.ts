import { hexOf } from './hash.ts'
import { pairTypes, pieceTypes } from './piece-types.ts'

/** A normalized piece of a message, or a pair of pieces, as it is counted. */
export type Shingle = {
  type: number
  name: string
  /** 64 bits, unsigned, as 16 hexadecimal digits. */
  hash: string
  /**
   * Only for pairs: the hash of the counted piece, whose unique counter rises when the pair is new.
   */
  of?: string
}

/**
 * The packed shingles of a message, for transfer between threads and for storage. A piece takes
 * nine bytes: the number of its type, then its hash, big-endian. A pair has two more: the index of
 * the counted piece among all entries, from 0.
 */
export type PackedShingles = Buffer

/**
 * One packed shingle: its hash as unsigned halves, and for a pair the hash of the counted piece.
 */
export type ShingleHalves = { type: number; hi: number; lo: number; of?: Halves }

/** A 64-bit hash as two unsigned halves. */
type Halves = { hi: number; lo: number }

export const PIECE_BYTES = 9
/** Size of a packed pair in bytes. */
export const PAIR_BYTES = 11

const names = new Map<number, string>(
  [...Object.values(pieceTypes), ...pairTypes].map(({ number, name }) => [number, name]),
)
/** 1 for type numbers of pairs, 0 for others. */
export const isPairType = Uint8Array.from({ length: 256 }, (_, number) =>
  pairTypes.some((type) => type.number === number) ? 1 : 0,
)

/**
 * Packs shingles. A piece must precede the pairs that are counted under it.
 *
 * @throws RangeError for a pair whose counted piece is absent
 */
export function packShingles(shingles: readonly Shingle[]): PackedShingles {
  const placeOf = new Map<string, number>()
  const packed = Buffer.allocUnsafe(shingles.length * PAIR_BYTES)
  let at = 0
  for (const [place, { type, hash, of }] of shingles.entries()) {
    at = packed.writeUInt8(type, at)
    at += packed.write(hash, at, 'hex')
    if (of === undefined) placeOf.set(hash, place)
    else at = packed.writeUInt16BE(requirePlace(placeOf, of), at)
  }
  return packed.subarray(0, at)
}

function requirePlace(placeOf: ReadonlyMap<string, number>, hash: string): number {
  const place = placeOf.get(hash)
  if (place === undefined) throw new RangeError('A pair refers to a missing piece.')
  return place
}

/** Returns all packed shingles, in order. */
export function readShingles(packed: PackedShingles): ShingleHalves[] {
  const found: ShingleHalves[] = []
  eachEntry(packed, (at, isPair) => {
    const type = packed[at] ?? 0
    const [hi, lo] = [packed.readUInt32BE(at + 1), packed.readUInt32BE(at + 5)]
    const of = isPair ? found[packed.readUInt16BE(at + PIECE_BYTES)] : undefined
    found.push(of ? { type, hi, lo, of } : { type, hi, lo })
  })
  return found
}

export function unpackShingles(packed: PackedShingles): Shingle[] {
  const hex = ({ hi, lo }: Halves) => hexOf((BigInt(hi) << 32n) | BigInt(lo))
  return readShingles(packed).map(({ type, of, ...hash }) => ({
    type,
    name: names.get(type) ?? String(type),
    hash: hex(hash),
    ...(of && { of: hex(of) }),
  }))
}

/** Calls `look` with the offset of each complete entry. */
export function eachEntry(
  packed: PackedShingles,
  look: (at: number, isPair: boolean) => void,
): void {
  for (let at = 0; at < packed.length;) {
    const isPair = isPairType[packed[at] ?? 0] === 1
    const next = at + (isPair ? PAIR_BYTES : PIECE_BYTES)
    if (next <= packed.length) look(at, isPair)
    at = next
  }
}
