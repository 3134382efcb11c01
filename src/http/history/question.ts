import type { KeptAnalysis } from '../../db/analyses.ts'
import type { Db } from '../../db/pool.ts'
import type { ReportEvent } from '../../db/report-events.ts'
import { listRelays } from '../../db/reporter-relays.ts'
import type { Report } from '../../db/reports.ts'
import { networkSet } from '../../mail/ip.ts'
import {
  openCandidates,
  type RelayCandidate,
  relayCandidates,
} from '../../verdict/relay-question.ts'

/** What a report asks its reporter. */
export type Question = {
  candidates: RelayCandidate[]
  /** Whether the reporter has said not to know, since it was asked. */
  isAnswered: boolean
}

/**
 * Which machines to ask the reporter about: only while the report is kept for want of a sure
 * origin, and only about those that the reporter has not spoken of.
 */
export async function findQuestion(
  db: Db,
  report: Report,
  analysis: KeptAnalysis | undefined,
  events: readonly ReportEvent[],
): Promise<Question | undefined> {
  if (report.state !== 'kept' || analysis?.details.consequence.action !== 'ask') return undefined
  const relays = await listRelays(db, report.reporterId)
  const said = (how: string) =>
    networkSet(relays.flatMap((relay) => (relay.how === how ? [relay.cidr] : [])))
  const candidates = openCandidates(relayCandidates(analysis.details.hops), {
    mine: said('set'),
    notMine: said('refused'),
  })
  if (candidates.length === 0) return undefined
  const isAnswered = events.some(
    ({ event, at }) => event === 'answered' && at > analysis.analyzedAt,
  )
  return { candidates, isAnswered }
}
