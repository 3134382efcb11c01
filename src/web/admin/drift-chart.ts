import type { DayAgreement, ListedModel } from '../../db/models.ts'
import { WEEK_MS } from '../../durations.ts'
import { accuracyOf } from '../../verdict/model/figures.ts'
import { type Language, percent } from '../../texts/messages.ts'
import type { Visit } from '../pages/visit.ts'
import { type DrawnLine, type LineChart, lineChart } from '../pages/line-chart.ts'

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
): LineChart | undefined {
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
  const lines = [
    lineOf(texts('models.contradicted'), weeks, (week) => [week.contradicted, week.reports]),
    lineOf(texts('models.expected'), weeks, (week) => [week.expected, week.measured]),
  ]
  const marks = models.flatMap(({ version, promotedAt }) => {
    if (promotedAt === null || promotedAt.getTime() < from) return []
    return [{ at: promotedAt, text: texts('model.title', { version }) }]
  })
  return lineChart({
    ...{ language, id: 'drift', title: texts('models.driftTitle'), unit: '' },
    format: (share: number) => percent(language, share),
    formatShort: (share: number) => shortPercent(language, share),
    labelMs: 2 * WEEK_MS,
    ...{ from: new Date(from), stepMs: WEEK_MS, lines, marks },
    listed: weeks.map((_, at) => ({
      from: new Date(from + at * WEEK_MS),
      to: new Date(from + (at + 1) * WEEK_MS),
      values: lines.map(({ values }) => values[at]),
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

function lineOf(
  name: string,
  weeks: readonly Week[],
  partOf: (week: Week) => [number, number],
): DrawnLine {
  const parts = weeks.map(partOf)
  const values = parts.map(([part, of]) => (of === 0 ? undefined : part / of))
  const sum = (place: 0 | 1) => parts.reduce((all, part) => all + part[place], 0)
  const known = values.filter((value) => value !== undefined)
  const average = sum(1) === 0 ? undefined : sum(0) / sum(1)
  return { name, values, average, maximum: known.length > 0 ? Math.max(...known) : undefined }
}

function shortPercent(language: Language, share: number): string {
  return percent(language, share, Number.isInteger(Math.round(share * 1_000) / 10) ? 0 : 1)
}
