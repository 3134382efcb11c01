import { expect, test } from 'vitest'
import {
  decayed,
  isSignedUp,
  PROVEN_KARMA_MIN,
  SLOW_DAYS,
  sourceId,
  sourcesAtLeast,
} from '../../../../src/verdict/reputation/detail.ts'
import {
  explainReputation,
  type Reputation,
  reputationAt,
} from '../../../../src/verdict/reputation/reputation.ts'
import { type Folded, foldPieces, type Piece } from '../../../../src/verdict/reputation/fold.ts'
import {
  forwardedADay,
  freshKarma,
  karmaOf,
  withEvent,
} from '../../../../src/verdict/reputation/karma.ts'
import { judgeCandidate } from '../../../../src/verdict/lists/judge-candidate.ts'
import { readDocument } from '../../../support/documents.ts'
import { inEnglish } from '../../../../src/texts/phrases.ts'

const start = new Date('2026-11-20T12:00:00Z')
const later = (days: number) => new Date(start.getTime() + days * 86_400_000)
const address = { kind: 'address', name: '192.0.2.7' } as const

/** Returns the evidence of fully trusted reporters and of many newcomers. */
function said(by: {
  reporters: number
  times?: number
  newcomers?: number
  signedUp?: number
  side?: 'good'
  karma?: number
}) {
  const { reporters, times = 1, newcomers = 0, signedUp = 0, side, karma: own = 1 } = by
  const piece = (source: number, karma: number): Piece => ({
    ...{ source, karma, at: start.getTime() },
    ...(side ? { good: 1, bad: 0 } : { good: 0, bad: 1 }),
  })
  return foldPieces(
    undefined,
    address,
    [
      ...Array.from({ length: reporters * times }, (_, at) => piece(at % reporters, own)),
      ...Array.from({ length: newcomers }, (_, at) => piece(1_000 + at, 0.2)),
      ...Array.from({ length: signedUp * times }, (_, at) => {
        return piece(sourceId(at % signedUp, false), 0.9)
      }),
    ],
    start,
  )
}

const flagsAt = ({ base }: Folded, days: number): Reputation['flags'] =>
  reputationAt(base, later(days)).flags

test.for([0, 0.001, 1, 2.9])(
  'six agreeing reporters make it certain, also %d days later',
  (days) => {
    expect(flagsAt(said({ reporters: 6 }), days)).toContain('listed')
    expect(flagsAt(said({ reporters: 6, side: 'good' }), days)).toContain('welcome')
  },
)

test('five agreeing reporters never do, not even with newcomers', () => {
  for (const newcomers of [0, 1_000]) {
    expect(flagsAt(said({ reporters: 5, newcomers }), 0)).toEqual(['new'])
  }
  expect(flagsAt(said({ reporters: 6 }), 3.1)).toEqual(['new'])
})

test('proven accounts from sign-up have a campaign doubted, but nothing listed or welcome', () => {
  for (const signedUp of [3, 30, 1_000]) {
    const ring = said({ reporters: 0, signedUp, times: 10 })
    const reputation = reputationAt(ring.base, start)
    const { score, flags } = reputation
    expect(flags).toEqual(['new'])
    const campaign = reputationAt({ ...ring.base, kind: 'campaign' }, start)
    expect(campaign.weight).toBeGreaterThanOrEqual(2.5)
    // The rules about addresses, authors and domains begin at −0.5.
    expect(score).toBeGreaterThan(-0.5)
    expect(judged(ring)).toBe('few reporters')
    const explained = { subject: address, reputation, volume: undefined }
    const why = explainReputation(explained, ring.detail, start)
    expect(inEnglish(why)).toContain('Together they count 2.5 at most')
    const welcomed = said({ reporters: 0, signedUp, times: 10, side: 'good' })
    expect(flagsAt(welcomed, 0)).toEqual(['new'])
  }
  const both = said({ reporters: 32, signedUp: 1_000, times: 10 })
  expect(both.detail.sources.filter(isSignedUp)).toEqual([])
  expect(both.base.bad).toBeGreaterThan(40)
})

test.for([
  [0.2, false, 20],
  [0.5, false, 160],
  [0, false, 5],
  [0.3, true, 40],
  [0.5, true, undefined],
] as const)('at karma %d, vouched %s, %s reports a day are forwarded', ([karma, is, count]) => {
  expect(forwardedADay(karma, is)).toBe(count)
})

test('the explanation has the constants that are used', () => {
  const { base, detail } = said({ reporters: 6 })
  const explained = { subject: base, reputation: reputationAt(base, start), volume: undefined }
  const text = inEnglish(explainReputation(explained, detail, start))
  expect(text).toContain('at a score of ±0.65 with evidence of 5.6. That')
  expect(text).toContain('of 6 fully trusted reporters after 3 days')
})

/** Returns the number of reporters in the list entry for an address, or why it is not listed. */
function judged({ base }: Folded, days = 0) {
  const at = later(days)
  const { score, weight, flags } = reputationAt(base, at)
  const independentReporters = sourcesAtLeast(decayed(base.bad, days, SLOW_DAYS))
  const candidate = { ...address, score: -score, weight, independentReporters, flags }
  const judgment = judgeCandidate({ ...candidate, lastSeen: start }, undefined, {
    ...{ now: at, own: [], isExempted: false },
  })
  return typeof judgment === 'string' ? judgment : judgment.reportersAtLeast
}

test('six reporters can have an address listed, also an hour later', () => {
  const six = said({ reporters: 6, times: 4 })
  expect([judged(six), judged(six, 1 / 24)]).toEqual([6, 6])
})

test('nine reporters who report it once have it listed for four days', () => {
  const nine = said({ reporters: 9 })
  expect([judged(nine), judged(nine, 4), judged(said({ reporters: 8 }))]).toEqual([
    ...[6, 6, 'little weight'],
  ])
})

const documented = readDocument('docs/operators/lists.md')
  .text.split('\n')
  .filter((line) => /^\| \d+ \|/.test(line))
  .map((line) => [...line.matchAll(/\d+/g)].map(Number))

test('the document states the numbers of reporters that a listing takes', () => {
  expect(documented.length).toBeGreaterThan(3)
  for (const [times = 0, ...stated] of documented) {
    const counts = [1, 0.8, 0.6].map((karma) => {
      return range(1, 40).find((reporters) => judged(said({ reporters, times, karma })) === 6)
    })
    expect(stated, `${times} reports of each`).toEqual(counts)
  }
})

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n)

test('five reporters never have it listed, however often they and all newcomers report it', () => {
  expect(judged(said({ reporters: 5, times: 2_000, newcomers: 500 }))).toBe('few reporters')
})

test('six days of agreement in a row prove a newcomer, five do not', () => {
  const after = (days: number) =>
    Array.from({ length: days }, (_, day) => day).reduce(
      (state, day) => withEvent(state, 'agreement', later(day)),
      freshKarma(false),
    )
  expect(karmaOf(after(0), start)).toBeCloseTo(0.2, 10)
  expect(karmaOf(after(5), later(4))).toBeLessThan(PROVEN_KARMA_MIN)
  expect(karmaOf(after(6), later(5.5))).toBeGreaterThanOrEqual(PROVEN_KARMA_MIN)
})
