import { hexOf, shingleHash } from './hash.ts'
import { appendShingles, hashesByType } from './packed-shingles.ts'
import type { PackedShingles } from './packed-shingles.ts'
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

const laterPieces = ['reporter', 'origin-as', 'submitter-as', 'campaign'] as const
const isLater = (name: PieceName) => laterPieces.some((later) => later === name)
const laterPairs = pairTypes.filter(({ counted, unique }) => isLater(counted) || isLater(unique))
const pairedTypes = new Set(
  laterPairs.flatMap(({ counted, unique }) => [pieceTypes[counted], pieceTypes[unique]]),
)
const pairedNumbers = new Set([...pairedTypes].map(({ number }) => number))

/**
 * The shingles of a message with those that its analysis could not know: its reporter, the
 * autonomous systems, its campaign, and their pairs with the pieces already found.
 */
export function withLaterShingles(
  shingles: PackedShingles,
  { reporterId, originAsn, submitterAsn, campaignId }: Circumstances,
): PackedShingles {
  const byType = hashesByType(shingles, pairedNumbers)
  const pieces: Shingle[] = []
  const add = (name: (typeof laterPieces)[number], piece: string | number | null | undefined) => {
    if (piece === null || piece === undefined) return
    const { number } = pieceTypes[name]
    const hash = hexOf(shingleHash(number, String(piece)))
    pieces.push({ type: number, name, hash })
    ;(byType[number] ??= []).push(hash)
  }
  add('reporter', reporterId)
  add('origin-as', originAsn)
  add('submitter-as', submitterAsn)
  add('campaign', campaignId)
  return appendShingles(shingles, [...pieces, ...pairsOf(byType, laterPairs)])
}
