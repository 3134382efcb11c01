import { expect, test } from 'vitest'
import { textsIn } from '../../../src/texts/messages.ts'
import { countGraph, type CountOptions } from '../../../src/web/pages/count-graph.ts'

type Key = 'spam' | 'ham'
const now = new Date('2026-11-20T14:23:00Z')
const spam = { key: 'spam', name: 'Spam', tone: 'bad' } as const
const ham = { key: 'ham', name: 'Ham', tone: 'good' } as const
const options: CountOptions<Key> = {
  ...{ id: 'c', title: 'Counts', period: 'day', series: [spam, ham], now },
  ...{ language: 'en', texts: textsIn('en') },
}
const day = (date: number, counts: Partial<Record<Key, number>>) => ({
  startsAt: new Date(Date.UTC(2026, 10, date)),
  spam: 0,
  ham: 0,
  ...counts,
})
/** The places of bars: left, top, width and height, in steps of 20 and of a thousand in all. */
const barsOf = (area = '') =>
  [...area.matchAll(/M([\d.]+) ([\d.]+)h([\d.]+)v([\d.]+)/g)].map(([, ...numbers]) =>
    numbers.map(Number),
  )

test('each day has a place, empty days too, and today is the last', () => {
  const { steps, sets, labels } = countGraph([day(7, { spam: 1 }), day(20, { spam: 1 })], options)
  expect(steps).toBe(14)
  expect(sets.at(-1)?.values).toBe('1|0|0|0|0|0|0|0|0|0|0|0|0|1')
  expect(labels.at(-1)?.text).toBe('20 Nov')
})

test('data older than the graph is left out, and future data counts as now', () => {
  const { rows, legend } = countGraph([day(6, { spam: 9 }), day(21, { spam: 2 })], options)
  expect(rows.map(({ when, values }) => [when, ...values])).toEqual([['20 Nov', '2', '0']])
  expect(legend.rows.map(({ figures }) => figures[0])).toEqual(['2', '0'])
})

test('a bar is as high as its count, and the grid lines are at round numbers', () => {
  const { sets, lines } = countGraph([day(19, { spam: 700 }), day(20, { spam: 350 })], options)
  expect(lines.map(({ text }) => text)).toEqual(['0', '500', '1,000'])
  expect(barsOf(sets.at(-1)?.area).map(([, , , height]) => height)).toEqual([700, 350])
})

test('a single count beside very many is still visible', () => {
  const { sets } = countGraph([day(19, { spam: 1_000_000 }), day(20, { spam: 1 })], options)
  expect(barsOf(sets.at(-1)?.area)[1]?.[3]).toBeGreaterThan(5)
})

test('series are side by side, stacked with their sum, or below the zero line', () => {
  const points = [day(20, { spam: 4, ham: 2 })]
  const bars = (chosen: Partial<CountOptions<Key>>) => {
    const { sets, legend } = countGraph(points, { ...options, ...chosen })
    const [[left = 0, top = 0, width, height = 0] = [], [left2, top2, , height2 = 0] = []] = sets
      .toReversed()
      .flatMap(({ area }) => barsOf(area))
    return { left, top, width, height, left2, top2, height2, sum: legend.sum?.figures[0] }
  }
  const beside = bars({})
  expect(beside.left2).toBe(beside.left + (beside.width ?? 0))
  expect(beside.sum).toBeUndefined()
  const stacked = bars({ isStacked: true })
  expect(stacked.left2).toBe(stacked.left)
  expect((stacked.top2 ?? 0) + stacked.height2).toBe(stacked.top)
  expect(stacked.sum).toBe('6')
  const apart = bars({ series: [spam, { ...ham, isBelow: true }] })
  expect(apart.top2).toBe(apart.top + apart.height)
})

test.for([
  ['nothing', []],
  ['less than nothing, while a report is taken back', [day(20, { spam: -3 })]],
] as const)('%s draws no bar', ([, points]) => {
  const { sets, isEmpty } = countGraph(points, options)
  expect(sets.map(({ area }) => area)).toEqual(['', ''])
  expect(isEmpty).toBe(true)
})

test('no number is lost and nothing leaves the picture, however long the time is', () => {
  const points = [day(20, { spam: Number.MAX_SAFE_INTEGER })]
  const { sets, steps, labels } = countGraph(points, { ...options, from: new Date(0) })
  const [[left = -1, top = -1, width = 0, height = 0] = []] = barsOf(sets.at(-1)?.area)
  expect([left >= 0, left + width <= steps * 20, top >= 0, top + height <= 1_001]).toEqual([
    ...[true, true, true, true],
  ])
  expect(labels.length).toBeLessThan(12)
})

test('months are calendar months, over the end of a year', () => {
  const month = (at: string, count: number) => ({ startsAt: new Date(at), spam: count, ham: 0 })
  const { rows, labels, steps } = countGraph(
    [month('2025-11-01', 1), month('2025-12-01', 2), month('2026-02-01', 3)],
    { ...options, period: 'month', from: new Date('2025-12-01'), now: new Date('2026-02-01') },
  )
  expect(rows.map(({ when, iso, values }) => [when, iso.slice(0, 10), values[0]])).toEqual([
    ['December 2025', '2025-12-01', '2'],
    ['February 2026', '2026-02-01', '3'],
  ])
  expect(labels.map(({ text }) => text)).toEqual(['Dec 25', 'Jan 26', 'Feb 26'])
  expect(steps).toBe(3)
})
