import { listAdvices, listHonoredUnsubscribes } from '../db/advices.ts'
import { listFacts } from '../db/analyses.ts'
import type { Db } from '../db/pool.ts'
import { listWantedAuthors } from '../db/reports.ts'
import { DAY_MS } from '../durations.ts'
import { adviceOf } from '../verdict/advice.ts'
import {
  type Complaint,
  doubtOf,
  type EarlierAdvice,
  UNSUBSCRIBE_DAYS,
} from '../verdict/complaint.ts'
import { deliveryTime } from '../verdict/consequences.ts'
import type { Facts } from '../verdict/facts/fact.ts'
import { unpackFacts } from '../verdict/facts/facts.ts'
import { isProvenUnwanted } from '../verdict/verdict.ts'
import { adviceCase, type Judgment } from './read-messages.ts'

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

const UNSUBSCRIBE_MS = UNSUBSCRIBE_DAYS * DAY_MS

/** A message about whose sender its reporter gets advice. */
type Advised = {
  reportId: string
  reporterId: string
  about: string
  sentAt: number
  listId: string
  isOfMarketer: boolean
}

/**
 * Of mail that a relay handed on, only that of a recognized mailing service counts: a forwarder
 * cannot unsubscribe anybody.
 */
function advisedOf(judgment: Judgment): Advised[] {
  const { report, analysis, judged, judgedCase } = judgment
  const { complaint, marketer, service } = judged
  const isOfMarketer = Boolean(marketer)
  const isAdvised = isOfMarketer || doubtOf(complaint) === 'bulk'
  const advice = isAdvised ? adviceOf(adviceCase(judgment)) : undefined
  if (!advice || (complaint.isRelayed && !service)) return []
  const { id: reportId, reporterId, receivedAt } = report
  const sentAt = deliveryTime(analysis.trustedTimes, receivedAt) ?? receivedAt.getTime()
  const listId = listIdOf(judgedCase.facts)
  return [{ reportId, reporterId, about: advice.about, sentAt, listId, isOfMarketer }]
}

function listIdOf({ bulk }: Facts): string {
  return String(bulk?.list_id ?? '')
}

/**
 * Finds what was done at least `UNSUBSCRIBE_DAYS` before the messages were sent. A reporter who
 * left one list may be on another list of the same sender. Of a confirmed marketer only an accepted
 * request to unsubscribe counts: a marketer is not accused because a reporter says so.
 */
async function findEarlierAdvice(db: Db, asked: readonly Advised[]): Promise<Additions> {
  const advices = asked.length === 0 ? [] : await listAdvices(db, asked)
  if (advices.length === 0) return new Map()
  const honored = await findHonored(
    db,
    advices.map(({ reportId }) => reportId),
  )
  return new Map(
    asked.flatMap(({ reportId, reporterId, about, sentAt, listId, isOfMarketer }) => {
      const isEarly = (at: Date) => at.getTime() + UNSUBSCRIBE_MS <= sentAt
      const its = advices.filter(
        (one) => one.reporterId === reporterId && one.about === about && isEarly(one.at),
      )
      const isHonored = its.some((one) => {
        const left = honored.get(one.reportId)
        return left !== undefined && isEarly(left.at) && left.listId === listId
      })
      if (its.length === 0 || (isOfMarketer && !isHonored)) return []
      const before: EarlierAdvice = isHonored ? 'unsubscribed' : 'advised'
      return [[reportId, { before }] as const]
    }),
  )
}

/** Returns when senders accepted our requests to unsubscribe, and from which lists, by report. */
async function findHonored(
  db: Db,
  reportIds: readonly string[],
): Promise<ReadonlyMap<string, { at: Date; listId: string }>> {
  const honored = await listHonoredUnsubscribes(db, reportIds)
  if (honored.length === 0) return new Map()
  const ids = honored.map(({ reportId }) => reportId)
  const facts = new Map((await listFacts(db, ids)).map((one) => [one.id, unpackFacts(one.facts)]))
  return new Map(
    honored.map(({ reportId, finishedAt: at }) => {
      return [reportId, { at, listId: listIdOf(facts.get(reportId) ?? {}) }]
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
