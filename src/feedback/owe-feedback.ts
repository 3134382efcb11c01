import type { App } from '../app.ts'
import { type Consumer, listConsumersByIds } from '../db/consumers.ts'
import {
  type FeedbackKind,
  insertFeedback,
  listFeedback,
  type NewFeedback,
} from '../db/feedback-reports.ts'
import type { Db } from '../db/pool.ts'
import { listShadowedAmong, listShadowedFeedback, releaseFeedback } from '../db/shadowed-reports.ts'
import { forwardReport } from '../queue/queues.ts'
import { send } from '../queue/send.ts'
import type { ToldAs } from '../verdict/who-else.ts'
import { paceOf } from './pace.ts'

/** Who is to be told of a report, and how. */
export type OwedFeedback = {
  reportId: string
  consumer: Consumer
  /** A complaint unless it says otherwise. */
  kind?: FeedbackKind
  /** As the desk of the network unless it says otherwise. */
  toldAs?: ToldAs
  keepsTokens?: boolean
}

/** The last number that fits into the token of a return path. */
const NUMBER_MAX = 255

/**
 * Puts feedback reports in line, under the next free numbers of their reports: at once with a job,
 * or waiting until their consumer's pace lets them leave. A consumer that was last told the same of
 * a report is not told again; what was withdrawn was not told. Nobody is told of a report that has
 * no effect on others: its reporter sees what would be told, before it leaves. Returns what was put
 * in line.
 */
export async function oweFeedback(
  tx: Db,
  owed: readonly OwedFeedback[],
  app: Pick<App, 'boss'>,
  now: Date,
): Promise<NewFeedback[]> {
  if (owed.length === 0) return []
  const reportIds = [...new Set(owed.map(({ reportId }) => reportId))]
  const [told, shadowed] = await Promise.all([
    listFeedback(tx, reportIds),
    listShadowedAmong(tx, reportIds),
  ])
  const lastTold = new Map(
    told.flatMap((one) => (one.state === 'withdrawn' ? [] : [[nameOf(one), one.kind]])),
  )
  const lastOf = new Map<string, number>()
  for (const { reportId, number } of told) {
    lastOf.set(reportId, Math.max(number, lastOf.get(reportId) ?? 0))
  }
  const feedback: NewFeedback[] = []
  for (const { reportId, consumer, kind = 'complaint', toldAs, keepsTokens } of owed) {
    const name = nameOf({ reportId, consumerId: consumer.id })
    const number = (lastOf.get(reportId) ?? 0) + 1
    if (lastTold.get(name) === kind || number > NUMBER_MAX) continue
    lastTold.set(name, kind)
    lastOf.set(reportId, number)
    const row = { reportId, number, consumerId: consumer.id, address: consumer.address }
    const state = shadowed.has(reportId) && { state: 'shadowed' as const }
    feedback.push({
      ...{ ...row, kind, createdAt: now, ...paceOf(consumer, now), ...state },
      ...{ toldAs: toldAs ?? 'network', keepsTokens: keepsTokens ?? false },
    })
  }
  const jobs = feedback
    .filter(({ state }) => state === 'queued')
    .map(({ reportId, number }) => ({ reportId, number }))
  await Promise.all([insertFeedback(tx, feedback), send(app.boss, forwardReport, jobs, tx)])
  return feedback
}

function nameOf(one: { reportId: string; consumerId: string }): string {
  return `${one.reportId} ${one.consumerId}`
}

/**
 * Sends what was owed of reports while they had no effect: each at once, or when the consumer's
 * pace lets it leave. A consumer that asked to stop meanwhile gets nothing.
 */
export async function sendShadowed(
  tx: Db,
  reportIds: readonly string[],
  app: Pick<App, 'boss'>,
  now: Date,
): Promise<void> {
  const owed = await listShadowedFeedback(tx, reportIds)
  const consumers = await listConsumersByIds(tx, [
    ...new Set(owed.map(({ consumerId }) => consumerId)),
  ])
  for (const { reportId, number, consumerId } of owed) {
    const consumer = consumers.get(consumerId)
    if (!consumer) continue
    const pace = paceOf(consumer, now)
    const dueAt = pace.state === 'waiting' ? pace.dueAt : null
    await releaseFeedback(tx, { reportId, number }, { state: pace.state, dueAt })
    if (pace.state === 'queued') await send(app.boss, forwardReport, [{ reportId, number }], tx)
  }
}
