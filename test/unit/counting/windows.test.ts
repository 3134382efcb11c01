import { expect, test } from 'vitest'
import { clearHistory, emptyHistory, packHistory } from '../../../src/counting/packed/history.ts'
import { dayOf, SLOT_MS, slotOf } from '../../../src/counting/keys.ts'
import { addCount } from '../../../src/counting/packed/members.ts'
import { seriesOf, windowNames, windowsOf } from '../../../src/counting/reader.ts'

const now = slotOf(new Date('2026-11-20T12:34:56Z'))
const reports = 0
const SPAM = 1

test.for([
  ['the present ten minutes are in every window', 0, 'tenMinutes hour day today twoWeeks'],
  ['the window of ten minutes takes the bucket it cuts', 1, 'tenMinutes hour day today twoWeeks'],
  ['and none before it', 2, 'hour day today twoWeeks'],
  ['an hour ago', 6, 'hour day today twoWeeks'],
  ['over an hour ago', 7, 'day today twoWeeks'],
  ['at midnight', 75, 'day today twoWeeks'],
  ['before midnight', 76, 'day twoWeeks'],
  ['a day ago', 144, 'day twoWeeks'],
  ['over a day ago', 145, 'twoWeeks'],
  ['the first of fourteen days', 75 + 13 * 144, 'twoWeeks'],
  ['the day before them', 76 + 13 * 144, ''],
  ['a clock that is ahead means now', -3, 'tenMinutes hour day today twoWeeks'],
] as const)('%s', ([, ago, expected]) => {
  const history = emptyHistory()
  addCount(history.slots, { period: now - ago, prefix: reports }, SPAM, 3)
  addCount(history.days, { period: dayOf(now - ago), prefix: reports }, SPAM, 3)
  const windows = windowsOf(packHistory(history, now), now).reports
  const filled = windowNames.filter((name) => windows?.[name].spam === 3)
  expect(filled.join(' ')).toBe(expected)
})

test('prefixes are kept apart, and keys without live counts are absent', () => {
  const history = emptyHistory()
  addCount(history.days, { period: dayOf(now), prefix: 1 }, 0, 7)
  const windows = windowsOf(packHistory(history, now), now)
  expect(windows).toEqual({
    checks: expect.objectContaining({
      today: { ham: 7, spam: 0, complaint: 0, redeemed: 0, unique: 0 },
      hour: { ham: 0, spam: 0, complaint: 0, redeemed: 0, unique: 0 },
    }) as unknown,
  })
})

test('a series for charts is ordered by time and has no empty buckets', () => {
  const history = emptyHistory()
  for (const ago of [5, 0, 143])
    addCount(history.slots, { period: now - ago, prefix: 0 }, 2, ago + 1)
  addCount(history.slots, { period: now, prefix: 1 }, 2, 99)
  const { tenMinutes, days } = seriesOf(packHistory(history, now), 'reports', now)
  expect(tenMinutes.map(({ startsAt, complaint }) => [startsAt.getTime(), complaint])).toEqual(
    [143, 5, 0].map((ago) => [(now - ago) * SLOT_MS, ago + 1]),
  )
  expect(days).toEqual([])
})

test('an empty history has no counts', () => {
  const history = emptyHistory()
  clearHistory(history)
  expect(windowsOf(packHistory(history, now), now)).toEqual({})
})

test('counts of zero and expired counts are not packed', () => {
  const history = emptyHistory()
  const empty = packHistory(history, now).length
  addCount(history.slots, { period: now, prefix: 0 }, SPAM, 1)
  addCount(history.slots, { period: now, prefix: 0 }, SPAM, -1)
  addCount(history.slots, { period: now - 200, prefix: 0 }, SPAM, 1)
  addCount(history.days, { period: dayOf(now) - 20, prefix: 0 }, SPAM, 1)
  expect(packHistory(history, now)).toHaveLength(empty)
})

test('a key with 24 buckets takes four bytes per bucket', () => {
  const history = emptyHistory()
  for (let ago = 0; ago < 12; ago++) {
    addCount(history.slots, { period: now - ago * 7, prefix: 0 }, SPAM, ago + 1)
    addCount(history.days, { period: dayOf(now) - ago, prefix: 0 }, SPAM, ago + 1)
  }
  expect(packHistory(history, now).length).toBeLessThan(24 * 4)
})
