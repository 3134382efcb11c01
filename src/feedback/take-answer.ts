import { tally } from '../activity/tally.ts'
import type { App } from '../app.ts'
import { listPackedAnalyses } from '../db/analyses.ts'
import { putCampaignDecision } from '../db/campaign-decisions.ts'
import { noteCampaignEvents } from '../db/campaign-events.ts'
import { findCampaignOf } from '../db/campaigns.ts'
import { countAnswer } from '../db/consumers.ts'
import {
  type AnswerWay,
  type FeedbackAnswer,
  insertAnswer,
  keepCorrection,
  listAnswers,
} from '../db/feedback-answers.ts'
import {
  type Feedback,
  type FeedbackKey,
  feedbackName,
  findFeedback,
} from '../db/feedback-reports.ts'
import { listMergedReports } from '../db/feedback-waiting.ts'
import {
  listNoticesOfFeedback,
  markNoticeDisowned,
  type NoticeOfFeedback,
} from '../db/page-notices.ts'
import { listPageReports } from '../db/pages.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import { insertEvents, type ReportEvent } from '../db/report-events.ts'
import { DAY_MS } from '../durations.ts'
import { noteAnswer } from '../letters/reporter-news.ts'
import { domainOf } from '../mail/address.ts'
import { concealKeys } from '../mail/conceal-keys.ts'
import { storableText } from '../mail/text.ts'
import type { AnswerKind } from '../mail/verp.ts'
import { queueWebhooks } from '../people/deliver-webhooks.ts'
import { phrase, type PhraseCode } from '../phrase.ts'
import { stopFeedback } from './change-consumer.ts'
import { askForOriginal, findRequestState } from './original-requests.ts'
import { type NextContact, notifyNextContact } from './next-contact.ts'

/**
 * Counts that a desk resolved the reported problem. If it is the desk of the network, other
 * complaints about the campaign from the same network block count as confirmed from now on, and
 * those that were kept are judged again. Call once per answer.
 */
export async function markResolved(tx: Db, feedback: Feedback, now: Date): Promise<void> {
  await countAnswer(tx, feedback.consumerId, 'resolved')
  if (feedback.recipientRole !== 'network') return
  const [analysis] = await listPackedAnalyses(tx, [feedback.reportId])
  const campaignId = await findCampaignOf(tx, feedback.reportId)
  const about = analysis?.network?.cidr
  if (campaignId === undefined || about === undefined) return
  const decision = { campaignId, about, says: 'resolved', reason: '', decidedBy: null } as const
  if (await putCampaignDecision(tx, { ...decision, decidedAt: now })) {
    await noteCampaignEvents(tx, [campaignId], now)
  }
}

/** Time in milliseconds for which the answer "not ours" is valid: networks change owners. */
const CORRECTION_MS = 180 * DAY_MS

/**
 * Records that a desk is not responsible for the network of a report. For 180 days it receives no
 * feedback about that network, and the next contact is notified instead. The answer affects only
 * this desk and this block, but all reports covered by this feedback. Call once per answer.
 */
export async function markNotOurs(
  tx: Db,
  { reportId, number }: FeedbackKey,
  app: Pick<App, 'boss' | 'config'>,
  now: Date,
): Promise<NextContact> {
  const feedback = await findFeedback(tx, { reportId, number })
  if (!feedback) return { noContact: 'no-feedback' }
  await countAnswer(tx, feedback.consumerId, 'not-ours')
  const [analysis] = await listPackedAnalyses(tx, [reportId])
  const cidr = analysis?.network?.cidr ?? analysis?.originIp
  if (cidr === null || cidr === undefined) return { noContact: 'origin-not-found' }
  const until = new Date(now.getTime() + CORRECTION_MS)
  const reason = 'not-ours'
  const { address } = feedback
  await keepCorrection(tx, { cidr, address, reportId, reason, since: now, until })
  for (const member of await listAnswered(tx, feedback, 'of its block')) {
    await notifyNextContact(tx, member, app, now)
  }
  return notifyNextContact(tx, { reportId, number }, app, now)
}

/**
 * Records that the recipient of a notice is not responsible for the page. For 180 days it gets none
 * about pages of the same host, and somebody else is notified. Call once per answer.
 */
