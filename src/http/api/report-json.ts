import type { KeptAnalysis } from '../../db/analyses.ts'
import type { Db } from '../../db/pool.ts'
import { listEvents, type ReportEvent } from '../../db/report-events.ts'
import type { Report } from '../../db/reports.ts'
import type { OwnedReport } from '../../db/shadowed-reports.ts'
import { findOwnedAnalysis } from '../../intake/owned-reports.ts'
import { scoreOf, symbolsForReporters, type VerdictSymbol } from '../../verdict/verdict.ts'
import { drawWalk, type StationRole } from '../../verdict/walk-picture.ts'
import { findQuestion, type Question } from '../history/question.ts'
import { describeSame, type SameReports } from '../history/same-campaign.ts'

/** A report as `GET /api/v1/reports/:id` gives it. */
export type ReportJson = {
  id: string
  status: Report['state']
  received_at: string
  kind: Report['kind']
  subject: string | null
  author: string | null
  origin: {
    ip: string
    confidence: number
    hop: number
    network: {
      cidr: string
      asn: number | null
      name: string | null
      country: string | null
    } | null
    why: readonly string[]
  } | null
  /** Why there is no origin. */
  origin_obstacle: string | null
  /** The client behind a sending provider, where that provider stamped it. */
  submitter: KeptAnalysis['details']['submitter']
  /** Every Received line, the newest first. */
  hops: KeptAnalysis['details']['hops']
  /** The machines that the lines tell of, from the mailbox outward, as the pages draw them. */
  picture: {
    stations: readonly {
      role: StationRole
      name: string | null
      ip: string | null
      aliases: readonly string[]
      /** The index of the hop that tells of it. */
      hop: number | null
      unlinked: boolean
      submitter: boolean
    }[]
    /** Index of the first station that anybody may have invented. */
    border: number | null
  } | null
  /** What the reporter is asked; answered by `PUT /api/v1/relays`. */
  question: {
    candidates: readonly {
      ip: string
      /** As it was looked up. */
      name: string | null
      /** What anybody may call himself. */
      calls_itself: string | null
      hop: number
      seen: boolean
      internal: boolean
    }[]
  } | null
  /** The symbols that a reporter may see, and their sum: what others reported is in the class. */
  verdict: {
    class: string
    score: number
    symbols: readonly Pick<VerdictSymbol, 'name' | 'weight' | 'meaning'>[]
  } | null
  /**
   * Of the reports of messages that say the same; null when it counts for none. Nothing in it tells
   * who reported the others, nor when to the hour; of fewer than five other people, nothing at all.
   */
  campaign: {
    /** The same in all reports of the campaign, and nothing beside that. */
    id: string
    /** A round number of different other people, who are at least so many; null when few. */
    others_at_least: number | null
    /** Days in UTC; null where the others are few. */
    first_seen_on: string | null
    last_seen_on: string | null
  } | null
  timeline: readonly { at: string; event: string; detail: string }[]
}

/** Reads what belongs to a report and puts it in the form of the contract. */
export async function describeReport(db: Db, report: OwnedReport): Promise<ReportJson> {
  const [analysis, events, same] = await Promise.all([
    findOwnedAnalysis(db, report),
    listEvents(db, report.id),
    describeSame(db, report),
  ])
  const question = await findQuestion(db, report, analysis, events)
  return reportJson(report, analysis, { events, question, same })
}

/** What belongs to a report beside its analysis. */
type Circumstances = {
  events: readonly ReportEvent[]
  question: Question | undefined
  same: SameReports | undefined
}

/** The form of the contract. */
export function reportJson(
  report: Report,
  analysis: KeptAnalysis | undefined,
  { events, question, same }: Circumstances,
): ReportJson {
  return {
    id: report.id,
    status: report.state,
    received_at: report.receivedAt.toISOString(),
    kind: report.kind,
    subject: report.subject,
    author: report.author,
    origin: originJson(analysis),
    origin_obstacle: analysis?.details.originObstacle ?? null,
    submitter: analysis?.details.submitter ?? null,
    hops: analysis?.details.hops ?? [],
    picture: analysis ? pictureJson(analysis) : null,
    question: question
      ? {
          candidates: question.candidates.map((candidate) => ({
            ip: candidate.ip,
            name: candidate.name,
            calls_itself: candidate.callsItself,
            hop: candidate.line,
            seen: candidate.isSeen,
            internal: candidate.isInternal,
          })),
        }
      : null,
    verdict: analysis ? verdictJson(analysis) : null,
    campaign: same ? campaignJson(same) : null,
    timeline: [
      {
        at: report.receivedAt.toISOString(),
        event: 'received',
        detail: channelSentences[report.channel],
      },
      ...events.map(({ at, event, detail }) => ({ at: at.toISOString(), event, detail })),
    ],
  }
}

function verdictJson({ details: { verdict } }: KeptAnalysis): ReportJson['verdict'] {
  const symbols = symbolsForReporters(verdict.symbols)
  return {
    class: verdict.class,
    score: scoreOf(symbols),
    symbols: symbols.map(({ name, weight, meaning }) => ({ name, weight, meaning })),
  }
}

function campaignJson({ mark, othersMin, firstDay, lastDay }: SameReports): ReportJson['campaign'] {
  const isTold = othersMin !== undefined
  return {
    id: mark,
    others_at_least: othersMin ?? null,
    first_seen_on: isTold ? firstDay : null,
    last_seen_on: isTold ? lastDay : null,
  }
}

const channelSentences: Record<Report['channel'], string> = {
  api: 'Received by the report API.',
  signaler: 'Received from a mail program.',
  form: 'Received by the web form.',
  mail: 'Received by mail.',
  import: 'Imported.',
  learn: 'Learned by a mail server.',
}

function pictureJson({ details }: KeptAnalysis): ReportJson['picture'] {
  const { stations, border } = drawWalk(details)
  return {
    stations: stations.map(({ role, name, ip, aliases, line, isUnlinked, isSubmitter }) => ({
      role,
      name,
      ip,
      aliases,
      hop: line,
      unlinked: isUnlinked,
      submitter: isSubmitter,
    })),
    border,
  }
}

function originJson(analysis: KeptAnalysis | undefined): ReportJson['origin'] {
  const origin = analysis?.details.origin
  if (!origin) return null
  const network = analysis.network
  return {
    ip: origin.ip,
    confidence: origin.confidence,
    hop: origin.hop,
    network: network
      ? {
          cidr: network.cidr,
          asn: network.asn,
          name: network.name,
          country: network.country,
        }
      : null,
    why: origin.why,
  }
}
