import type { App } from '../app.ts'
import { type Consumer, listConsumersByIds } from '../db/consumers.ts'
import { listWaitingFeedback, type WaitingFeedback } from '../db/feedback-waiting.ts'
import { listNextTries, type NextTry } from '../db/jobs.ts'
import { listWaitingLetters } from '../db/letters.ts'
import { findMailRelay, type MailRelay } from '../db/mail-relay.ts'
import { allQueues, listQueueControls } from '../db/queue-controls.ts'
import { sendLetter } from '../letters/queues.ts'
import { forwardReport } from './queues.ts'

/** Why mail waits. `postponed`: for its next attempt. `next`: nothing prevents that it is sent. */
type Wait =
  | ('no-relay' | 'held' | 'relay' | 'queue-paused' | 'desk-paused')
  | ('digest' | 'campaign' | 'due' | 'postponed' | 'next')

/** Mail to one desk, or letters to people, that waits for the same reason. */
type WaitingMails = {
  /** The address of the desk; null for letters. */
  to: string | null
  consumerId: string | null
  mails: number
  /** When the oldest was created. */
  since: Date
  why: Wait
  /** The last error, as far as it is known. */
  reason: string | null
  /** When the oldest is tried next; null: not before a person does something. */
  nextTryAt: Date | null
}

type Found = Pick<WaitingMails, 'why' | 'reason' | 'nextTryAt'>
type Situation = {
  relay: MailRelay
  hasRelay: boolean
  pausedQueues: ReadonlySet<string>
  now: Date
}

const DESKS_MAX = 200

/** Lists where mail waits, by desk, the oldest first: how much, since when, why, until when. */
export async function listWaitingMails({
  pool,
  config,
  clock,
}: Pick<App, 'pool' | 'config' | 'clock'>): Promise<WaitingMails[]> {
  const [feedback, letters, relay, controls] = await Promise.all([
    listWaitingFeedback(pool, DESKS_MAX),
    listWaitingLetters(pool),
    findMailRelay(pool),
    listQueueControls(pool),
  ])
  const paused = controls.flatMap(({ queue, pausedAt }) => (pausedAt ? [queue] : []))
  const [consumers, feedbackTries, letterTries] = await Promise.all([
    listConsumersByIds(pool, [...new Set(feedback.map(({ consumerId }) => consumerId))]),
    listNextTries(pool, forwardReport.name, 'reportId', queued(feedback, 'reportId')),
    listNextTries(pool, sendLetter.name, 'letterId', queued(letters, 'id')),
  ])
  const situation: Situation = {
    ...{ relay, hasRelay: config.smtpUrl !== undefined, now: clock() },
    pausedQueues: new Set(paused),
  }
  const ofDesks = feedback.map((one) => {
    const consumer = consumers.get(one.consumerId)
    const job = feedbackTries.find(({ id }) => id === one.reportId)
    const found =
      one.state === 'waiting' ? whyDeskWaits(one, consumer) : whyUnsent(one, job, situation)
    const { consumerId, mails, since } = one
    return { to: consumer?.address ?? '', consumerId, mails, since, ...found }
  })
  const ofPeople = letters.map((one) => {
    const job = letterTries.find(({ id }) => id === one.id)
    const queue = sendLetter.name
    const { mails, since } = one
    return { to: null, consumerId: null, mails, since, ...whyUnsent(one, job, situation, queue) }
  })
  return [...ofDesks, ...ofPeople].toSorted((a, b) => a.since.getTime() - b.since.getTime())
}

/** The ids of the oldest mails that have jobs. */
function queued<Key extends string>(
  rows: readonly (Record<Key, string> & { state: string })[],
  key: Key,
): string[] {
  return rows.filter(({ state }) => state === 'queued').map((row) => row[key])
}

function whyDeskWaits(
  { dueAt }: WaitingFeedback,
  consumer: Pick<Consumer, 'state' | 'pace'> | undefined,
): Found {
  const nextTryAt = dueAt
  if (consumer?.state === 'paused') return { why: 'desk-paused', reason: null, nextTryAt }
  const pace = consumer?.pace ?? 'at-once'
  return { why: pace === 'at-once' ? 'due' : pace, reason: null, nextTryAt }
}

function whyUnsent(
  { state }: { state: string },
  job: NextTry | undefined,
  { relay, hasRelay, pausedQueues, now }: Situation,
  queue: string = forwardReport.name,
): Found {
  const byPerson = (why: Wait): Found => ({ why, reason: null, nextTryAt: null })
  if (state === 'held') return byPerson(hasRelay ? 'held' : 'no-relay')
  if (pausedQueues.has(queue) || pausedQueues.has(allQueues)) return byPerson('queue-paused')
  if (relay.refusedSince) {
    return { why: 'relay', reason: relay.reply, nextTryAt: relay.nextTryAt }
  }
  if (!job) return { why: 'next', reason: null, nextTryAt: null }
  const { at: nextTryAt, reason } = job
  return { why: nextTryAt > now ? 'postponed' : 'next', reason, nextTryAt }
}
