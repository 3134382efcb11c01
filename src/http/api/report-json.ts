import type { z } from 'zod'
import { findAnalysis, type KeptAnalysis } from '../../db/analyses.ts'
import type { Db } from '../../db/pool.ts'
import { listEvents, type ReportEvent } from '../../db/report-events.ts'
import type { Report } from '../../db/reports.ts'
import { scoreOf, symbolsForReporters } from '../../verdict/verdict.ts'
import { drawWalk } from '../../verdict/walk-picture.ts'
import type { reportSchema } from './contract/schemas/report-schema.ts'
import { findQuestion, type Question } from '../history/question.ts'
import { describeSame, type SameReports } from '../history/same-campaign.ts'

/** A report as `GET /api/v1/reports/:id` gives it. */
export type ReportJson = z.infer<typeof reportSchema>

/** Reads what belongs to a report and puts it in the form of the contract. */
export async function describeReport(db: Db, report: Report): Promise<ReportJson> {
  const [analysis, events, same] = await Promise.all([
    findAnalysis(db, report.id),
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
    rebuilt_from: report.rebuiltFrom,
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

function campaignJson({ mark, others }: SameReports): ReportJson['campaign'] {
  return {
    id: mark,
    others_at_least: others?.min ?? null,
    first_seen_on: others?.firstDay ?? null,
    last_seen_on: others?.lastDay ?? null,
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