async function disownPage(
  tx: Db,
  feedback: Feedback,
  app: Pick<App, 'boss' | 'config'>,
  now: Date,
): Promise<NextContact> {
  await countAnswer(tx, feedback.consumerId, 'not-ours')
  const page = await findNotice(tx, feedback)
  if (page) await markNoticeDisowned(tx, page, now)
  return notifyNextContact(tx, feedback, app, now)
}

async function findNotice(db: Db, feedback: Feedback): Promise<NoticeOfFeedback | undefined> {
  if (feedback.recipientRole !== 'page') return undefined
  return (await listNoticesOfFeedback(db, [feedback.reportId])).get(feedbackName(feedback))
}

/**
 * The result of an answer. A repeated answer, an answer to feedback that was not sent, and a
 * request for an original that is not available, change nothing.
 */
export type AnswerResult = 'taken' | 'repeated' | 'unavailable' | 'unknown'

/** Details of an answer: the desk's comment, and the mail that contained it. */
export type AnswerContext = { said?: string | undefined; mailId?: string | undefined }

/** Maximum number of characters stored of a desk's comment. */
const COMMENT_CHARS_MAX = 2_000

const answerCodes = {
  resolved: 'answered-resolved',
  'not-ours': 'answered-not-ours',
  wrong: 'answered-wrong',
  stop: 'answered-stop',
  original: 'answered-original',
} as const satisfies Record<AnswerKind, PhraseCode>

/**
 * Records an abuse desk's answer to a feedback report in the caller's transaction: stores it once,
 * adds it to the stories of the reports it covers, and applies it. The caller has verified that the
 * answer comes from the desk.
 */
export async function recordAnswer(
  tx: Db,
  { reportId, number }: FeedbackKey,
  answer: AnswerKind,
  how: AnswerWay,
  app: Pick<App, 'boss' | 'config'>,
  now: Date,
  { said, mailId }: AnswerContext = {},
): Promise<AnswerResult> {
  const feedback = await findSent(tx, { reportId, number })
  if (!feedback) return 'unknown'
  if (answer === 'original') {
    if (await findRequestState(tx, feedback, now)) return 'repeated'
    if (!(await askForOriginal(tx, feedback, now))) return 'unavailable'
  }
  const words = storableText(concealKeys(said?.trim() ?? ''), COMMENT_CHARS_MAX)
  const isNew = await insertAnswer(tx, {
    ...{ reportId, number, answer, how, at: now, mailId: mailId ?? null },
    said: words === '' ? null : words,
  })
  if (!isNew) return 'repeated'
  tally.count(`mail/answered/${answer}`)
  tally.count(`desks/answered/${feedback.consumerId}`)
  await notifyReporters(tx, feedback, answer, app, now)
  await applyAnswer(tx, feedback, answer, app, now)
  return 'taken'
}

/** Records an answer that a desk gave by a link in the feedback report. */
export function takeAnswer(
  app: Pick<App, 'pool' | 'boss' | 'config' | 'clock'>,
  feedback: FeedbackKey,
  { answer, how, said }: { answer: AnswerKind; how: AnswerWay; said: string | undefined },
): Promise<AnswerResult> {
  return inTransaction(app.pool, (tx) =>
    recordAnswer(tx, feedback, answer, how, app, app.clock(), { said }),
  )
}

/** How many reporters of a page are told that it was removed. */
const PAGE_REPORTS_MAX = 200

/** Notifies the reporters of all reports covered by an answer. */
async function notifyReporters(
  tx: Db,
  feedback: Feedback,
  answer: AnswerKind,
  app: Pick<App, 'boss' | 'config'>,
  now: Date,
): Promise<void> {
  const { reportId, number, address } = feedback
  const which = answer === 'not-ours' ? 'of its block' : 'all'
  // A sample is enough to ask one reporter.
  const meant = answer === 'original' ? [] : await listAnswered(tx, feedback, which)
  const page = answer === 'resolved' ? await findNotice(tx, feedback) : undefined
  const ofPage = page ? await listPageReports(tx, page.pageId, PAGE_REPORTS_MAX) : []
  const reportIds = [...new Set([reportId, ...[...meant, ...ofPage].map((one) => one.reportId)])]
  const event = {
    at: now,
    event: `desk-${answer}`,
    phrases: [phrase(answerCodes[answer], { speaker: feedback.recipientRole })],
  } as const
  await insertEvents(
    tx,
    reportIds.map((id) => ({ reportId: id, ...event })),
  )
  await queueWebhooks(tx, app.boss, { 'report.answered': reportIds }, now)
  const others = (await listAnswers(tx, [reportId])).filter((one) => one.number !== number)
  if (others.some((one) => one.answer === answer)) return
  await noteAnswer(tx, { reportIds, address, answer }, now)
}

