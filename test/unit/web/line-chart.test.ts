import { expect, test } from 'vitest'
import { lineChart, type LineChartOptions } from '../../../src/web/pages/line-chart.ts'

const from = new Date('2026-11-23T12:00:00Z')
const at = (minutes: number) => new Date(from.getTime() + minutes * 60_000)
const options: LineChartOptions = {
  ...{
    id: 'c',
    title: 'T',
    unit: 'per minute',
    format: String,
    formatShort: String,
    from,
    stepMs: 60_000,
  },
  ...{ language: 'en', labelMs: 120_000, marks: [], listed: [] },
  lines: [{ name: 'api', values: [1, 2, undefined, 4], average: 2.3, maximum: 4 }],
}

test('a line has a gap where nothing is known, and a lone value is a dot', () => {
  const [path] = lineChart(options).paths
  expect(path?.d.match(/M/g)).toHaveLength(2)
  expect(path?.d).toMatch(/^M[\d. ]+L[\d. ]+M[\d. ]+m-2 0h4$/)
})

test('the highest value is below the highest grid line, and zero is the base', () => {
  const { lines } = lineChart(options)
  expect(lines.map(({ text }) => text)).toEqual(['0', '2', '4'])
  expect(lines[0]?.isBase).toBe(true)
})

test('small values get small steps', () => {
  const values = [0.01, 0.02]
  const small = { name: 'cpu', values, average: 0.015, maximum: 0.02 }
  const { lines } = lineChart({
    ...options,
    formatShort: (value) => value.toFixed(2),
    lines: [small],
  })
  expect(lines.map(({ text }) => text)).toEqual(['0.00', '0.01', '0.02'])
})

test('large values have grid lines that are round in their unit', () => {
  const ofTimes = (largest: number) =>
    lineChart({
      ...options,
      rounds: [60, 120, 600],
      lines: [{ name: 'age', values: [largest], average: largest, maximum: largest }],
    }).lines.map(({ text }) => text)
  expect(ofTimes(300)).toEqual(['0', '120', '240', '360'])
  expect(ofTimes(60)).toEqual(['0', '20', '40', '60'])
  expect(ofTimes(9_000)).toEqual(['0', '5000', '10000'])
})

test('the last known value is the present one', () => {
  const values = [7, 5, undefined]
  const { legend } = lineChart({
    ...options,
    lines: [{ ...options.lines[0], name: 'x', values, average: 6, maximum: 9 }],
  })
  expect(legend).toEqual([{ name: 'x', tone: 'one', now: '5', average: '6', maximum: '9' }])
})

test('a range leads to what is behind it, and is listed with its figures', () => {
  const listed = [
    { from: at(0), to: at(2), values: [1.5], href: '/reports' },
    { from: at(2), to: at(4), values: [undefined] },
  ]
  const { links, rows, plot } = lineChart({ ...options, listed })
  expect(links).toEqual([
    { x: plot.x, width: plot.width / 2, href: '/reports', text: '23 Nov, 12:00: api 1.5' },
  ])
  expect(rows.map(({ when, values }) => [when, ...values])).toEqual([
    ['23 Nov, 12:00', '1.5'],
    ['23 Nov, 12:02', '–'],
  ])
})

test('an event is a line at its time, and full hours are labeled', () => {
  const marks = [{ at: at(2), text: 'Model 3' }]
  const { marks: drawn, labels, plot } = lineChart({ ...options, marks })
  expect(drawn).toEqual([{ x: plot.x + plot.width / 2, text: 'Model 3' }])
  expect(labels.map(({ text }) => text)).toEqual(['12:02'])
})

test('without any value there is no line', () => {
  const lines = [{ name: 'x', values: [undefined], average: undefined, maximum: undefined }]
  expect(lineChart({ ...options, lines })).toMatchObject({ isEmpty: true, paths: [] })
})
