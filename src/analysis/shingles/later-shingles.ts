import { hexOf, shingleHash } from './hash.ts'
import { pairTypes } from './pair-types.ts'
import { pieceTypes } from './piece-types.ts'
import type { PieceName } from './piece-types.ts'
import { pairsOf } from './shingle-list.ts'
import type { Shingle } from './shingle-list.ts'

/** What is known of a message only beside its bytes. */
export type Circumstances = {
  /** Who reported it; undefined for traffic that is only checked. */
  reporterId?: string | undefined
  /** Autonomous system of the origin. */
  originAsn?: number | null | undefined
  submitterAsn?: number | null | undefined
  /** The campaign it was found to be of. */
  campaignId?: string | null | undefined
}

/**
 * The shingles that the analysis of a message could not know: its reporter, the autonomous systems,
 * and their pairs with the pieces already found. `shingles` as the analysis has them.
 */
export function laterShingles(
  shingles: readonly Shingle[],
  { reporterId, originAsn, submitterAsn, campaignId }: Circumstances,
): Shingle[] {
  const pieces: Shingle[] = []
  const add = (name: PieceName, piece: string | number | null | undefined) => {
    if (piece === null || piece === undefined) return
    const { number } = pieceTypes[name]
    pieces.push({ type: number, name, hash: hexOf(shingleHash(number, String(piece))) })
  }
  add('reporter', reporterId)
  add('origin-as', originAsn)
  add('submitter-as', submitterAsn)
  add('campaign', campaignId)
  const byType: string[][] = []
  for (const { type, hash, of } of [...shingles, ...pieces]) {
    if (of === undefined) (byType[type] ??= []).push(hash)
  }
  const isLater = (name: PieceName) => pieces.some((piece) => piece.name === name)
  const types = pairTypes.filter(({ counted, unique }) => isLater(counted) || isLater(unique))
  return [...pieces, ...pairsOf(byType, types)]
}
