import type { Request, Response } from 'express'
import { findAnalysis, type KeptAnalysis } from '../../db/analyses.ts'
import { listFeedback } from '../../db/feedback-reports.ts'
import { findOwnReport } from '../../db/own-reports.ts'
import type { Db } from '../../db/pool.ts'
import { listEvents } from '../../db/report-events.ts'
import type { Reporter } from '../../db/reporters.ts'
import type { Report } from '../../db/reports.ts'
import { symbolsForReporters } from '../../verdict/verdict.ts'
import { answersOf } from '../desks/answers-of.ts'
import { shownAdvice } from '../advice/shown-advice.ts'
import { sendPage } from '../pages/render.ts'
import { visitOf } from '../pages/visit.ts'
import { isUuid } from '../paging.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { findQuestion } from './question.ts'
import { describeSame } from './same-campaign.ts'
import { shownWalk } from './shown-walk.ts'

/** What was wrong with an answer, and what it picked. */
export type Refused = { problem: string; picked: readonly string[] }

const LINKS_SHOWN = 20

/** A report of the reporter's own, or the page that says that there is none. */
export async function requireOwn(id: string, reporter: Reporter, db: Db): Promise<Report> {
  const report = isUuid(id) ? await findOwnReport(db, reporter.id, id) : undefined
  if (report) return report
  throw new ProblemError('not-found', 'There is no such report, or it is not yours.')
}

/** Sends the story of a report: all that became of it, in plain words. */
export async function sendStory(
  req: Request,
  res: Response,
  site: Pick<Site, 'pool' | 'clock'>,
  report: Report,
  refused?: Refused,
): Promise<void> {
  const [analysis, events, feedback, same] = await Promise.all([
    findAnalysis(site.pool, report.id),
    listEvents(site.pool, report.id),
    listFeedback(site.pool, [report.id]),
    describeSame(site.pool, report),
  ])
  const question = await findQuestion(site.pool, report, analysis, events)
  const { language } = visitOf(req)
  const advice = await shownAdvice(site.pool, { report, analysis, language, now: site.clock() })
  sendPage(req, res, {
    view: 'pages/history/story',
    title: visitOf(req).words.story.title,
    status: refused ? 422 : 200,
    data: {
      report,
      events: [{ event: 'received', at: report.receivedAt, detail: '' }, ...events],
      feedback: feedback.filter(({ kind }) => kind === 'complaint'),
      corrections: feedback.filter(({ kind }) => kind === 'redeemed'),
      answers: await answersOf(site.pool, feedback, events),
      found: analysis && findings(analysis),
      same,
      advice,
      question: question && {
        id: report.id,
        isAnswered: question.isAnswered,
        problem: refused?.problem,
        candidates: question.candidates.map((candidate) => ({
          ...candidate,
          isPicked: refused?.picked.includes(candidate.ip) ?? false,
        })),
      },
    },
  })
}

function findings(analysis: KeptAnalysis) {
  const { origin, links, attachments, verdict, consequence } = analysis.details
  return {
    origin,
    walk: shownWalk(analysis),
    verdict,
    symbols: symbolsForReporters(verdict.symbols),
    consequence,
    links: links.slice(0, LINKS_SHOWN),
    linksMore: Math.max(0, links.length - LINKS_SHOWN),
    attachments,
  }
}
