import type { App } from '../app.ts'
import { listConsumersByIds } from '../db/consumers.ts'
import {
  type Feedback,
  type FeedbackKey,
  isStanding,
  listFeedback,
  feedbackName,
} from '../db/feedback-reports.ts'
import {
  joinHead,
  listMerged,
  rejoinMembers,
  restoreFeedback,
  withdrawFeedback,
} from '../db/feedback-waiting.ts'
import { amendRecorded, type RecordedFeedback } from '../db/mass-records.ts'
import type { Db } from '../db/pool.ts'
import { HOUR_MS } from '../durations.ts'
import { send } from '../queue/boss.ts'
import { queueOf } from './queues.ts'
import { type QueuedFeedback, queueFeedback } from './queue-feedback.ts'

const unsent: readonly string[] = ['queued', 'held', 'waiting', 'merged']

/** Returns the feedback reports of some reports before an action, by report. */
export async function recordFeedback(
  tx: Db,
  reportIds: readonly string[],
): Promise<Map<string, RecordedFeedback[]>> {
  const found = await listFeedback(tx, reportIds)
  const heads = found.filter(({ state, incidents }) => unsent.includes(state) && incidents > 1)
  const merged = await listMerged(tx, heads)
  const recorded = found.map((one): [string, RecordedFeedback] => {
    const { reportId, number, consumerId, kind, incidents, isDigest, recipientRole } = one
    const isOf = ({ head }: { head: FeedbackKey }) =>
      head.reportId === reportId && head.number === number
    return [
      reportId,
      {
        ...{ number, consumerId, kind, incidents, isDigest, recipientRole },
        ...{ state: one.state, isShadowed: one.isShadowed },
        dueAt: one.dueAt?.toISOString() ?? null,
        finishedAt: one.finishedAt?.toISOString() ?? null,
        mergedInto: one.mergedInto,
        mergedNumber: one.mergedNumber,
        members: merged.filter(isOf).map(({ member }) => member),
      },
    ]
  })
  const byReport = new Map<string, RecordedFeedback[]>(reportIds.map((id) => [id, []]))
  for (const [reportId, one] of recorded) byReport.get(reportId)?.push(one)
  return byReport
}

/** Time in milliseconds that feedback waits for the one that represents it, at most. */
const FOR_HEAD_MS = HOUR_MS

/**
 * Gives back the feedback reports that an action withdrew, in the states that they had, and
 * withdraws what was queued since then. Nothing counts against a daily number. What was sent since
 * then cannot be unsent: a desk that was told that the complaint is withdrawn gets it again, and a
 * desk that got a complaint because of the action gets its withdrawal. `wasNotified`: whether there
 * were such desks. `isMerged`: whether unsent feedback of another report represents some again.
 * `isFreed`: whether the action made feedback of this report wait, by withdrawing the
 * feedback that represented it, which is given back later. Notices about pages are left to the job
 * of their page: another report may have taken the place of this one.
 */
export async function giveBackFeedback(
  tx: Db,
  { reportId, recorded: all, isFreed }: GivenBack,
  app: Pick<App, 'boss'>,
  now: Date,
): Promise<{ wasNotified: boolean; isMerged: boolean }> {
  await withdrawFeedback(tx, reportId, now)
  const recorded = all.filter(isAboutMessage)
  const present = (await listFeedback(tx, [reportId])).filter(isAboutMessage)
  const numbers = new Set(recorded.map(({ number }) => number))
  const since = present.filter(({ number }) => !numbers.has(number))
  const notified = since.filter(({ state }) => ['sent', 'bounced', 'merged'].includes(state))
  const isNotified = (one: RecordedFeedback) =>
    notified.some(({ consumerId, kind }) => consumerId === one.consumerId && kind === one.kind)
  const withdrawn = new Set(
    present.flatMap(({ number, state }) => (state === 'withdrawn' ? [number] : [])),
  )
  const owed = recorded.filter(
    (one) => one.state !== 'withdrawn' && withdrawn.has(one.number) && !isNotified(one),
  )
  let isMerged = false
  for (const one of owed) {
    const key = { reportId, number: one.number }
    const state = await restoreOne(tx, key, one, { isFreed, now })
    if (state === 'queued') await send(app.boss, queueOf(one), [key], tx)
    if (state === 'merged') isMerged = true
  }
  await correct(tx, reportId, { recorded, notified }, app, now)
  return { wasNotified: notified.length > 0, isMerged }
}

