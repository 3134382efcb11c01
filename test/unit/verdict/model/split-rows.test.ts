import { expect, test } from 'vitest'
import { longText, sharingKeys } from '../../../support/fingerprints.ts'
import {
  groupCampaigns,
  labelOf,
  splitKinds,
  splitRows,
} from '../../../../src/verdict/model/training.ts'

const rows = Array.from({ length: 600 }, (_, n) => ({
  at: (n * 7919) % 1_000,
  campaign: `campaign ${n % 90}`,
}))

test.for(splitKinds)('by %s, no campaign is in two parts', (kind) => {
  const { train, test: measured, leftOut } = splitRows(rows, kind, 1)
  const parts = [train, measured].map((part) => new Set(part.map((r) => r.campaign)))
  for (const [at, part] of parts.entries()) {
    for (const other of parts.slice(at + 1)) expect(part.isDisjointFrom(other)).toBe(true)
  }
  expect(train.length + measured.length + leftOut).toBe(rows.length)
  expect(train.length).toBeGreaterThan(0)
})

test('by time, no evaluated row is older than a training row', () => {
  const single = rows.map((row, n) => ({ ...row, campaign: `its own ${n}` }))
  const { train, test: measured, leftOut } = splitRows(single, 'time', 1)
  const oldest = (part: typeof rows) => Math.min(...part.map(({ at }) => at))
  const newest = (part: typeof rows) => Math.max(...part.map(({ at }) => at))
  expect(newest(train)).toBeLessThanOrEqual(oldest(measured))
  expect([train.length, measured.length, leftOut]).toEqual([450, 150, 0])
})

test('by campaign, added rows do not move the others', () => {
  const before = splitRows(rows, 'campaign', 5)
  const after = splitRows([...rows, { at: 1, campaign: 'another' }], 'campaign', 5)
  expect(after.train.filter((row) => row.campaign !== 'another')).toEqual(before.train)
  expect(splitRows(rows, 'campaign', 6).train).not.toEqual(before.train)
})

test('rows that share a key are of one campaign, also through a third one', () => {
  const first = longText('one')
  const second = sharingKeys(first, 1, 'two')
  const third = { ...longText('three'), text: second.text ?? '' }
  const [a, b, c, stranger] = groupCampaigns([first, second, third, longText('four')])
  expect([b, c]).toEqual([a, a])
  expect(stranger).not.toBe(a)
})

const none = { unwanted: 0, wanted: 0 }
const trusted = {
  kind: 'phishing',
  isRetracted: false,
  verdict: 'phishing',
  karma: 0.8,
  others: none,
} as const

test.for([
  ['the word of a trusted reporter', trusted, 'phishing'],
  [
    'wanted mail, by a trusted reporter',
    { ...trusted, kind: 'not-spam', verdict: 'legitimate' },
    'ham',
  ],
  ['the word of a newcomer', { ...trusted, karma: 0.1 }, undefined],
  [
    'a newcomer and one other',
    { ...trusted, karma: 0.1, others: { unwanted: 1, wanted: 0 } },
    undefined,
  ],
  [
    'a newcomer and two others',
    { ...trusted, karma: 0.1, others: { unwanted: 2, wanted: 0 } },
    'phishing',
  ],
  ['a campaign that somebody wants', { ...trusted, others: { unwanted: 9, wanted: 1 } }, undefined],
  ['what was taken back', { ...trusted, isRetracted: true }, undefined],
  ['what was judged to be legitimate', { ...trusted, verdict: 'legitimate' }, undefined],
  ['wanted mail judged to be spam', { ...trusted, kind: 'not-spam', verdict: 'spam' }, undefined],
  ['what was left undecided', { ...trusted, verdict: 'undecided' }, 'phishing'],
] as const)('%s', ([, report, label]) => {
  expect(labelOf(report)).toBe(label)
})
