import type { App } from '../app.ts'
import type { NewAnalysis } from '../db/analyses.ts'
import type { NewFeedback } from '../db/feedback-reports.ts'
import type { JudgedAs, ReportEvent } from '../db/report-events.ts'
import type { Report } from '../db/reports.ts'
import type { Case, DrawnConsequence } from '../feedback/draw-consequences.ts'
import { isAsking } from '../verdict/consequences.ts'
import type { HandedOver } from '../feedback/forward-report.ts'
import { contentOfCreated } from '../feedback/load-content.ts'
import { waitsForNothing } from '../feedback/queue-feedback.ts'
import { withoutShippedMeanings } from '../judging/rule-versions.ts'
import type { Network } from '../origin/networks.ts'
import type { AnalysisDigest } from '../parsing/parser-pool.ts'
import { type Phrase, phrase } from '../phrase.ts'
import { packFacts } from '../verdict/facts/facts.ts'
import { percentOf } from '../verdict/walk-picture.ts'
import type { Campaigns, Judgment } from './read-messages.ts'

/** Whether the report affects others. */
export function hasEffect({ shadow }: Report): boolean {
  return shadow === null || shadow === 'released'
}

/** All rows to store for a report; `judgedAs` is the report as it was when it was read. */
export type Outcome = {
  judgedAs: Omit<JudgedAs, 'id'>
  row: NewAnalysis
  event: ReportEvent
  notified: DrawnConsequence['notified']
}

export function webhookEventsOf(kept: readonly { row: NewAnalysis }[]) {
  return {
    'report.analyzed': kept.map(({ row }) => row.id),
    'report.asked': askedOf(kept),
  }
}

/** Returns the reports that ask their reporters a question. */
function askedOf(kept: readonly { row: NewAnalysis }[]): string[] {
  return kept.flatMap(({ row: { id, judgment } }) =>
    isAsking(judgment.consequence.action) ? [id] : [],
  )
}

/** Returns the reports that ask their reporters, and those whose reporters are thanked. */
export function newsOf(kept: readonly Pick<Outcome, 'row' | 'judgedAs'>[]) {
  const thanked = kept.filter(({ row: { judgment }, judgedAs: { kind } }) => {
    return judgment.consequence.action === 'simulation' && kind !== 'not-spam'
  })
  return new Map([
    ...askedOf(kept).map((id) => [id, 'question'] as const),
    ...thanked.map(({ row }) => [row.id, 'simulation'] as const),
  ])
}

/** Returns the rows to store for a report from its judgment and what follows from it. */
export function outcomeOf(
  { report, analysis, judgedCase: { verdict, facts }, judged }: Judgment,
  { consequence, notified, why }: DrawnConsequence,
  campaignOf: Campaigns,
  now: Date,
): Outcome {
  const campaignId = hasEffect(report) ? undefined : campaignOf.get(report.id)
  return {
    judgedAs: {
      kind: report.kind,
      hasEffect: hasEffect(report),
      correctedAs: report.correctedAs,
    },
    row: {
      id: report.id,
      analyzedAt: now,
      originIp: analysis.origin?.ip ?? null,
      originConfidence: analysis.origin?.confidence ?? null,
      network: judged.network ?? (notified.length > 0 ? bareNetwork(judged) : null),
      verdictClass: verdict.class,
      verdictScore: verdict.score,
      subject: analysis.subject,
      judgment: {
        verdict: withoutShippedMeanings(verdict),
        complaint: judged.complaint,
        consequence,
        marketer: judged.marketer,
        service: judged.service,
        campaignId,
      },
      packed: analysis.packed,
      facts: packFacts(facts),
    },
    event: {
      reportId: report.id,
      at: now,
      event: 'analyzed',
      phrases: [...originPhrases(analysis), ...why],
    },
    notified,
  }
}

/**
 * Returns a network that consists of the origin's address, for an origin without a known network.
 */
function bareNetwork({ origin }: Case): Network | null {
  if (!origin) return null
  const cidr = `${origin.ip}/${origin.ip.includes(':') ? 128 : 32}`
  return { cidr, asn: null, name: null, country: null, abuse: null, contacts: [] }
}

function originPhrases({ origin, originObstacle }: AnalysisDigest): Phrase[] {
  if (!origin) return [originObstacle ?? phrase('origin-not-found')]
  return [phrase('origin-found', { ip: origin.ip, percent: percentOf(origin.confidence) })]
}

/** Returns the feedback reports that wait for nothing, with their content. */
export function handedOver(
  queued: readonly NewFeedback[],
  from: {
    judgments: readonly Judgment[]
    kept: readonly Outcome[]
    emails: ReadonlyMap<string, string>
  },
  { config }: Pick<App, 'config'>,
): HandedOver[] {
  const judgmentOf = new Map(from.judgments.map((one) => [one.report.id, one]))
  const keptOf = new Map(from.kept.map((one) => [one.row.id, one]))
  return queued.flatMap((row) => {
    const { report, raw, analysis, judgedCase, judged } = judgmentOf.get(row.reportId) ?? {}
    const its = keptOf.get(row.reportId)
    const { consumer } = its?.notified.find((one) => one.consumer.id === row.consumerId) ?? {}
    const network = its?.row.network
    const reporterEmail = from.emails.get(report?.reporterId ?? '')
    if (!waitsForNothing(row) || reporterEmail === undefined) return []
    if (!report || !raw || !analysis || !judgedCase || !judged || !consumer || !network) return []
    const { verdict } = judgedCase
    const { complaint } = judged
    const known = { row, consumer, network, reporterEmail, verdict, complaint, packed: raw }
    const loaded = contentOfCreated({ ...known, analysis: analysis.packed }, config)
    return [{ feedback: loaded.feedback, report, consumer, loaded }]
  })
}

const NETWORK_CHARS_MAX = 60

/** A network as named in the activity over time. */
export function networkName(network: Judgment['judged']['network']): string {
  if (!network) return 'unknown'
  const { asn, name, cidr } = network
  const words = [asn === null ? cidr : `AS${asn}`, name ?? ''].join(' ').trim()
  return words.replaceAll('/', '|').slice(0, NETWORK_CHARS_MAX)
}
