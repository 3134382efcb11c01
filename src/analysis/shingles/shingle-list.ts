import { hexOf, shingleHash } from './hash.ts'
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
  readonly #shingles = new Map<string, Shingle>()
  readonly #byType: string[][] = []

  /** Adds a piece as it is; empty ones are none. */
  add(name: PieceName, piece: string | null | undefined): void {
    if (piece === null || piece === undefined || piece === '') return
    const kind = kinds.get(name)
    if (!kind || this.#shingles.size >= shinglesMax) return
    const { number, max } = kind
    const known = (this.#byType[number] ??= [])
    if (known.length >= max) return
    const hash = hexOf(shingleHash(number, piece))
    if (this.#shingles.has(hash)) return
    this.#shingles.set(hash, { type: number, name, hash })
    known.push(hash)
  }

  /** Adds the pairs of all pieces gathered so far. */
  addPairs(): void {
    for (const shingle of pairsOf(this.#byType, pairTypes)) {
      if (this.#shingles.size >= shinglesMax) return
      this.#shingles.set(shingle.hash, shingle)
    }
  }

  all(): Shingle[] {
    return [...this.#shingles.values()]
  }
}

const kinds = new Map(
  Object.values(pieceTypes).map(({ name, number }) => [
    name,
    { number, max: typeMax[name] ?? usualMax },
  ]),
)

/** The pairs that can be made of pieces: `byType` has their hashes under their types' numbers. */
export function pairsOf(
  byType: readonly (readonly string[] | undefined)[],
  types: readonly PairType[],
): Shingle[] {
  const pairs: Shingle[] = []
  for (const { number, name, counted, unique } of types) {
    const others = byType[pieceTypes[unique].number]
    if (!others) continue
    for (const of of byType[pieceTypes[counted].number]?.slice(0, pairedMax) ?? []) {
      for (const other of others.slice(0, pairedMax)) {
        if (pairs.length >= pairsMax) return pairs
        pairs.push({ type: number, name, hash: pairHash(number, of, other), of })
      }
    }
  }
  return pairs
}

/** A pair is hashed like a piece: the two hashes in hexadecimal with a blank between them. */
function pairHash(type: number, of: string, other: string): string {
  return hexOf(shingleHash(type, `${of} ${other}`))
}
