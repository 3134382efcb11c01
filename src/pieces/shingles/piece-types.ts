import table from './piece-types.json' with { type: 'json' }

export type PieceName = keyof typeof table.pieces

export type PieceType = {
  /**
   * Part of the hash and of stored data: the meaning of a number never changes, and a number is
   * never reused.
   */
  number: number
  name: PieceName
  meaning: string
}

/**
 * `isGated`: in checked traffic, a piece is counted only after several sightings; for types whose
 * pieces are mostly new. Every piece of the other types is counted.
 */
type Row = { number: number; meaning: string; isGated?: boolean }

const rows = Object.entries<Row>(table.pieces)

export const pieceTypes = Object.fromEntries(
  rows.map(([name, { number, meaning }]) => [name, { number, name, meaning }]),
) as Readonly<Record<PieceName, PieceType>>

export const gatedTypes: ReadonlySet<number> = new Set(
  rows.filter(([, { isGated }]) => isGated).map(([, { number }]) => number),
)

/**
 * A type of pair: two pieces of one message, one of which is the counted piece. The unique counter
 * of the counted piece is the number of different other pieces with which it was seen; it rises
 * when a pair is seen for the first time in a period. Pairs and unique counters are exact.
 */
export type PairType = {
  /**
   * Permanent: the meaning of a number never changes, and a number is never reused. Distinct from
   * the numbers of piece types.
   */
  number: number
  name: string
  /** The type of the counted piece, whose unique counter rises. */
  counted: PieceName
  unique: PieceName
  /** Meaning of the unique counter, as a sentence. */
  meaning: string
}

// A test checks the names of the pieces.
export const pairTypes = table.pairs as readonly PairType[]
