import { listAdvices, listHonoredUnsubscribes } from '../db/advices.ts'
import type { Db } from '../db/pool.ts'
import { adviceOf } from '../verdict/advice.ts'
import {
  deliveryTime,
  doubtOf,
  type EarlierAdvice,
  UNSUBSCRIBE_DAYS,
} from '../verdict/consequences.ts'
import { adviceCase, type Judgment } from './read-messages.ts'

const UNSUBSCRIBE_MS = UNSUBSCRIBE_DAYS * 86_400_000

/** The sender of a message about which its reporter gets advice, and the time of the message. */
type Asked = { judgment: Judgment; about: string; sentAt: number }

/**
 * Adds to complaints about bulk mail what was done against mail of the same sender before. Costs no
 * query unless a reporter gets advice about a sender who is no confirmed marketer.
 */
export async function withEarlierAdvice(
  db: Db,
  judgments: readonly Judgment[],
): Promise<readonly Judgment[]> {
  const asked = judgments.flatMap(askedOf)
  if (asked.length === 0) return judgments
  const found = await findEarlierAdvice(db, asked)
  return judgments.map((judgment) => {
    const before = found.get(judgment.report.id)
    if (before === undefined) return judgment
    const { judged } = judgment
    return { ...judgment, judged: { ...judged, complaint: { ...judged.complaint, before } } }
  })
}

/**
 * Of mail that a relay handed on, only that of a recognized mailing service counts: a forwarder
 * cannot unsubscribe anybody.
 */
function askedOf(judgment: Judgment): Asked[] {
  const { report, analysis, judged } = judgment
  const { complaint, marketer, service } = judged
  if (doubtOf(complaint) !== 'bulk' || marketer || (complaint.isRelayed && !service)) return []
  const advice = adviceOf(adviceCase(judgment))
  if (!advice) return []
  const { receivedAt } = report
  const sentAt = deliveryTime(analysis.trustedTimes, receivedAt) ?? receivedAt.getTime()
  return [{ judgment, about: advice.about, sentAt }]
}

/** Returns by report what was done at least `UNSUBSCRIBE_DAYS` before its message was sent. */
async function findEarlierAdvice(
  db: Db,
  asked: readonly Asked[],
): Promise<Map<string, EarlierAdvice>> {
  const advices = await listAdvices(
    db,
    asked.map(({ judgment, about }) => ({ reporterId: judgment.report.reporterId, about })),
  )
  if (advices.length === 0) return new Map()
  const honored = new Map(
    (
      await listHonoredUnsubscribes(
        db,
        advices.map(({ reportId }) => reportId),
      )
    ).map(({ reportId, finishedAt }) => [reportId, finishedAt]),
  )
  return new Map(
    asked.flatMap(({ judgment: { report }, about, sentAt }): [string, EarlierAdvice][] => {
      const isEarly = (at: Date | undefined) =>
        at !== undefined && at.getTime() + UNSUBSCRIBE_MS <= sentAt
      const its = advices.filter(
        (one) => one.reporterId === report.reporterId && one.about === about && isEarly(one.at),
      )
      if (its.length === 0) return []
      const isHonored = its.some(({ reportId }) => isEarly(honored.get(reportId)))
      return [[report.id, isHonored ? 'unsubscribed' : 'advised']]
    }),
  )
}
