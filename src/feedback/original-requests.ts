import type { App } from '../app.ts'
import { listPackedAnalyses } from '../db/analyses.ts'
import { insertAudit } from '../db/audit-log.ts'
import { listConsumersByIds } from '../db/consumers.ts'
import { type Feedback, findFeedback } from '../db/feedback-reports.ts'
import {
  countOriginalRequests,
  decideOriginalRequest,
  findOriginalRequest,
  insertOriginalRequest,
} from '../db/original-requests.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import { insertEvents } from '../db/report-events.ts'
import { type Channel, findReport, listWithMessages } from '../db/reports.ts'
import { DAY_MS } from '../durations.ts'
import { phrase } from '../phrase.ts'
import { topicOf } from '../verdict/choose-contact.ts'
import { isOriginalAskable } from '../verdict/consumers.ts'
import { queueFeedback } from './queue-feedback.ts'

/** How long a reporter can agree to a request. */
const OPEN_MS = 14 * DAY_MS
/** How many originals a desk can ask for in a day, and a reporter can be asked for in two weeks. */
const DESK_DAILY_MAX = 20
const REPORTER_MAX = 5

/** Channels behind which no person reads a question. */
const silentChannels: readonly Channel[] = ['trap', 'learn', 'feedback-loop', 'import']

/**
 * Stores the request of a desk for the original of a report, whose reporter then decides. False if
 * the reporter is not asked: about phishing and malware, because those who send it may learn from
 * the desk who reported it; if another desk asked before; above the limits.
 */
export async function askForOriginal(tx: Db, feedback: Feedback, now: Date): Promise<boolean> {
  const { reportId, number, consumerId, isShadowed } = feedback
  if (isShadowed || !isOriginalAskable(feedback)) return false
  const [report, [analysis], stored] = await Promise.all([
    findReport(tx, reportId),
    listPackedAnalyses(tx, [reportId]),
    listWithMessages(tx, [reportId]),
  ])
  if (!report || !analysis || stored.length === 0 || report.state === 'retracted') return false
  const { verdict, complaint } = analysis.judgment
  const isDangerous = topicOf(verdict.class, complaint.kind) !== 'spam'
  if (isDangerous || silentChannels.includes(report.channel)) return false
  const { reporterId } = report
  const counted = await countOriginalRequests(tx, {
    ...{ consumerId, since: new Date(now.getTime() - DAY_MS) },
    ...{ reporterId, reporterSince: new Date(now.getTime() - OPEN_MS) },
  })
  if (counted.byDesk >= DESK_DAILY_MAX || counted.toReporter >= REPORTER_MAX) return false
  const endsAt = new Date(now.getTime() + OPEN_MS)
  return insertOriginalRequest(tx, {
    ...{ reportId, number, consumerId, reporterId, askedAt: now, endsAt },
  })
}

/**
 * What a desk is told of its request: until when the reporter can agree, that the original was
 * sent, or that it is not available. A refusal is told when a missing answer would be, so that
 * nobody can tell them apart. Undefined if the desk has not asked.
 */
export type RequestState = { until: Date } | 'sent' | 'unavailable' | undefined

export async function findRequestState(
  db: Db,
  { reportId, number }: Pick<Feedback, 'reportId' | 'number'>,
  now: Date,
): Promise<RequestState> {
  const request = await findOriginalRequest(db, reportId)
  if (request?.number !== number) return undefined
  if (request.isGranted === true) return 'sent'
  return request.endsAt > now ? { until: request.endsAt } : 'unavailable'
}

/** A request as its reporter sees it. */
export type ShownRequest = {
  address: string
  askedAt: Date
  endsAt: Date
  isGranted: boolean | null
  isOpen: boolean
}

/** Returns the request for the original of a report, for its reporter. */
export async function findShownRequest(
  db: Db,
  report: { id: string; reporterId: string; state: string },
  now: Date,
): Promise<ShownRequest | undefined> {
  const request = await findOriginalRequest(db, report.id)
  if (request?.reporterId !== report.reporterId) return undefined
  const feedback = await findFeedback(db, request)
  if (!feedback) return undefined
  const { askedAt, endsAt, isGranted } = request
  const isOpen = isGranted === null && endsAt > now && report.state !== 'retracted'
  return { address: feedback.address, askedAt, endsAt, isGranted, isOpen }
}

/**
 * Stores what a reporter decided on the request of a desk. If the reporter agrees, the original is
 * queued once, for this desk. `over`: the request has ended, or was decided before.
 */
export async function decideOriginal(
  app: Pick<App, 'pool' | 'boss' | 'clock'>,
  { id: reportId, reporterId }: { id: string; reporterId: string },
  isGranted: boolean,
): Promise<'granted' | 'refused' | 'over'> {
  return inTransaction(app.pool, async (tx) => {
    const at = app.clock()
    const report = await findReport(tx, reportId)
    if (report?.state === 'retracted') return 'over'
    const request = await decideOriginalRequest(tx, { reportId, reporterId, isGranted, at })
    const feedback = request && (await findFeedback(tx, request))
    if (!request || !feedback) return 'over'
    const phrases = [phrase(isGranted ? 'original-agreed' : 'original-declined')]
    await insertEvents(tx, [{ reportId, at, event: 'answered', phrases }])
    const detail = `${reportId}.${request.number} to ${feedback.address}`
    const action = isGranted ? 'give original' : 'refuse original'
    await insertAudit(tx, { at, reporterId, action, detail })
    if (!isGranted) return 'refused'
    const consumer = (await listConsumersByIds(tx, [request.consumerId])).get(request.consumerId)
    if (!consumer) return 'over'
    const { recipientRole, keepsTokens, sharedParts } = feedback
    const original = { reportId, consumer, kind: 'original' as const }
    await queueFeedback(tx, [{ ...original, recipientRole, keepsTokens, sharedParts }], app, at)
    return 'granted'
  })
}
