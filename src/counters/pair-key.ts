import { type Halves, halvesOf, wholeOf } from './keys.ts'

/** Odd numbers without a pattern. */
const SPREAD_HI = 0x9e3779b1
const SPREAD_LO = 0x85ebca6b

/**
 * The key under which the pairs of one type are counted of a piece: the piece's hash, turned by its
 * own mask for each type, so that each kind of pair has uniques of its own.
 */
export function pairKey(type: number, { hi, lo }: Halves): Halves {
  return { hi: (hi ^ maskHi(type)) >>> 0, lo: (lo ^ maskLo(type)) >>> 0 }
}

/** The same of a whole hash. */
export function wholePairKey(type: number, piece: bigint): bigint {
  return wholeOf(pairKey(type, halvesOf(piece)))
}

function maskHi(type: number): number {
  return mix(Math.imul(type, SPREAD_HI))
}

function maskLo(type: number): number {
  return mix(Math.imul(type, SPREAD_LO) ^ SPREAD_HI)
}

function mix(bits: number): number {
  const once = Math.imul(bits ^ (bits >>> 15), SPREAD_LO)
  return Math.imul(once ^ (once >>> 13), SPREAD_HI) ^ (once >>> 16)
}
