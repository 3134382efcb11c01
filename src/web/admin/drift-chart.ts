import type { DayAgreement, ListedModel } from '../../db/models.ts'
import { WEEK_MS } from '../../durations.ts'
import { accuracyOf } from '../../verdict/model/figures.ts'
import { percent } from '../../texts/messages.ts'
import type { Visit } from '../pages/visit.ts'
import { type Graph, graph, type GraphSeries } from '../pages/graph.ts'
import { equalSteps } from '../pages/graph-time.ts'

const WEEKS = 13

type DrawnModel = Pick<ListedModel, 'version' | 'promotedAt' | 'report' | 'agreement'>

/** The reports of one week that a model was compared with, and how many errors were expected. */
type Week = { reports: number; contradicted: number; expected: number; measured: number }

/**
 * Draws by week which share of the reports contradicted the model that was active, and which share
 * was expected from its evaluation. Undefined before the first comparison.
 */
export function driftChart(
  models: readonly DrawnModel[],
  now: Date,
  { texts, language }: Pick<Visit, 'texts' | 'language'>,
): Graph | undefined {
  const from = (Math.floor(now.getTime() / WEEK_MS) - WEEKS + 1) * WEEK_MS
  const weeks = Array.from({ length: WEEKS }, (): Week => {
    return { reports: 0, contradicted: 0, expected: 0, measured: 0 }
  })
  for (const { report, agreement } of models) {
    const accuracy = report ? accuracyOf(report) : undefined
    for (const day of agreement) {
      const week = weeks[Math.floor((Date.parse(day.day) - from) / WEEK_MS)]
      if (week) addDay(week, day, accuracy)
    }
  }
  if (weeks.every(({ reports }) => reports === 0)) return undefined
  const format = (share: number) => percent(language, share)
  const series = [
    seriesOf(weeks, (week) => [week.contradicted, week.reports], {
      ...{ name: texts('models.contradicted'), tone: 'one', format },
    }),
    seriesOf(weeks, (week) => [week.expected, week.measured], {
      ...{ name: texts('models.expected'), tone: 'two', format },
    }),
  ]
  const marks = models.flatMap(({ version, promotedAt }) => {
    if (promotedAt === null || promotedAt.getTime() < from) return []
    return [{ at: promotedAt, text: texts('model.title', { version }) }]
  })
  return graph({
    ...{ language, id: 'drift', title: texts('models.driftTitle'), unit: '', shape: 'lines' },
    ...{ format, least: 1e-3, time: equalSteps(new Date(from), WEEK_MS, WEEKS), series, marks },
    heads: [texts('activity.now'), texts('activity.average'), texts('activity.maximum')],
    listed: weeks.map((_, at) => ({
      from: new Date(from + at * WEEK_MS),
      to: new Date(from + (at + 1) * WEEK_MS),
      values: series.map(({ values }) => values[at]),
    })),
  })
}

function addDay(week: Week, { reports, agreed }: DayAgreement, accuracy?: number): void {
  week.reports += reports
  week.contradicted += reports - agreed
  if (accuracy === undefined) return
  week.measured += reports
  week.expected += reports * (1 - accuracy)
}

function seriesOf(
  weeks: readonly Week[],
  partOf: (week: Week) => [number, number],
  {
    name,
    tone,
    format,
  }: Pick<GraphSeries, 'name' | 'tone'> & { format: (share: number) => string },
): GraphSeries {
  const parts = weeks.map(partOf)
  const values = parts.map(([part, of]) => (of === 0 ? undefined : part / of))
  const sum = (place: 0 | 1) => parts.reduce((all, part) => all + part[place], 0)
  const known = values.filter((value) => value !== undefined)
  const average = sum(1) === 0 ? undefined : sum(0) / sum(1)
  const shown = [known.at(-1), average, known.length > 0 ? Math.max(...known) : undefined]
  const figures = shown.map((value) => (value === undefined ? '–' : format(value)))
  return { name, tone, values, figures }
}
