import { hexOf, hexOfHalves, pairHash, pieceHash, shingleHash } from './hash.ts'
import type { HashHalves } from './hash.ts'
import { PAIR_BYTES, PIECE_BYTES } from './packed-shingles.ts'
import type { PackedShingles } from './packed-shingles.ts'
import { pairTypes } from './pair-types.ts'
import type { PairType } from './pair-types.ts'
import { pieceTypes } from './piece-types.ts'
import type { PieceName } from './piece-types.ts'

/** One normalized piece of a message, or a pair of pieces, as it is counted. */
export type Shingle = {
  /** Number of its type. */
  type: number
  name: string
  /** 64 bits, unsigned, as 16 hexadecimal digits. */
  hash: string
  /** Only for pairs: the hash of the counted piece, whose unique rises when the pair is new. */
  of?: string
}

/** More than this no message has. */
export const shinglesMax = 300

/** How many of one type are kept, where it is not the usual number. */
const typeMax: Partial<Record<PieceName, number>> = {
  link: 16,
  'link-path': 16,
  paragraph: 4,
  sentence: 6,
  'subject-words': 4,
  'unusual-field': 4,
  'html-comment': 4,
}
const usualMax = 8
/** What room is kept for pairs. */
const pairsMax = 70
/** Of one kind of pair: what is counted, and with how many others. */
const pairedMax = 4

/** Gathers the shingles of a message: each once, a few of each type, at most 300 in all. */
export class ShingleList {
  readonly #entries: Entry[] = []
  /** The pieces of each type. */
  readonly #byType = noPieces.slice()
  #pairs = 0

  /** Adds a piece as it is; empty ones are none. */
  add(name: PieceName, piece: string | null | undefined): void {
    if (piece === null || piece === undefined || piece === '') return
    const kind = kinds.get(name)
    if (!kind || this.#entries.length >= shinglesMax) return
    const { number, max } = kind
    const known = (this.#byType[number] ??= [])
    if (known.length >= max) return
    const { hi, lo } = pieceHash(number, piece)
    for (const entry of known) if (entry.lo === lo && entry.hi === hi) return
    const entry = { type: number, hi, lo, place: this.#entries.length, of: undefined }
    known.push(entry)
    this.#entries.push(entry)
  }

  /** Adds the pairs of all pieces gathered so far. */
  addPairs(): void {
    eachPair(this.#byType, allPairs, (type, of, other) => {
      if (this.#entries.length >= shinglesMax) return
      const { hi, lo } = pairHash(type.number, of, other)
      this.#entries.push({ type: type.number, hi, lo, place: this.#entries.length, of })
      this.#pairs++
    })
  }

  /** All of them, in the order they were added. */
  packed(): PackedShingles {
    const pairs = this.#pairs
    const pieces = this.#entries.length - pairs
    const packed = Buffer.allocUnsafe(pieces * PIECE_BYTES + pairs * PAIR_BYTES)
    let at = 0
    for (const { type, hi, lo, of } of this.#entries) {
      packed[at] = type
      at = packed.writeInt32BE(hi, at + 1)
      at = packed.writeInt32BE(lo, at)
      if (of) at = packed.writeUInt16BE(of.place, at)
    }
    return packed
  }

  /** The hashes of the pieces of one type, as `hexOf` gives them. */
  hashesOf(name: PieceName): string[] {
    return (this.#byType[pieceTypes[name].number] ?? []).map(hexOfHalves)
  }
}

/** Room for all types; to copy it is faster than to make it. */
const noPieces: readonly (Entry[] | undefined)[] = Array.from({ length: 256 })

/** A shingle in its place. `of` is the counted piece of a pair. */
type Entry = HashHalves & { type: number; place: number; of: Entry | undefined }

const kinds = new Map(
  Object.values(pieceTypes).map(({ name, number }) => [
    name,
    { number, max: typeMax[name] ?? usualMax },
  ]),
)

/** A type of pairs with the numbers of its pieces' types. */
type PairNumbers = { number: number; name: string; counted: number; unique: number }

const allPairs = pairTypes.map(numbersOf)

function numbersOf({ number, name, counted, unique }: PairType): PairNumbers {
  return {
    number,
    name,
    counted: pieceTypes[counted].number,
    unique: pieceTypes[unique].number,
  }
}

/** The pairs that can be made of pieces: `byType` has their hashes under their types' numbers. */
export function pairsOf(
  byType: readonly (readonly string[] | undefined)[],
  types: readonly PairType[],
): Shingle[] {
  const pairs: Shingle[] = []
  eachPair(byType, types.map(numbersOf), ({ number, name }, of, other) => {
    pairs.push({ type: number, name, hash: hexOf(shingleHash(number, `${of} ${other}`)), of })
  })
  return pairs
}

function eachPair<Piece>(
  byType: readonly (readonly Piece[] | undefined)[],
  types: readonly PairNumbers[],
  make: (type: PairNumbers, of: Piece, other: Piece) => void,
): void {
  let room = pairsMax
  for (const type of types) {
    const others = byType[type.unique]
    const counted = byType[type.counted]
    if (!others || !counted) continue
    for (const of of counted.slice(0, pairedMax)) {
      for (const other of others.slice(0, pairedMax)) {
        if (room-- <= 0) return
        make(type, of, other)
      }
    }
  }
}
