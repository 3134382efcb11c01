import { z } from 'zod'
import { CallerError } from '../errors.ts'
import { type ExplainedSymbol, explainReport, type Explanation } from '../reports/explain-report.ts'
import { textsIn } from '../texts/messages.ts'
import { inEnglish } from '../texts/phrases.ts'
import { shownLine } from '../mail/text.ts'
import { defineQuery, type Operations } from './command.ts'

const explain = defineQuery({
  name: 'explain',
  summary: 'show why a report had its verdict and consequence, and what would have changed them',
  input: z.object({
    id: z.uuid({ error: 'Enter the id of a report.' }).meta({ argument: 'ID' }),
    json: z.boolean().optional(),
  }),
  async print({ id, json }, { pool }) {
    const explanation = await explainReport(pool, id)
    if (!explanation) throw new CallerError(404, 'There is no analyzed report with this id.')
    if (json !== true) return textOf(explanation)
    const { analysis, ...rest } = explanation
    const { verdict, consequence, isReduced = false } = analysis.details
    return JSON.stringify({ ...rest, verdict, consequence, isReduced }, null, 2)
  },
})

const texts = textsIn('en')

function textOf(explanation: Explanation): string {
  const { report, analysis, complaint, shortfall, history, karma, symbols } = explanation
  const { others, today } = explanation
  const { verdict, consequence } = analysis.details
  const { manner, score, scoreMin } = complaint
  const before = history.map((code) => ` ${texts(`adminReport.history.${code}`)}`)
  const isEnoughConfirmed = String(shortfall?.isEnoughConfirmed)
  const missing = shortfall
    ? ` ${texts('adminReport.missing', { ...shortfall, isEnoughConfirmed })}`
    : ''
  const to = consequence.action === 'forward' ? ` to ${shownLine(consequence.to)}` : ''
  return [
    `Report ${report.id}: ${report.kind}, ${report.state}`,
    ...(analysis.details.isReduced ? [texts('adminReport.reduced')] : []),
    '',
    `Complaint  ${complaint.kind}, by a reporter with karma ${karma.toFixed(2)}; ${manner} mail`,
    `  score ${score}, forwarded from ${scoreMin} on.${before.join('')}${missing}`,
    `Verdict    ${verdict.class}, score ${verdict.score}, confidence ${verdict.confidence ?? '-'}`,
    ...symbols.map((symbol) => lineOf(symbol, complaint)),
    `Notice     ${consequence.action}${to}: ${inEnglish(consequence.why)}`,
    '',
    `Today's rules (version ${today.rules}) give ${today.verdict}, score ${today.score}.`,
    `Other reports of the campaign: ${others.length === 0 ? 'none' : ''}`,
    ...others.map((one) => `  ${one.id}  ${one.kind}, ${one.state}, karma ${one.karma.toFixed(2)}`),
  ].join('\n')
}

function lineOf(
  { name, weight, meaning = '', without }: ExplainedSymbol,
  complaint: Explanation['complaint'],
): string {
  const line = `  ${weight.toFixed(2).padStart(6)}  ${name}  ${shownLine(inEnglish(meaning))}`
  if (!without) return line
  const { verdict, isForwardable } = without
  const result = `${verdict}, ${isForwardable ? 'forwarded' : 'not forwarded'}`
  const isLess = without.scoreMin !== complaint.scoreMin
  const said = isLess
    ? texts('adminReport.lessRequired', { result, min: without.scoreMin })
    : result
  return `${line} Without it: ${said}.`
}

export const operations: Operations = [explain]
