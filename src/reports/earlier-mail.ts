import { listAdvices, listHonoredUnsubscribes } from '../db/advices.ts'
import type { Db } from '../db/pool.ts'
import { listWantedAuthors } from '../db/reports.ts'
import { adviceOf } from '../verdict/advice.ts'
import {
  type Complaint,
  deliveryTime,
  doubtOf,
  type EarlierAdvice,
  UNSUBSCRIBE_DAYS,
} from '../verdict/consequences.ts'
import { isProvenUnwanted } from '../verdict/verdict.ts'
import { adviceCase, type Judgment } from './read-messages.ts'

/** What is added to complaints, by report id. */
type Additions = Map<string, Partial<Complaint>>

/**
 * Adds to complaints what their reporters had to do with the senders before: advice how to
 * unsubscribe, and mail of the same author that the reporter wanted. Costs no query unless a
 * reporter gets advice about a sender who is no confirmed marketer, or complains about a verified
 * author.
 */
export async function withEarlierMail(
  db: Db,
  judgments: readonly Judgment[],
  now: Date,
): Promise<readonly Judgment[]> {
  const [advices, correspondents] = await Promise.all([
    findEarlierAdvice(db, judgments.flatMap(advisedOf)),
    findCorrespondents(db, judgments.filter(mayBeCorrespondent), now),
  ])
  return judgments.map((judgment) => {
    const { id } = judgment.report
    const added = { ...advices.get(id), ...correspondents.get(id) }
    if (Object.keys(added).length === 0) return judgment
    const { judged } = judgment
    return { ...judgment, judged: { ...judged, complaint: { ...judged.complaint, ...added } } }
  })
}

const DAY_MS = 86_400_000
const UNSUBSCRIBE_MS = UNSUBSCRIBE_DAYS * DAY_MS

/** The sender of a message about which its reporter gets advice, and the time of the message. */
type Advised = { reportId: string; reporterId: string; about: string; sentAt: number }

/**
 * Of mail that a relay handed on, only that of a recognized mailing service counts: a forwarder
 * cannot unsubscribe anybody.
 */
function advisedOf(judgment: Judgment): Advised[] {
  const { report, analysis, judged } = judgment
  const { complaint, marketer, service } = judged
  if (doubtOf(complaint) !== 'bulk' || marketer || (complaint.isRelayed && !service)) return []
  const advice = adviceOf(adviceCase(judgment))
  if (!advice) return []
  const { id: reportId, reporterId, receivedAt } = report
  const sentAt = deliveryTime(analysis.trustedTimes, receivedAt) ?? receivedAt.getTime()
  return [{ reportId, reporterId, about: advice.about, sentAt }]
}

/** Finds what was done at least `UNSUBSCRIBE_DAYS` before the messages were sent. */
async function findEarlierAdvice(db: Db, asked: readonly Advised[]): Promise<Additions> {
  const advices = asked.length === 0 ? [] : await listAdvices(db, asked)
  if (advices.length === 0) return new Map()
  const reportIds = advices.map(({ reportId }) => reportId)
  const honored = new Map(
    (await listHonoredUnsubscribes(db, reportIds)).map((one) => [one.reportId, one.finishedAt]),
  )
  return new Map(
    asked.flatMap(({ reportId, reporterId, about, sentAt }) => {
      const isEarly = (at: Date | undefined) =>
        at !== undefined && at.getTime() + UNSUBSCRIBE_MS <= sentAt
      const its = advices.filter(
        (one) => one.reporterId === reporterId && one.about === about && isEarly(one.at),
      )
      if (its.length === 0) return []
      const isHonored = its.some((one) => isEarly(honored.get(one.reportId)))
      const before: EarlierAdvice = isHonored ? 'unsubscribed' : 'advised'
      return [[reportId, { before }] as const]
    }),
  )
}

/** Time in milliseconds for which a correspondent is remembered. */
const CORRESPONDENT_MS = 90 * DAY_MS

/** Whether a complaint about a verified author would be forwarded without a question. */
function mayBeCorrespondent({ report, judged, judgedCase: { facts } }: Judgment): boolean {
  const { complaint, verdict } = judged
  const isVerified = facts.authentication?.author_stands_behind === true
  if (!isVerified || report.author === null || complaint.kind === 'not-spam') return false
  const isOpen = doubtOf(complaint) === undefined && !complaint.isConfirmed
  return isOpen && !isProvenUnwanted(verdict)
}

async function findCorrespondents(
  db: Db,
  judgments: readonly Judgment[],
  now: Date,
): Promise<Additions> {
  if (judgments.length === 0) return new Map()
  const asked = judgments.map(({ report: { reporterId, author } }) => {
    return { reporterId, author: author ?? '' }
  })
  const wanted = await listWantedAuthors(db, asked, new Date(now.getTime() - CORRESPONDENT_MS))
  return new Map(
    judgments.flatMap(({ report: { id, reporterId, author } }) => {
      const isWanted = wanted.some((one) => one.reporterId === reporterId && one.author === author)
      return isWanted ? [[id, { isCorrespondent: true }] as const] : []
    }),
  )
}
