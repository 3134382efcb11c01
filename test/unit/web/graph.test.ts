import path from 'node:path'
import { Eta } from 'eta'
import { expect, test } from 'vitest'
import { textsIn } from '../../../src/texts/messages.ts'
import { graph, type GraphOptions, type GraphSeries } from '../../../src/web/pages/graph.ts'
import { equalSteps } from '../../../src/web/pages/graph-time.ts'
import { unitOf } from '../../../src/web/admin/graph-units.ts'

const from = new Date('2026-11-23T12:00:00Z')
const at = (minutes: number) => new Date(from.getTime() + minutes * 60_000)
const series = (name: string, values: GraphSeries['values']): GraphSeries => {
  return { name, tone: 'one', values, figures: ['9'] }
}
const options: GraphOptions = {
  ...{ id: 'g', title: 'T', unit: 'per minute', shape: 'lines', format: String, least: 1e-3 },
  ...{ time: equalSteps(from, 60_000, 4), heads: ['Total'], listed: [], language: 'en' },
  series: [series('api', [1, 2, undefined, 4])],
}

test('a line has a gap where nothing is known, and a lone value is a dash', () => {
  expect(graph(options).sets[0]?.line).toBe('M10 750l20 -250M65 0h10')
})

test('the areas of parts lie on each other, and their sum fits below the highest grid line', () => {
  const parts = [series('api', [1, 2, 0, 4]), series('form', [3, 0, 0, 6])]
  const { lines, sets, sums } = graph({
    ...{ ...options, shape: 'areas', series: parts },
    sum: { name: 'Total', figures: [] },
  })
  expect(lines.map(({ text }) => text)).toEqual(['0', '5', '10'])
  expect(sums).toEqual({ name: 'Total', values: '4|2|0|10' })
  // The sum is drawn first, and the lower area over it. A tenth of the height is 100.
  expect(sets.map(({ name, area }) => [name, area])).toEqual([
    ['form', 'M0 600h10l20 200 20 200 20 -1000h10V1000h-80z'],
    ['api', 'M0 900h10l20 -100 20 200 20 -400h10V1000h-80z'],
  ])
})

test('an area has a gap where nothing is known', () => {
  const [set] = graph({ ...options, shape: 'areas' }).sets
  expect(set?.area).toBe('M0 750h10l20 -250h10V1000h-40zM60 0h10h10V1000h-20z')
})

test('the cursor reads what the axis and the legend say, in the same words', () => {
  const { format } = unitOf('time', 4e7, 'en')
  const { sets, lines } = graph({ ...options, format, series: [series('age', [0.04, 3, 90, 4e7])] })
  expect(sets[0]?.values).toBe('40 ms|3 s|1 min 30 s|462 d 23 h')
  expect(lines[0]?.text).toBe('0 s')
})

test('numbers have prefixes of SI, and events are counted in each step', () => {
  const { format } = unitOf('items', 0, 'en')
  expect([0.5, 999, 1_234, 12_345, 4e7, 1.2e9].map(format)).toEqual([
    ...['0.5', '999', '1,234', '12.3 k', '40 M', '1.2 G'],
  ])
  const named = (stepMs: number) => unitOf('events', stepMs, 'en').name
  expect([20_000, 600_000, 3_600_000, 2 * 86_400_000].map(named)).toEqual([
    ...['in each 20\u00a0s', 'in each 10\u00a0min', 'in each hour', 'in each 2 days'],
  ])
  const bytes = unitOf('bytes', 0, 'en').format
  expect([999, 2e8, 4e9].map(bytes)).toEqual(['999 B', '200 MB', '4 GB'])
})

test('grid lines of times are round in their unit', () => {
  const { format, rounds } = unitOf('time', 0, 'en')
  const ofTimes = (largest: number) =>
    graph({ ...options, format, rounds, series: [series('age', [largest])] }).lines.map(
      ({ text }) => text,
    )
  expect(ofTimes(300)).toEqual(['0 s', '2 min', '4 min', '6 min'])
  expect(ofTimes(9_000)).toEqual(['0 s', '1 h', '2 h', '3 h'])
})

test('times of day are in UTC, and a graph of days has none', () => {
  const hours = graph(options)
  expect([hours.zone, hours.times.split('|')[0]]).toEqual(['UTC', expect.stringMatching(/ UTC$/)])
  const first = new Date('2026-11-01T00:00:00Z')
  const days = graph({ ...options, time: equalSteps(first, 86_400_000, 4) })
  expect([days.zone, days.times.split('|')[0]]).toEqual(['', '1 Nov'])
})

test('a range leads to what is behind it, and is listed with its figures', () => {
  const listed = [
    { from: at(0), to: at(2), values: [1.5], href: '/reports' },
    { from: at(2), to: at(4), values: [undefined] },
  ]
  const { links, rows } = graph({ ...options, listed })
  expect(links).toEqual([{ x: 0, width: 50, href: '/reports', text: '23 Nov, 12:00 UTC: api 1.5' }])
  expect(rows.map(({ when, values }) => [when, ...values])).toEqual([
    ['23 Nov, 12:00', '1.5'],
    ['23 Nov, 12:02', '–'],
  ])
})

test('an event is at its time, and the cursor tells of it at its step', () => {
  const { marks } = graph({ ...options, marks: [{ at: at(2.5), text: 'Model 3' }] })
  expect(marks).toEqual([{ x: 62.5, step: 2, text: 'Model 3' }])
})

test('ten minutes and a year both have a few labels at round times', () => {
  const labels = (stepMs: number, count: number) =>
    graph({ ...options, time: equalSteps(from, stepMs, count) }).labels.map(({ text }) => text)
  expect(labels(20_000, 30)).toEqual(['12:02', '12:04', '12:06', '12:08'])
  expect(labels(600_000, 144)).toEqual([
    ...['15:00', '18:00', '21:00', '24 Nov', '03:00', '06:00', '09:00'],
  ])
  expect(labels(2 * 86_400_000, 182)).toEqual(['Feb', 'Apr', 'Jun', 'Aug', 'Oct'])
})

test('what is usual raises the scale, and is read at the cursor as a range', () => {
  const band = { name: 'usual', low: [1, 2, 3, undefined], high: [5, 20, 9, undefined] }
  const { band: drawn, lines } = graph({ ...options, shape: 'areas', band })
  expect(drawn).toMatchObject({ name: 'usual', values: '1 – 5|2 – 20|3 – 9|' })
  expect(lines.at(-1)?.text).toBe('20')
})

const views = path.join(import.meta.dirname, '../../../src/web/views')
const eta = new Eta({ views, autoEscape: true, autoTrim: [false, 'nl'] })
const draw = (values: GraphSeries['values']) =>
  eta.render('parts/graph', {
    texts: textsIn('en'),
    show: (text: string) => text,
    chart: graph({ ...options, title: 'Of <b>', series: [series('<i>', values)] }),
  })

test('the picture has a name, a text alternative and a table', () => {
  const html = draw([1, 2, 3, 4])
  expect(html).toContain('role="img" aria-labelledby="g-caption g-text"')
  expect(html).toContain('Of &lt;b&gt;')
  expect(html).toMatch(/<desc id="g-text"> &lt;i&gt;: Total 9\.<\/desc>/)
  expect(html).toContain('<table class="legend">')
})

test('without any value there is a sentence instead of an empty picture', () => {
  expect(draw([undefined, 0, 0, 0])).toContain(textsIn('en')('chart.nothing'))
  expect(draw([undefined])).not.toContain('role="img"')
})
