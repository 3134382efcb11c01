import type { App } from '../app.ts'
import { type AnswerWay, listAnswers } from '../db/feedback-answers.ts'
import {
  type Feedback,
  type FeedbackKey,
  findFeedback,
  findFeedbackMessage,
  listReceived,
  listSmallCopies,
  type ReceivedFilter,
} from '../db/feedback-reports.ts'
import { listMerged } from '../db/feedback-waiting.ts'
import type { Db } from '../db/pool.ts'
import { unpack, unpackAtMost } from '../db/rows.ts'
import type { ReportLine } from '../mail/arf.ts'
import {
  attachedReport,
  type OwnReport,
  readOwnReport,
  readReportLine,
} from '../mail/own-report.ts'
import type { AnswerKind } from '../mail/verp.ts'
import { type AnswerResult, findSent, takeAnswer } from './take-answer.ts'

/** The number of a feedback report as in its mail: the report and its number, with a dot. */
export function reportNumber({ reportId, number }: FeedbackKey): string {
  return `${reportId}.${number}`
}

export function parseReportNumber(text: string): FeedbackKey | undefined {
  const [, reportId = '', number = ''] =
    /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([1-9]\d{0,2})$/i.exec(text) ?? []
  return reportId === '' ? undefined : { reportId: reportId.toLowerCase(), number: Number(number) }
}

/** A mail that an abuse desk received from us, as in its list. */
export type DeskReport = Pick<Feedback, 'kind' | 'isDigest' | 'incidents'> & {
  key: FeedbackKey
  sentAt: Date
  /** What the mail says; undefined if it is too large to be read for a list. */
  line: ReportLine | undefined
  answers: AnswerKind[]
}

/** Sizes in bytes up to which a mail is read for a list, packed and unpacked. */
const LISTED_BYTES_MAX = { packed: 64 * 1024, raw: 128 * 1024 }

/**
 * Returns the feedback reports that a desk received, newest first. Everything is read from the mail
 * that was sent, so the list reveals nothing else.
 */
export async function listDeskReports(
  db: Db,
  consumerId: string,
  filter: ReceivedFilter,
): Promise<DeskReport[]> {
  const received = await listReceived(db, consumerId, filter)
  const ids = [...new Set(received.map(({ reportId }) => reportId))]
  const [copies, answers] = await Promise.all([
    listSmallCopies(db, received, LISTED_BYTES_MAX.packed),
    listAnswers(db, ids),
  ])
  return received.map(({ reportId, number, finishedAt, createdAt, ...row }) => {
    const isIts = (one: FeedbackKey) => one.reportId === reportId && one.number === number
    const copy = copies.find(isIts)
    const raw = copy && unpackAtMost(copy, LISTED_BYTES_MAX.raw)
    return {
      key: { reportId, number },
      kind: row.kind,
      isDigest: row.isDigest,
      incidents: row.incidents,
      sentAt: finishedAt ?? createdAt,
      line: raw && readReportLine(raw),
      answers: answers.filter((one) => isIts(one)).map(({ answer }) => answer),
    }
  })
}

/** The size in bytes of the beginning of a mail whose parts are shown. */
const SHOWN_BYTES_MAX = 1024 * 1024

/** A feedback report as its desk received it, and the parts in its beginning. */
export type DeskCopy = { line: ReportLine; raw: Buffer; parts: OwnReport }

/**
 * Returns the copy of a feedback report that its desk received: the mail, or, for a report in a
 * digest, the part of that mail. Undefined if it was not sent, or was only listed in a digest.
 */
export async function findDeskCopy(db: Db, feedback: Feedback): Promise<DeskCopy | undefined> {
  const { reportId, number, mergedInto, mergedNumber } = feedback
  const isMerged = mergedInto !== null && mergedNumber !== null
  const mail = isMerged ? { reportId: mergedInto, number: mergedNumber } : { reportId, number }
  const head = isMerged ? await findFeedback(db, mail) : feedback
  if (!head || !['sent', 'bounced'].includes(head.state) || (isMerged && !head.isDigest)) {
    return undefined
  }
  const packed = await findFeedbackMessage(db, mail)
  const raw = packed && (await unpack(packed))
  if (!raw || !head.isDigest) return raw && copyOf(raw)
  const digest = readOwnReport(raw)
  const part = digest && attachedReport(digest, reportNumber({ reportId, number }))
  return part && copyOf(part)
}

/** Reads a feedback report that we composed, in bounded time. */
export function copyOf(raw: Buffer): DeskCopy | undefined {
  const shown = raw.subarray(0, SHOWN_BYTES_MAX)
  const parts = readOwnReport(shown)
  return parts && { line: readReportLine(shown), raw, parts }
}

/** Returns a feedback report to a desk, and the numbers of those in the same digest. */
export async function findDeskReport(
  db: Db,
  consumerId: string,
  key: FeedbackKey,
): Promise<{ feedback: Feedback; others: FeedbackKey[] } | undefined> {
  const feedback = await findSent(db, key)
  if (feedback?.consumerId !== consumerId) return undefined
  return { feedback, others: feedback.isDigest ? await membersOf(db, feedback) : [] }
}

async function membersOf(db: Db, head: FeedbackKey): Promise<FeedbackKey[]> {
  return (await listMerged(db, [head])).map(({ member }) => member)
}

/** Answers that a desk may give to many feedback reports at once. */
export const groupAnswers = ['resolved', 'not-ours', 'wrong'] as const

/** One answer to many feedback reports, or a request for the original of one. */
export type GroupAnswer = {
  numbers: readonly string[]
  answer: (typeof groupAnswers)[number] | 'original'
  said: string | undefined
  how: AnswerWay
}

/** The outcome for one feedback report; a repeated answer changes nothing. */
export type GroupOutcome = { number: string; result: AnswerResult }

export const GROUP_MAX = 100
/** Maximum number of feedback reports in digests that one request answers with them. */
const MEMBERS_MAX = 500

/**
 * Records one answer to many feedback reports, each in its own transaction. An answer to a digest
 * applies to all reports in it. Ignores what was not sent to this desk.
 */
export async function answerDeskReports(
  app: Pick<App, 'pool' | 'boss' | 'config' | 'clock'>,
  consumerId: string,
  { numbers, answer, said, how }: GroupAnswer,
): Promise<GroupOutcome[]> {
  const outcomes: GroupOutcome[] = []
  let membersLeft = MEMBERS_MAX
  for (const number of [...new Set(numbers)].slice(0, GROUP_MAX)) {
    const key = parseReportNumber(number)
    const found = key && (await findDeskReport(app.pool, consumerId, key))
    if (!found) {
      outcomes.push({ number, result: 'unknown' })
      continue
    }
    outcomes.push({ number, result: await takeAnswer(app, found.feedback, { answer, how, said }) })
    const others = answer === 'original' ? [] : found.others
    for (const member of others.slice(0, membersLeft)) {
      await takeAnswer(app, member, { answer, how, said })
      membersLeft--
    }
  }
  return outcomes
}
