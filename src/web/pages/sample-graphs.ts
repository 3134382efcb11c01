import { DAY_MS, HOUR_MS } from '../../durations.ts'
import { textsIn } from '../../texts/messages.ts'
import { countGraph } from './count-graph.ts'
import { equalSteps } from './graph-time.ts'
import { graph } from './graph.ts'

const from = new Date('2026-11-29T00:00:00Z')
const hours = Array.from({ length: 24 }, (_, hour) => hour)
const wave = (hour: number) => 40 + Math.round(20 * Math.sin((hour - 8) / 4))

/** Graphs of invented values for the style guide: of parts, of counts, and a small one. */
export function sampleGraphs() {
  const time = equalSteps(from, HOUR_MS, hours.length)
  const [mail, form] = [hours.map(wave), hours.map((hour) => Math.round(wave(hour + 3) / 2))]
  const common = { unit: 'per hour', format: String, least: 1, time, listed: [] }
  const marks = [{ at: new Date(from.getTime() + 15.5 * HOUR_MS), text: 'Version 1.2.3' }]
  const counts = hours.slice(0, 14).map((day) => {
    return { startsAt: new Date(from.getTime() - day * DAY_MS), spam: wave(day), good: day % 5 }
  })
  return {
    areas: graph({
      ...{ ...common, id: 'sample-areas', title: 'Areas that add up', shape: 'areas', marks },
      ...{ heads: ['Total'], sum: { name: 'Together', figures: ['1,438'] }, language: 'en' },
      series: [
        { name: 'mail', tone: 'one', values: mail, figures: ['958'] },
        { name: 'form', tone: 'two', values: form, figures: ['480'] },
      ],
    }),
    bars: countGraph(counts, {
      ...{ id: 'sample-bars', title: 'Counts', period: 'day', now: from, language: 'en' },
      series: [
        { key: 'spam', name: 'spam', tone: 'bad' },
        { key: 'good', name: 'not spam', tone: 'good', isBelow: true },
      ],
      texts: textsIn('en'),
    }),
    small: graph({
      ...{ ...common, id: 'sample-small', title: 'Small, with what is usual', shape: 'lines' },
      ...{ heads: [], language: 'en' },
      series: [{ name: 'mail', tone: 'one', values: mail, figures: [] }],
      band: {
        name: 'usual',
        low: hours.map((hour) => wave(hour) - 8),
        high: hours.map((hour) => wave(hour) + 8),
      },
    }),
  }
}
