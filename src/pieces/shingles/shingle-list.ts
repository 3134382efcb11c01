import {
  type HashHalves,
  hexOf,
  hexOfHalves,
  shingleHash,
  writePairHash,
  writePieceHash,
} from './hash.ts'
import { isPairType, type PackedShingles, PAIR_BYTES, PIECE_BYTES } from './packed-shingles.ts'
import { type PairType, pairTypes } from './pair-types.ts'
import { type PieceName, pieceTypes } from './piece-types.ts'

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

/**
 * More than this no message has. It is what all types together may come to: with less room, a
 * message with enough of the first types would have none of the last, and no pairs.
 */
export const shinglesMax = 480

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
/** The same of pairs. */
const pairsMax = 90
/** Of one kind of pair: what is counted, and with how many others. */
const pairedMax = 4

const typesMax = 256
const placesMax = Math.max(usualMax, ...Object.values(typeMax))

/**
 * Gathers the shingles of a message: each once, a few of each type, at most 480 in all. It is
 * cleared and used for the next, for its memory costs more to get than to fill.
 */
export class ShingleList {
  readonly #types = new Uint8Array(shinglesMax)
  readonly #hashes: HashHalves = new Int32Array((shinglesMax + 1) * 2)
  /** Of pairs, the place of the counted piece. */
  readonly #counted = new Uint16Array(shinglesMax)
  /** The places of the pieces of each type, and how many there are. */
  readonly #places = new Uint16Array(typesMax * placesMax)
  readonly #known = new Uint8Array(typesMax)
  #count = 0
  #pairs = 0

  clear(): void {
    this.#known.fill(0)
    this.#count = 0
    this.#pairs = 0
  }

  /** Adds a piece as it is; empty ones are none. */
  add(name: PieceName, piece: string | null | undefined): void {
    if (piece === null || piece === undefined || piece === '') return
    const kind = kinds.get(name)
    if (!kind || this.#count >= shinglesMax) return
    const { number, max } = kind
    const known = this.#known[number] ?? 0
    if (known >= max) return
    const place = this.#count
    writePieceHash(this.#hashes, place, number, piece)
    for (let index = 0; index < known; index++) {
      if (this.#isSame(place, this.#placeOf(number, index))) return
    }
    this.#places[number * placesMax + known] = place
    this.#known[number] = known + 1
    this.#types[place] = number
    this.#count++
  }

  /** Adds the pairs of all pieces gathered so far; once. */
  addPairs(): void {
    eachPair(
      allPairs,
      (type) => this.#known[type] ?? 0,
      (type, ofIndex, otherIndex) => {
        if (this.#count >= shinglesMax) return
        const of = this.#placeOf(type.counted, ofIndex)
        const other = this.#placeOf(type.unique, otherIndex)
        writePairHash(this.#hashes, this.#count, { type: type.number, of, other })
        this.#types[this.#count] = type.number
        this.#counted[this.#count] = of
        this.#count++
        this.#pairs++
      },
    )
  }

  /** All of them, in the order they were added. */
  packed(): PackedShingles {
    const pieces = this.#count - this.#pairs
    const packed = Buffer.allocUnsafe(pieces * PIECE_BYTES + this.#pairs * PAIR_BYTES)
    let at = 0
    for (let place = 0; place < this.#count; place++) {
      const type = this.#types[place] ?? 0
      packed[at] = type
      at = packed.writeInt32BE(this.#hashes[place * 2] ?? 0, at + 1)
      at = packed.writeInt32BE(this.#hashes[place * 2 + 1] ?? 0, at)
      if (isPairType[type] === 1) at = packed.writeUInt16BE(this.#counted[place] ?? 0, at)
    }
    return packed
  }

  /** The hashes of the pieces of one type, as `hexOf` gives them. */
  hashesOf(name: PieceName): string[] {
    const { number } = pieceTypes[name]
    return Array.from({ length: this.#known[number] ?? 0 }, (_, index) =>
      hexOfHalves(this.#hashes, this.#placeOf(number, index)),
    )
  }

  #placeOf(type: number, index: number): number {
    return this.#places[type * placesMax + index] ?? 0
  }

  #isSame(a: number, b: number): boolean {
    const hashes = this.#hashes
    return hashes[a * 2 + 1] === hashes[b * 2 + 1] && hashes[a * 2] === hashes[b * 2]
  }
}

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
  eachPair(
    types.map(numbersOf),
    (type) => byType[type]?.length ?? 0,
    ({ number, name, counted, unique }, ofIndex, otherIndex) => {
      const of = byType[counted]?.[ofIndex] ?? ''
      const other = byType[unique]?.[otherIndex] ?? ''
      pairs.push({ type: number, name, hash: hexOf(shingleHash(number, `${of} ${other}`)), of })
    },
  )
  return pairs
}

/** Goes over the pairs that can be made: by which one of its type each of the two pieces is. */
function eachPair(
  types: readonly PairNumbers[],
  countOf: (type: number) => number,
  make: (type: PairNumbers, ofIndex: number, otherIndex: number) => void,
): void {
  let room = pairsMax
  for (const type of types) {
    const others = Math.min(countOf(type.unique), pairedMax)
    const counted = others === 0 ? 0 : Math.min(countOf(type.counted), pairedMax)
    for (let of = 0; of < counted; of++) {
      for (let other = 0; other < others; other++) {
        if (room-- <= 0) return
        make(type, of, other)
      }
    }
  }
}
