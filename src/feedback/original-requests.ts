import type { App } from '../app.ts'
import { listPackedAnalyses } from '../db/analyses.ts'
import { insertAudit } from '../db/audit-log.ts'
import { listConsumersByIds } from '../db/consumers.ts'
import {
  type Feedback,
  feedbackName,
  findFeedback,
  isStanding,
  listFeedback,
} from '../db/feedback-reports.ts'
import {
  countOriginalRequests,
  decideOriginalRequest,
  findOriginalRequest,
  insertOriginalRequest,
  lockOriginalRequests,
} from '../db/original-requests.ts'
import {
  listNoticesOfFeedback,
  markNoticeFollowed,
  type NoticeOfFeedback,
} from '../db/page-notices.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import { insertEvents } from '../db/report-events.ts'
import { type Channel, findReport, listWithMessages, type Report } from '../db/reports.ts'
import { DAY_MS } from '../durations.ts'
import { phrase } from '../phrase.ts'
import { topicOf } from '../verdict/choose-contact.ts'
import { isOriginalAskable } from '../verdict/consumers.ts'
import { queueFeedback } from './queue-feedback.ts'
import { isComplaint } from './take-back-complaints.ts'

/** How long a reporter can agree to a request. */
const OPEN_MS = 14 * DAY_MS
/** How many originals a desk can ask for in a day, and a reporter can be asked for in two weeks. */
const DESK_DAILY_MAX = 20
const REPORTER_MAX = 5

/** Channels behind which no person reads a question. */
const silentChannels: readonly Channel[] = ['trap', 'learn', 'feedback-loop', 'import']

/**
 * Stores the request of a desk for the original of a report, or for the exact address of a page,
 * which the reporter then decides. False if the reporter is not asked: about originals of phishing
 * and malware, because those who send it may learn from the desk who reported it; about the address
 * of a page that others received, too; if another desk asked before; above the limits.
 */
export async function askForOriginal(tx: Db, feedback: Feedback, now: Date): Promise<boolean> {
  const { reportId, number, consumerId, isShadowed } = feedback
  const report = isShadowed ? undefined : await findGivable(tx, feedback)
  if (!report) return false
  const { reporterId } = report
  await lockOriginalRequests(tx, { consumerId, reporterId })
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

/** Returns the report of a complaint that stands, if its original may be given to the desk. */
async function findGivable(tx: Db, feedback: Feedback): Promise<Report | undefined> {
  const { reportId, consumerId } = feedback
  if (!isOriginalAskable(feedback)) return undefined
  const [report, [analysis], stored, notified, page] = await Promise.all([
    findReport(tx, reportId),
    listPackedAnalyses(tx, [reportId]),
    listWithMessages(tx, [reportId]),
    listFeedback(tx, [reportId]),
    findNotice(tx, feedback),
  ])
  if (!report || !analysis || stored.length === 0 || !isComplaint(report)) return undefined
  const { verdict, complaint } = analysis.judgment
  const isDangerous = [complaint.kind, report.kind].some(
    (kind) => topicOf(verdict.class, kind) !== 'spam',
  )
  if (silentChannels.includes(report.channel)) return undefined
  if (feedback.recipientRole === 'page') {
    return page?.state === 'confirmed' && !page.shared && page.reportUrl ? report : undefined
  }
  if (isDangerous) return undefined
  const last = notified.findLast((one) => one.consumerId === consumerId && isStanding(one))
  return last?.kind === 'redeemed' ? undefined : report
}

/**
 * What a desk is told of its request: until when the reporter can agree, that the original was
 * sent, or that it is not available. A refusal is told when a missing answer would be, so that
 * nobody can tell them apart; so is an original that never leaves, because its reporter is banned
 * or retracted the report. Undefined if the desk has not asked.
 */
export type RequestState = { until: Date } | 'sent' | 'unavailable' | undefined

export async function findRequestState(
  db: Db,
  { reportId, number, consumerId }: Pick<Feedback, 'reportId' | 'number' | 'consumerId'>,
  now: Date,
): Promise<RequestState> {
  const request = await findOriginalRequest(db, reportId)
  if (request?.number !== number) return undefined
  const given = request.isGranted === true ? await listFeedback(db, [reportId]) : []
  const isSent = given.some(
    (one) =>
      one.kind === 'original' &&
      one.consumerId === consumerId &&
      !one.isShadowed &&
      (one.state === 'sent' || one.state === 'bounced'),
  )
  if (isSent) return 'sent'
  return request.endsAt > now ? { until: request.endsAt } : 'unavailable'
}

async function findNotice(
  db: Db,
  feedback: Pick<Feedback, 'reportId' | 'number' | 'recipientRole'>,
): Promise<NoticeOfFeedback | undefined> {
  if (feedback.recipientRole !== 'page') return undefined
  return (await listNoticesOfFeedback(db, [feedback.reportId])).get(feedbackName(feedback))
}

/** A request as its reporter sees it. */
export type ShownRequest = {
  address: string
  /** The exact address of a page that is asked for, instead of the message. */
  url: string | undefined
  askedAt: Date
  endsAt: Date
  isGranted: boolean | null
  isOpen: boolean
}

export async function findShownRequest(
  db: Db,
  report: { id: string; reporterId: string },
  now: Date,
): Promise<ShownRequest | undefined> {
  const request = await findOriginalRequest(db, report.id)
  if (request?.reporterId !== report.reporterId) return undefined
  const feedback = await findFeedback(db, request)
  if (!feedback) return undefined
  const { askedAt, endsAt, isGranted } = request
  const isUndecided = isGranted === null && endsAt > now
  const isOpen = isUndecided && (await findGivable(db, feedback)) !== undefined
  const notice = await findNotice(db, feedback)
  const url = notice && (notice.reportUrl ?? '')
  return { address: feedback.address, url, askedAt, endsAt, isGranted, isOpen }
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
    const asked = await findOriginalRequest(tx, reportId)
    const feedback = asked && (await findFeedback(tx, asked))
    if (!feedback || !(await findGivable(tx, feedback))) return 'over'
    const request = await decideOriginalRequest(tx, { reportId, reporterId, isGranted, at })
    if (!request) return 'over'
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
    const owed = [{ ...original, recipientRole, keepsTokens, sharedParts }]
    const [queued] = await queueFeedback(tx, owed, app, at)
    const notice = await findNotice(tx, feedback)
    if (notice && queued) await markNoticeFollowed(tx, notice, 'exact', queued.number)
    return 'granted'
  })
}
