import { expect, test } from 'vitest'
import { prefixes, wholePairKey } from '../../../../src/counting/keys.ts'
import { emptyHistory, packHistory } from '../../../../src/counting/packed/history.ts'
import { addCount } from '../../../../src/counting/packed/members.ts'
import { windowsOf } from '../../../../src/counting/reader.ts'
import { withLaterShingles } from '../../../../src/pieces/shingles/take-apart.ts'
import { packShingles } from '../../../../src/pieces/shingles/packed-shingles.ts'
import {
  pairTypes,
  type PieceName,
  pieceTypes,
} from '../../../../src/pieces/shingles/piece-types.ts'
import {
  type SeenCounts,
  seenDefinitions,
  seenFacts,
  type SeenKey,
  seenPieces,
  type SeenWindows,
} from '../../../../src/verdict/facts/seen-facts.ts'

/** A slot in the middle of a day. */
const SLOT = 144 * 20_000 + 72

function packed(...pieces: readonly (readonly [PieceName, number])[]) {
  return packShingles(
    pieces.map(([name, hash]) => ({
      type: pieceTypes[name].number,
      name,
      hash: hash.toString(16).padStart(16, '0'),
    })),
  )
}

test('a message with everything needs at most 55 keys', () => {
  const all = Object.values(pieceTypes).flatMap(({ name }) =>
    Array.from({ length: 8 }, (_, index): [PieceName, number] => [name, index + 1]),
  )
  const { keys, groups } = seenPieces(packed(...all), wholePairKey)
  expect(keys.length).toBe(55)
  expect(groups.length).toBe(keys.length)
})

test('a piece is looked up by its hash, its reporters and spread by keys of their pairs', () => {
  const { keys, groups } = seenPieces(packed(['author-address', 7]), wholePairKey)
  const keyOf = (pair: string) =>
    wholePairKey(pairTypes.find(({ name }) => name === pair)?.number ?? 0, 7n)
  const pairs = ['author-reporters', 'author-networks', 'author-countries']
  expect(keys).toEqual([7n, ...pairs.map(keyOf)])
  expect(groups.map(({ counts }) => counts)).toEqual([
    ...['piece', 'reporters', 'networks', 'countries'],
  ])
  expect(groups.every(({ group }) => group === 'author')).toBe(true)
})

test('only the first link domain has a spread', () => {
  const { groups } = seenPieces(
    packed(['link-organization', 1], ['link-organization', 2]),
    wholePairKey,
  )
  expect(groups.filter(({ counts }) => counts === 'countries')).toHaveLength(1)
})

test('the spread of a piece is the larger of both counts', () => {
  const counts = ['reporters', 'networks', 'countries'] as const
  const both = { ...windows('reports', { unique: 3 }), ...windows('checks', { unique: 12 }) }
  const keys = counts.map((one): SeenKey => ({ group: 'campaign', counts: one }))
  expect(seenFacts(keys, [both, both, windows('reports', { unique: 4 })])).toEqual({
    campaign_reporters_weeks: 3,
    campaign_recipients_day: 12,
    campaign_networks_day: 12,
    campaign_countries_day: 4,
  })
})

test('pieces behind pairs are found, and uninformative ones skipped', () => {
  const shingles = withLaterShingles(packed(['origin-ip', 3], ['header-names', 4]), {
    reporterId: 'r',
    originAsn: 64_500,
  })
  const groups = seenPieces(shingles, wholePairKey).groups.map(({ group }) => group)
  expect(groups).toEqual(['origin_ip', 'origin_ip', 'origin_as', 'origin_as'])
})

const none: SeenCounts = { ham: 0, spam: 0, complaint: 0, redeemed: 0, unique: 0 }
const text: SeenKey = { group: 'text', counts: 'piece' }

function windows(prefix: 'reports' | 'checks', counts: Partial<SeenCounts>): SeenWindows {
  const its = { ...none, ...counts }
  const shape = { periods: 0, peak: 0 }
  return { [prefix]: { hour: none, day: its, twoWeeks: its, shape } }
}

