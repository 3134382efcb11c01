import { hexOf, shingleHash } from '../../src/pieces/shingles/hash.ts'
import {
  type PairType,
  pairTypes,
  type PieceName,
  pieceTypes,
} from '../../src/pieces/shingles/piece-types.ts'
import type { Shingle } from '../../src/pieces/shingles/packed-shingles.ts'

type Later = Partial<Record<PieceName, string | number | undefined>>

/** Names of pieces that are counted only as the other piece of a pair. */
const partners = ['origin-country']

/**
 * Adds the shingles of data that is not in the message itself, such as the reporter, and their
 * pairs.
 */
export function withLater(shingles: readonly Shingle[], later: Later): Shingle[] {
  const pieces = Object.entries(later).flatMap(([name, piece]): Shingle[] => {
    if (piece === undefined) return []
    const { number } = pieceTypes[name as PieceName]
    const hash = hexOf(shingleHash(number, String(piece)))
    return [{ type: number, name, hash }]
  })
  const byType: string[][] = []
  for (const { type, hash, of } of [...shingles, ...pieces]) {
    if (of === undefined) (byType[type] ??= []).push(hash)
  }
  const names = new Set(['reporter', 'origin-as', 'submitter-as', 'campaign', 'origin-country'])
  const types = pairTypes.filter(({ counted, unique }) => names.has(counted) || names.has(unique))
  const pairs = types.flatMap((type) => pairsOf(type, byType)).slice(0, PAIRS_MAX)
  const counted = pieces.filter(({ name }) => !partners.includes(name))
  return [...shingles, ...counted, ...pairs]
}

/** Maximum number of pairs of a message, and of pieces of each of the two types of a pair. */
const PAIRS_MAX = 90
const PAIRED_MAX = 4

function pairsOf({ number, name, counted, unique }: PairType, byType: string[][]): Shingle[] {
  const of = byType[pieceTypes[counted].number]?.slice(0, PAIRED_MAX) ?? []
  const others = byType[pieceTypes[unique].number]?.slice(0, PAIRED_MAX) ?? []
  return of.flatMap((own) =>
    others.map((other) => ({
      type: number,
      name,
      hash: hexOf(shingleHash(number, `${own} ${other}`)),
      of: own,
    })),
  )
}
