import type { Request } from 'express'
import { findAnalysis } from '../../db/analyses.ts'
import { listEvents } from '../../db/report-events.ts'
import type { Report } from '../../db/reports.ts'
import { answerQuestion, SET_RELAYS_MAX, type RelayStatement } from '../../intake/tell-relays.ts'
import { blockOfAddress } from '../../mail/relay-block.ts'
import { storableText } from '../../mail/storable-text.ts'
import { readAnswer, type RelayCandidate } from '../../verdict/relay-question.ts'
import type { Form } from '../pages/form.ts'
import { visitOf } from '../pages/visit.ts'
import type { Site } from '../site.ts'
import { findQuestion } from './question.ts'

/** Takes the answer to a report's question, if it still asks one; answers why it cannot. */
export async function takeAnswer(
  req: Request,
  site: Pick<Site, 'pool' | 'boss' | 'clock'>,
  report: Report,
  form: Form,
): Promise<string | undefined> {
  const { question: words } = visitOf(req).words
  const [analysis, events] = await Promise.all([
    findAnalysis(site.pool, report.id),
    listEvents(site.pool, report.id),
  ])
  const question = await findQuestion(site.pool, report, analysis, events)
  if (!question) return undefined
  const answer = form.text('answer')
  if (answer === 'unknown') {
    if (!question.isAnswered) await answerQuestion(site, report, undefined)
    return undefined
  }
  const offered = question.candidates.map(({ ip }) => ip)
  const picked = answer === 'none' ? [] : form.texts('relay').filter((ip) => offered.includes(ip))
  if (answer !== 'none' && picked.length === 0) return words.nothing
  const read = readAnswer(question.candidates, picked)
  if ('gap' in read) return words.gap(read.gap.picked.ip, read.gap.between.ip)
  const said = [...statementsOf(read.mine, 'set'), ...statementsOf(read.notMine, 'refused')]
  const told = await answerQuestion(site, report, said)
  return told === 'full' ? words.full(SET_RELAYS_MAX) : undefined
}

function statementsOf(
  candidates: readonly RelayCandidate[],
  how: RelayStatement['how'],
): RelayStatement[] {
  return candidates.flatMap(({ ip, name }) => {
    const cidr = blockOfAddress(ip)
    return cidr === undefined ? [] : [{ cidr, name: name && storableText(name, 255), how }]
  })
}