function isAboutMessage({ recipientRole }: Pick<RecordedFeedback, 'recipientRole'>): boolean {
  return recipientRole !== 'page'
}

type GivenBack = {
  reportId: string
  recorded: readonly RecordedFeedback[]
  isFreed: boolean
}

async function restoreOne(
  tx: Db,
  key: FeedbackKey,
  one: RecordedFeedback,
  { isFreed, now }: { isFreed: boolean; now: Date },
): Promise<RecordedFeedback['state']> {
  const { state, mergedInto, mergedNumber, members } = one
  if (state === 'merged' && mergedInto !== null && mergedNumber !== null) {
    const head = { reportId: mergedInto, number: mergedNumber }
    if (await joinHead(tx, key, head)) return state
    // The other one was sent without it, so it is sent alone; or another action withdrew it.
    await recordMember(tx, head, key)
    const alone = { state: 'waiting', dueAt: now, finishedAt: null, incidents: 1 } as const
    await restoreFeedback(tx, key, { ...alone, isDigest: false, isShadowed: false })
    return 'waiting'
  }
  const left = await rejoinMembers(tx, key, members)
  await recordMerged(tx, key, left)
  const dueAt =
    isFreed && state === 'waiting' ? new Date(now.getTime() + FOR_HEAD_MS) : dateOf(one.dueAt)
  const incidents = Math.max(1, one.incidents - left.length)
  const finishedAt = dateOf(one.finishedAt)
  const { isDigest, isShadowed } = one
  await restoreFeedback(tx, key, { state, dueAt, finishedAt, incidents, isDigest, isShadowed })
  return state
}

/**
 * Records that a feedback report is merged into `head` again if the withdrawal of `head` is undone.
 */
function recordMember(tx: Db, head: FeedbackKey, member: FeedbackKey): Promise<void> {
  return amendRecorded(tx, [head.reportId], (key, one) => {
    const { state, members, incidents } = one
    const isKnown = members.some((other) => feedbackName(other) === feedbackName(member))
    if (key.number !== head.number || !unsent.includes(state) || isKnown) return one
    return { ...one, members: [...members, member], incidents: incidents + 1 }
  })
}

/** Records that feedback is merged into `head` again if its withdrawal is undone. */
function recordMerged(tx: Db, head: FeedbackKey, members: readonly FeedbackKey[]): Promise<void> {
  const names = new Set(members.map(feedbackName))
  const ids = members.map(({ reportId }) => reportId)
  const its = { mergedInto: head.reportId, mergedNumber: head.number }
  const merged = { state: 'merged', ...its } as const
  return amendRecorded(tx, ids, (key, one) => {
    return names.has(feedbackName(key)) && one.state === 'waiting'
      ? { ...one, ...merged, dueAt: null }
      : one
  })
}

function dateOf(text: string | null): Date | null {
  return text === null ? null : new Date(text)
}

/** Corrects the notices that desks got since the action. */
async function correct(
  tx: Db,
  reportId: string,
  { recorded, notified }: { recorded: readonly RecordedFeedback[]; notified: readonly Feedback[] },
  app: Pick<App, 'boss'>,
  now: Date,
): Promise<void> {
  const valid = recorded.filter(isStanding)
  const isOwed = ({ consumerId }: Feedback) =>
    valid.findLast((one) => one.consumerId === consumerId)?.kind === 'complaint'
  const others = notified.filter(isStanding)
  const last = new Map(others.map((one) => [one.consumerId, one]))
  const wrong = [...last.values()].filter((one) => isOwed(one) !== (one.kind === 'complaint'))
  const consumers = await listConsumersByIds(
    tx,
    wrong.map(({ consumerId }) => consumerId),
  )
  const owed = wrong.flatMap((one): QueuedFeedback[] => {
    const consumer = consumers.get(one.consumerId)
    const kind = one.kind === 'complaint' ? 'redeemed' : 'complaint'
    const { recipientRole, keepsTokens } = one
    return consumer ? [{ reportId, consumer, kind, recipientRole, keepsTokens }] : []
  })
  if (owed.length > 0) await queueFeedback(tx, owed, app, now)
}
