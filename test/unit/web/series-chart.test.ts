import path from 'node:path'
import { Eta } from 'eta'
import { expect, test } from 'vitest'
import { textsIn } from '../../../src/texts/messages.ts'
import { seriesChart, type ChartOptions } from '../../../src/web/pages/series-chart.ts'

type Key = 'spam' | 'ham'
const now = new Date('2026-11-20T14:23:00Z')
const spam = { key: 'spam', name: 'Spam', tone: 'bad' } as const
const ham = { key: 'ham', name: 'Ham', tone: 'good' } as const
const options: ChartOptions<Key> = {
  id: 'c',
  title: 'Counts',
  period: 'day',
  series: [spam, ham],
  now,
}
const day = (date: number, counts: Partial<Record<Key, number>>) => ({
  startsAt: new Date(Date.UTC(2026, 10, date)),
  spam: 0,
  ham: 0,
  ...counts,
})

test('each day has a place, empty days too, and today is the last', () => {
  const { plot, columns, labels } = seriesChart(
    [day(7, { spam: 1 }), day(20, { spam: 1 })],
    options,
  )
  expect(columns).toHaveLength(2)
  expect(columns[0]?.x).toBe(plot.x)
  expect((columns[1]?.x ?? 0) + (columns[1]?.width ?? 0)).toBeCloseTo(plot.x + plot.width, 0)
  expect(labels.at(-1)?.text).toBe('20 Nov')
})

test('data older than the chart is left out, and future data counts as now', () => {
  const { rows, legend } = seriesChart([day(6, { spam: 9 }), day(21, { spam: 2 })], options)
  expect(rows.map(({ when, values }) => [when, ...values])).toEqual([['20 Nov', '2', '0']])
  expect(legend.map(({ total }) => total)).toEqual(['2', '0'])
})

test('a bar is as high as its count, and the grid lines are at round numbers', () => {
  const { bars, lines, plot } = seriesChart(
    [day(19, { spam: 700 }), day(20, { spam: 350 })],
    options,
  )
  expect(lines.map(({ text }) => text)).toEqual(['0', '500', '1k'])
  expect(bars[0]?.height).toBeCloseTo(plot.height * 0.7, 0)
  expect(bars[1]?.height).toBeCloseTo(plot.height * 0.35, 0)
})

test('a single count beside very many is still visible', () => {
  const { bars } = seriesChart([day(19, { spam: 1_000_000 }), day(20, { spam: 1 })], options)
  expect(bars[1]?.height).toBeGreaterThan(1)
})

test('series are side by side or stacked', () => {
  const points = [day(20, { spam: 4, ham: 2 })]
  const [left, right] = seriesChart(points, options).bars
  expect(right?.x).toBeCloseTo((left?.x ?? 0) + (left?.width ?? 0), 1)
  const [low, high] = seriesChart(points, { ...options, isStacked: true }).bars
  expect(high?.x).toBe(low?.x)
  expect((high?.y ?? 0) + (high?.height ?? 0)).toBeCloseTo(low?.y ?? 0, 1)
})

test('a negative series is drawn below the zero line', () => {
  const { bars, lines } = seriesChart([day(20, { spam: 4, ham: 2 })], {
    ...options,
    series: [spam, { ...ham, isBelow: true }],
  })
  const base = lines.find(({ isBase }) => isBase)
  expect(bars.find(({ tone }) => tone === 'good')?.y).toBe(base?.y)
  expect((bars[0]?.y ?? 0) + (bars[0]?.height ?? 0)).toBeCloseTo(base?.y ?? 0, 1)
})

test('the ten-minute chart covers a day, with hours and the change of day as labels', () => {
  const slot = { startsAt: new Date('2026-11-20T14:20:00Z'), spam: 3, ham: 0 }
  const { labels, columns, highest } = seriesChart([slot], { ...options, period: 'tenMinutes' })
  expect(labels.map(({ text }) => text)).toEqual([
    ...['15:00', '18:00', '21:00', '20 Nov', '03:00', '06:00', '09:00', '12:00'],
  ])
  expect(columns.map(({ text }) => text)).toEqual(['20 Nov, 14:20: Spam 3, Ham 0'])
  expect(highest).toEqual({ value: '3', when: '20 Nov, 14:20' })
})

test.for([
  ['nothing', []],
  ['less than nothing, while a report is taken back', [day(20, { spam: -3 })]],
] as const)('%s draws no bar', ([, points]) => {
  const chart = seriesChart(points, options)
  expect(chart.bars).toEqual([])
  expect(chart.highest).toBeUndefined()
})

test('no number is lost and nothing leaves the picture, however long the time is', () => {
  const chart = seriesChart([day(20, { spam: Number.MAX_SAFE_INTEGER })], {
    ...options,
    from: new Date(0),
  })
  const numbers = chart.bars.flatMap(({ x, y, width, height }) => [x, y, x + width, y + height])
  expect(numbers.every((value) => value >= 0 && value <= chart.width)).toBe(true)
  expect(chart.labels.length).toBeLessThan(12)
})

const views = path.join(import.meta.dirname, '../../../src/web/views')
const eta = new Eta({ views, autoEscape: true, autoTrim: [false, 'nl'] })
const draw = (points: Parameters<typeof seriesChart<Key>>[0]) =>
  eta.render('parts/series', {
    texts: textsIn('en'),
    chart: seriesChart(points, { ...options, title: 'Of <b>' }),
  })

test('the picture has a name, a text alternative and a table', () => {
  const html = draw([day(19, { spam: 1_234 }), day(20, { ham: 7 })])
  expect(html).toContain('role="img" aria-labelledby="c-title c-text"')
  expect(html).toContain('<title id="c-title">Of &lt;b&gt;</title>')
  expect(html).toMatch(/<desc id="c-text">The highest bar is 1,234 \(19 Nov\)\. Spam: 1,234\. /)
  expect(html).toMatch(/<td class="number">1,234<\/td><td class="number">0<\/td>/)
})

test('without counts there is a sentence instead of an empty picture', () => {
  expect(draw([])).toContain(textsIn('en')('chart.nothing'))
  expect(draw([])).not.toContain('role="img"')
})

test('months are calendar months, over the end of a year', () => {
  const month = (at: string, spam: number) => ({ startsAt: new Date(at), spam, ham: 0 })
  const { rows, labels, columns } = seriesChart(
    [month('2025-11-01', 1), month('2025-12-01', 2), month('2026-02-01', 3)],
    { ...options, period: 'month', from: new Date('2025-12-01'), now: new Date('2026-02-01') },
  )
  expect(rows.map(({ when, iso, values }) => [when, iso.slice(0, 10), values[0]])).toEqual([
    ['December 2025', '2025-12-01', '2'],
    ['February 2026', '2026-02-01', '3'],
  ])
  expect(labels.map(({ text }) => text)).toEqual(['Dec 25', 'Jan 26', 'Feb 26'])
  expect(columns).toHaveLength(2)
})
