import { type PackedShingles, readShingles } from '../analysis/shingles/packed-shingles.ts'
import { gatedTypes } from '../analysis/shingles/piece-types.ts'
import type { CheckBuffer } from './check-buffer.ts'
import { prefixes } from './keys.ts'
import { kinds } from './packed/count.ts'
import { GATED, headOf } from './packed/delta-packing.ts'
import { pairKey } from './pair-key.ts'

/** What a checked message counts as: unwanted, or let through. */
export type CheckedAs = 'ham' | 'spam'

const CHECKS = prefixes.indexOf('checks')

/**
 * Counts a message that a mail server asked about, once for each of its shingles, as
 * `countMessages` does for reports: pieces of gated types may be held back, pairs raise uniques.
 * Ham is what was let through, so that ham and spam together are all that was seen.
 */
export function countChecked(
  buffer: Pick<CheckBuffer, 'add'>,
  shingles: PackedShingles,
  as: CheckedAs,
): void {
  const bit = 1 << kinds.indexOf(as)
  const headOfPiece = headOf(bit, CHECKS, 0)
  const headOfPair = headOf(bit, CHECKS, 1)
  for (const shingle of readShingles(shingles)) {
    const { type, of } = shingle
    if (of) buffer.add(pairKey(type, of), headOfPair, 1, shingle)
    else buffer.add(shingle, gatedTypes.has(type) ? headOfPiece | GATED : headOfPiece, 1)
  }
}
