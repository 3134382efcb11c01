import type { Increment } from './increment.ts'

/** What is counted of a shingle: 16 hexadecimal digits; of a pair, also the piece it belongs to. */
export type Seen = { type: number; hash: string; of?: string | undefined }

/** What a report or a check adds to each of its shingles. */
export type Addition = Pick<Increment, 'prefix' | 'ham' | 'spam' | 'complaint' | 'at'>

/**
 * The increments of one message. A piece is counted under its own hash. A pair is counted under
 * `pairKey` of the piece, and the pair is the unique there: so each kind of pair has uniques of its
 * own. Pieces of the types that `gatedTypes` names may be held back at the gate; pairs never.
 */
export function incrementsOf(
  shingles: Iterable<Seen>,
  addition: Addition,
  gatedTypes: ReadonlySet<number>,
): Increment[] {
  return Array.from(shingles, ({ type, hash, of }): Increment => {
    const own = BigInt(`0x${hash}`)
    if (of === undefined) return { ...addition, shingle: own, gated: gatedTypes.has(type) }
    return { ...addition, shingle: pairKey(type, BigInt(`0x${of}`)), unique: own }
  })
}

/** Odd numbers without a pattern: they spread what they multiply over 64 bits. */
const SPREAD = 0x9e3779b97f4a7c15n
const TYPE_SPREAD = 0xd6e8feb86659fd93n

/** The key under which the pairs of one type are counted of a piece. */
export function pairKey(type: number, piece: bigint): bigint {
  const mixed = BigInt.asUintN(64, piece * SPREAD + BigInt(type) * TYPE_SPREAD)
  return BigInt.asUintN(64, (mixed ^ (mixed >> 32n)) * SPREAD)
}
