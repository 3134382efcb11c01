import { type HashHalves, hexOfHalves, writePairHash, writePieceHash } from './hash.ts'
import {
  eachEntry,
  isPairType,
  type PackedShingles,
  PAIR_BYTES,
  PIECE_BYTES,
} from './packed-shingles.ts'
import { type PairType, pairTypes, type PieceName, pieceTypes } from './piece-types.ts'

/**
 * Maximum number of shingles of a message: the sum of the limits of all types. With a lower limit,
 * a message with many pieces of the first types would have none of the last types, and no pairs.
 */
export const shinglesMax = 480

/** Maximum number of pieces of a type, where it is not the default. */
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
const pairsMax = 90
/** Maximum number of pieces of each of the two types that form one type of pair. */
const pairedMax = 4

const typesMax = 256
const placesMax = Math.max(usualMax, ...Object.values(typeMax))

/**
 * Collects the shingles of a message, without duplicates, a limited number of each type, at most
 * 480 in total. The memory is reused for the next message, because allocating it costs more than
 * filling it.
 */
export class ShingleList {
  readonly #types = new Uint8Array(shinglesMax)
  readonly #hashes: HashHalves = new Int32Array((shinglesMax + 1) * 2)
  /** The index of the counted piece of each pair. */
  readonly #counted = new Uint16Array(shinglesMax)
  /** The indexes of the pieces of each type, and the number of pieces of each type. */
  readonly #places = new Uint16Array(typesMax * placesMax)
  readonly #known = new Uint8Array(typesMax)
  #count = 0
  #pairs = 0

  clear(): void {
    this.#known.fill(0)
    this.#count = 0
    this.#pairs = 0
  }

  /** Adds a normalized piece; ignores empty ones. */
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

  /** Adds the pairs of all pieces collected so far. Call it once. */
  addPairs(): void {
    eachPair(
      allPairs,
      (type) => Math.min(this.#known[type] ?? 0, pairedMax),
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

  /** Returns all shingles, in the order in which they were added. */
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

  /** Returns the hashes of the pieces of one type, as `hexOf` formats them. */
  hashesOf(name: PieceName): string[] {
    const { number } = pieceTypes[name]
    const known = this.#known[number] ?? 0
    const hashes: string[] = []
    for (let index = 0; index < known; index++) {
      hashes.push(hexOfHalves(this.#hashes, this.#placeOf(number, index)))
    }
    return hashes
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

export type PairNumbers = { number: number; name: string; counted: number; unique: number }

const allPairs = pairTypes.map(numbersOf)

/** Returns the numbers of a type of pair, which `appendPaired` needs. */
export function numbersOf({ number, name, counted, unique }: PairType): PairNumbers {
  return {
    number,
    name,
    counted: pieceTypes[counted].number,
    unique: pieceTypes[unique].number,
  }
}

/**
 * A normalized piece that is not in the message, with the number of its type. A partner is counted
 * only in pairs, as their other piece.
 */
export type LaterPiece = { type: number; piece: string; isPartner?: true }

/** Maximum number of partners of one type. */
export const partnersMax = 10

let laterHashes: HashHalves = new Int32Array((shinglesMax + pairsMax + 8) * 2)
const laterPlaces = new Uint16Array(typesMax * partnersMax)
const laterKnown = new Uint8Array(typesMax)

/**
 * Appends pieces to packed shingles, and the pairs of the given types that all these pieces form.
 * Works on bytes, because a text for the hash of each piece took most of the time of counting.
 */
export function appendPaired(
  packed: PackedShingles,
  pieces: readonly LaterPiece[],
  types: readonly PairNumbers[],
): PackedShingles {
  const shinglesLeast = Math.ceil(packed.length / PIECE_BYTES) + 2 * pieces.length + pairsMax
  if (laterHashes.length < shinglesLeast * 2) laterHashes = new Int32Array(shinglesLeast * 2)
  laterKnown.fill(0)
  let place = 0
  eachEntry(packed, (at, isPair) => {
    laterHashes[place * 2] = packed.readInt32BE(at + 1)
    laterHashes[place * 2 + 1] = packed.readInt32BE(at + 5)
    if (!isPair) notePlace(packed[at] ?? 0, place, pairedMax)
    place++
  })
  const longer = Buffer.allocUnsafe(
    packed.length + pieces.length * PIECE_BYTES + pairsMax * PAIR_BYTES,
  )
  let end = packed.copy(longer)
  const write = (type: number) => {
    longer[end] = type
    longer.writeInt32BE(laterHashes[place * 2] ?? 0, end + 1)
    end = longer.writeInt32BE(laterHashes[place * 2 + 1] ?? 0, end + 5)
    place++
  }
  // Behind all entries, because a partner has none.
  let partnerPlace = shinglesLeast - pieces.length
  for (const { type, piece, isPartner } of pieces) {
    const at = isPartner ? partnerPlace++ : place
    writePieceHash(laterHashes, at, type, piece)
    notePlace(type, at, isPartner ? partnersMax : pairedMax)
    if (!isPartner) write(type)
  }
  eachPair(
    types,
    (type) => laterKnown[type] ?? 0,
    ({ number, counted, unique }, ofIndex, otherIndex) => {
      const of = laterPlaces[counted * partnersMax + ofIndex] ?? 0
      const other = laterPlaces[unique * partnersMax + otherIndex] ?? 0
      writePairHash(laterHashes, place, { type: number, of, other })
      write(number)
      end = longer.writeUInt16BE(of, end)
    },
  )
  return longer.subarray(0, end)
}

function notePlace(type: number, place: number, max: number): void {
  const known = laterKnown[type] ?? 0
  if (known >= max) return
  laterPlaces[type * partnersMax + known] = place
  laterKnown[type] = known + 1
}

/** Calls `make` for each possible pair, with the indexes of both pieces within their types. */
function eachPair(
  types: readonly PairNumbers[],
  countOf: (type: number) => number,
  make: (type: PairNumbers, ofIndex: number, otherIndex: number) => void,
): void {
  let room = pairsMax
  for (const type of types) {
    const others = countOf(type.unique)
    const counted = others === 0 ? 0 : countOf(type.counted)
    for (let of = 0; of < counted; of++) {
      for (let other = 0; other < others; other++) {
        if (room-- <= 0) return
        make(type, of, other)
      }
    }
  }
}