test('of several pieces of a group the highest count is used', () => {
  const known = [windows('reports', { complaint: 2 }), windows('reports', { complaint: 9 })]
  expect(seenFacts([text, text], known)).toMatchObject({
    text_complaints_day: 9,
    text_complaints_weeks: 9,
  })
})

test('our own verdicts on traffic count as volume, and in the share of spam alone', () => {
  const facts = seenFacts([text], [windows('checks', { spam: 400, ham: 100, complaint: 3 })])
  expect(facts).toEqual({
    text_copies_day: 500,
    text_copies_weeks: 500,
    text_checked_spam_share: 0.8,
  })
})

test.for([
  ['99 of 100 from one author', { spam: 99, ham: 1 }, 0.99],
  ['the only message is little', { spam: 1 }, 0.05],
  ['wanted mail has none', { ham: 500 }, undefined],
] as const)('the share of spam among checked messages: %s', ([, counts, share]) => {
  const author: SeenKey = { group: 'author', counts: 'piece' }
  expect(seenFacts([author], [windows('checks', counts)]).author_checked_spam_share).toBe(share)
})

test.for([
  ['a machine that always sends', Array.from({ length: 144 }, () => 5), 144, 0.007],
  ['a burst', [300], 1, 1],
  ['a single message', [1], 1, 0.05],
  ['an office', [2, 9, 4, 0, 0, 6, 3], 5, 0.375],
] as const)('the shape of a day: %s', ([, messages, periods, peak]) => {
  const history = emptyHistory()
  for (const [ago, ham] of messages.entries()) {
    addCount(history.slots, { period: SLOT - ago, prefix: prefixes.indexOf('checks') }, 0, ham)
    addCount(history.slots, { period: SLOT - ago, prefix: prefixes.indexOf('reports') }, 0, 50)
  }
  const ip: SeenKey = { group: 'origin_ip', counts: 'piece' }
  expect(seenFacts([ip], [windowsOf(packHistory(history, SLOT), SLOT)])).toMatchObject({
    origin_ip_busy_periods_day: periods,
    origin_ip_peak_share_day: peak,
  })
})

test('the reporters of a piece do not count as complaints', () => {
  const reporters: SeenKey = { group: 'text', counts: 'reporters' }
  const facts = seenFacts([reporters], [windows('reports', { unique: 4, complaint: 50 })])
  expect(facts).toEqual({ text_reporters_weeks: 4, text_recipients_day: 4 })
})

test.for([
  ['one complaint blames little', { complaint: 1 }, 0.167],
  ['many blame much', { complaint: 95 }, 0.95],
  ['those who wanted it speak for it', { complaint: 1, ham: 4 }, -0.3],
  ['as many on both sides say nothing', { complaint: 10, ham: 10 }, 0],
] as const)('%s', ([, counts, blame]) => {
  const facts = seenFacts([text], [windows('reports', counts)])
  expect(facts.text_blame).toBeCloseTo(blame, 3)
})

test('complaints are a share of all sightings', () => {
  const both = { ...windows('reports', { complaint: 10 }), ...windows('checks', { ham: 970 }) }
  expect(seenFacts([text], [both]).text_complaint_share).toBeCloseTo(0.01, 3)
})

test('without sightings there are no facts', () => {
  expect(seenFacts([text, text], [{}, undefined])).toEqual({})
})

test('every numeric fact has its definition', () => {
  const names = new Set(seenDefinitions.map(({ name }) => name))
  const groups = [text, { group: 'link', counts: 'reporters' }] satisfies SeenKey[]
  const both = { ...windows('reports', { complaint: 1, ham: 1, spam: 1, unique: 1 }) }
  const made = seenFacts(groups, [{ ...both, ...windows('checks', { ham: 1 }) }, both])
  expect(Object.keys(made).filter((name) => !names.has(name))).toEqual([])
})