async function applyAnswer(
  tx: Db,
  feedback: Feedback,
  answer: AnswerKind,
  app: Pick<App, 'boss' | 'config'>,
  now: Date,
): Promise<void> {
  if (answer === 'resolved') await markResolved(tx, feedback, now)
  // A disputed report stays as it is until a person retracts it; administrators see the count.
  if (answer === 'wrong') await countAnswer(tx, feedback.consumerId, 'wrong')
  if (answer === 'not-ours') {
    const disown = feedback.recipientRole === 'page' ? disownPage : markNotOurs
    await disown(tx, feedback, app, now)
  }
  if (answer === 'stop') await stopFeedback(tx, feedback.consumerId, 'stop', now)
}

/** An answer of an abuse desk, as shown to a reporter. */
export type ShownAnswer = Pick<FeedbackAnswer, 'answer' | 'at' | 'said'> & {
  /** The domain of the abuse desk. */
  desk: string
}

/**
 * Returns the answers to the feedback about a report, oldest first: answers to its own feedback
 * reports, and answers to feedback reports into which they were merged, if the report's story shows
 * that the answer applies. Omits the comments of answers to merged feedback, because they may
 * concern another person's report. Feedback in a digest is answered separately.
 */
export async function listAnswersTo(
  db: Db,
  feedback: readonly Feedback[],
  events: readonly ReportEvent[],
): Promise<ShownAnswer[]> {
  const heads = feedback.flatMap(({ mergedInto }) => mergedInto ?? [])
  const ids = [...new Set([...feedback.map(({ reportId }) => reportId), ...heads])]
  if (ids.length === 0) return []
  const answers = await listAnswers(db, ids)
  const answersToFeedback = (reportId: string | null, number: number | null) =>
    answers.filter((one) => one.reportId === reportId && one.number === number)
  const shown = feedback.flatMap(({ reportId, number, address, mergedInto, mergedNumber }) => {
    const desk = domainOf(address) ?? address
    const own = answersToFeedback(reportId, number).map((one) => ({ ...one, desk }))
    if (own.length > 0) return own
    return answersToFeedback(mergedInto, mergedNumber)
      .filter(({ answer }) => events.some(({ event }) => event === `desk-${answer}`))
      .map((one) => ({ ...one, said: null, desk }))
  })
  return (
    shown
      .toSorted((one, other) => one.at.getTime() - other.at.getTime())
      // A desk may quote its own answer link; earlier versions stored it.
      .map(({ answer, at, said, desk }) => ({ answer, at, said: said && concealKeys(said), desk }))
  )
}

/**
 * Returns the other feedback reports that a consumer's answer applies to: those that it did not
 * receive itself, but that were included in the number of reports of a campaign. Reports in a
 * digest are answered separately. `of its block` keeps only those from the same network block, for
 * the answer "not ours".
 */
async function listAnswered(
  db: Db,
  { reportId, number, incidents, isDigest }: Feedback,
  which: 'all' | 'of its block',
): Promise<FeedbackKey[]> {
  if (incidents === 1 || isDigest) return []
  const members = await listMergedReports(db, { reportId, number })
  if (which === 'all' || members.length === 0) return members
  const ids = [reportId, ...members.map((member) => member.reportId)]
  const analyses = await listPackedAnalyses(db, ids)
  const blockOf = new Map(analyses.map((one) => [one.id, one.network?.cidr ?? one.originIp]))
  return members.filter((member) => blockOf.get(member.reportId) === blockOf.get(reportId))
}

/**
 * Returns a feedback report that the consumer has received, individually or in a digest, and can
 * therefore answer. Undefined if it was not sent.
 */
export async function findSent(db: Db, key: FeedbackKey): Promise<Feedback | undefined> {
  const feedback = await findFeedback(db, key)
  if (!feedback || wasSent(feedback)) return feedback
  const { mergedInto: reportId, mergedNumber: number } = feedback
  const head = reportId && number ? await findFeedback(db, { reportId, number }) : undefined
  return head?.isDigest && wasSent(head) ? feedback : undefined
}

function wasSent({ state }: Pick<Feedback, 'state'>): boolean {
  return state === 'sent' || state === 'bounced'
}
