import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  noSums,
  packDetail,
  saturated,
  crowdEffect,
  SOURCES_MAX,
  unpackDetail,
} from '../../../../src/verdict/reputation/detail.ts'
import {
  effectiveAt,
  type Folded,
  foldPieces,
  type Piece,
} from '../../../../src/verdict/reputation/fold.ts'
import { reputationAt, reputationScore } from '../../../../src/verdict/reputation/reputation.ts'
import { type Subject } from '../../../../src/verdict/reputation/subject.ts'

const day = 86_400_000
const now = new Date('2026-11-20T12:00:00Z')
const subject: Subject = { kind: 'link-host', name: 'shop.example' }

const bad = (source: number, at = now.getTime(), karma = 1): Piece => {
  return { source, karma, good: 0, bad: 1, at }
}
const opposite = (piece: Piece): Piece => ({ ...piece, good: -piece.good, bad: -piece.bad })
const fold = (pieces: readonly Piece[], before?: Folded, at = now) =>
  foldPieces(before, subject, pieces, at)
/** Converts a reputation to the form that the next fold reads from the database. */
const stored = ({ base, detail }: Folded): Folded => ({
  base,
  detail: unpackDetail(packDetail(detail)),
})

const anyPiece = fc
  .record({
    source: fc.integer({ min: 0, max: 20 }),
    karma: fc.constantFrom(0.2, 0.6, 1),
    isGood: fc.boolean(),
    secondsAgo: fc.integer({ min: 0, max: 20 * 86_400 }),
  })
  .map(({ source, karma, isGood, secondsAgo }): Piece => {
    const at = now.getTime() - secondsAgo * 1000
    return { source, karma, good: isGood ? 1 : 0, bad: isGood ? 0 : 1, at }
  })

test('the reversal of evidence restores the earlier state, whenever it comes', () => {
  fc.assert(
    fc.property(fc.array(anyPiece, { maxLength: 30 }), fc.array(anyPiece), (kept, taken) => {
      const before = fold(kept)
      const after = fold(taken.map(opposite), stored(fold(taken, stored(before))))
      const [one, other] = [effectiveAt(before.detail, now).all, effectiveAt(after.detail, now).all]
      for (const side of ['good', 'bad', 'recentGood', 'recentBad'] as const) {
        expect(other[side]).toBeCloseTo(one[side], 3)
      }
    }),
  )
})

test('evidence may come in any order, together or one by one', () => {
  fc.assert(
    fc.property(fc.array(anyPiece, { minLength: 1, maxLength: 40 }), (pieces) => {
      const alone = pieces.reduce<Folded | undefined>((folded, piece) => {
        return fold([piece], folded && stored(folded))
      }, undefined)
      const together = fold(pieces.toReversed())
      expect(alone?.base.bad).toBeCloseTo(together.base.bad, 3)
      expect(alone?.base.recentGood).toBeCloseTo(together.base.recentGood, 3)
    }),
  )
})

test('sums decay from the day to which they were moved', () => {
  const first = stored(fold([bad(1)]))
  const later = new Date(now.getTime() + 300 * day)
  const { base, detail } = fold([bad(2, later.getTime())], first, later)
  expect(detail.epoch).toBeGreaterThan(first.detail.epoch)
  expect(base.bad).toBeCloseTo(1 + 2 ** -10, 4)
  const back = fold([opposite(bad(1))], stored({ base, detail }), later)
  expect(back.base.bad).toBeCloseTo(1, 5)
})

test('all unproven reporters together count less than one', () => {
  const crowd = Array.from({ length: 5_000 }, (_, index) => bad(index, now.getTime(), 0.2))
  const { base, detail } = fold(crowd)
  expect(base.bad).toBeLessThanOrEqual(0.3)
  expect(detail.sources).toEqual([])
  expect(detail.days).toMatchObject([{ good: 0, bad: 0, newcomers: 5_000 }])
})

test('sources above the maximum are merged, and count', () => {
  const many = Array.from({ length: 50 }, (_, index) => bad(index))
  const { base, detail } = fold(many)
  expect(detail.sources).toHaveLength(SOURCES_MAX)
  expect(base.bad).toBeGreaterThan(SOURCES_MAX + 10)
  expect(packDetail(detail).length).toBeLessThan(1_200)
})

test.for([
  [0.5, 0.5],
  [1, 1],
  [2, 1.25],
  [1_000_000, 1.5],
  [-3, 0],
] as const)('a reporter with %d reports counts %d', ([sayings, counts]) => {
  expect(saturated(sayings)).toBeCloseTo(counts, 5)
})

test('a crowd of newcomers counts as little as one who reports often', () => {
  expect(crowdEffect(0.2)).toBeCloseTo(0.2)
  expect(crowdEffect(500)).toBeLessThanOrEqual(0.3)
})

test('few observations have little weight', () => {
  expect(reputationScore(0, 1)).toBe(-0.25)
  expect(reputationScore(0, 30)).toBeLessThan(-0.9)
  expect(reputationScore(0, 0)).toBe(0)
})

test('only single-source kinds are listed automatically; by hand, all kinds can be', () => {
  const six = Array.from({ length: 8 }, (_, index) => bad(index))
  const { base } = fold(six)
  expect(reputationAt({ ...base, kind: 'address' }, now).flags).toEqual(['listed', 'new'])
  for (const kind of ['signer', 'link-domain', 'link', 'phone'] as const) {
    expect(reputationAt({ ...base, kind }, now).flags).toEqual(['new'])
  }
  expect(reputationAt({ ...base, kind: 'signer' }, now, { mark: 'listed' }).flags).toContain(
    'listed',
  )
  expect(reputationAt({ ...base, kind: 'address' }, now, { mark: 'exempt' }).flags).toEqual([
    ...['new', 'exempt'],
  ])
  expect(reputationAt(undefined, now, { mark: 'welcome' }).flags).toEqual(['welcome'])
})

test('a subject with one report takes few bytes and can be read back', () => {
  const { detail } = fold([bad(7)])
  const bytes = packDetail(detail)
  expect(bytes.length).toBeLessThan(40)
  expect(unpackDetail(bytes)).toMatchObject({
    ...{ epoch: detail.epoch, rest: noSums(), newcomers: noSums() },
    sources: [{ id: 7, good: 0 }],
  })
  expect(() => unpackDetail(Buffer.from([9, 9]))).toThrow(RangeError)
})
