import { setTimeout as wait } from 'node:timers/promises'
import { type Tally, tally as ownTally } from '../activity/tally.ts'
import type { App } from '../app.ts'
import {
  feedbackName,
  type FeedbackKind,
  type FeedbackOutcome,
  findFeedback,
  insertFeedbackMessages,
  markFeedback,
} from '../db/feedback-reports.ts'
import { listMerged } from '../db/feedback-waiting.ts'
import { countMails } from '../db/mail-relay.ts'
import { inShardTransaction } from '../db/nodes.ts'
import type { Db } from '../db/pool.ts'
import { groupedToStore } from '../db/prepared.ts'
import { insertEvents, type ReportEvent } from '../db/report-events.ts'
import { listReportsByIds, markReports } from '../db/reports.ts'
import type { Packed } from '../db/rows.ts'
import { queueWebhooks } from '../people/deliver-webhooks.ts'
import { type Phrase, phrase, type PhraseCode } from '../phrase.ts'
import { dropJobs } from '../queue/boss.ts'
import { shardOf, uuidTime } from '../world.ts'
import type { LoadedFeedback } from './load-content.ts'
import { queueOf } from './queues.ts'
import { suppressConsumer } from './suppress.ts'
import { takeBackComplaints, takeBackOutdated } from './take-back-complaints.ts'

const outcomeCodes = {
  complaint: { sent: 'feedback-sent', held: 'feedback-held', refused: 'feedback-refused' },
  original: { sent: 'original-sent', held: 'original-held', refused: 'original-refused' },
  redeemed: { sent: 'correction-sent', held: 'correction-held', refused: 'correction-refused' },
} as const satisfies Record<FeedbackKind, Record<string, PhraseCode>>

/**
 * Returns the outcome of a feedback report for the report's history, without the recipient's
 * address.
 */
export function outcomePhrase(
  state: 'held' | 'sent' | 'refused',
  { feedback: { kind, recipientRole: role }, parts }: Pick<LoadedFeedback, 'feedback' | 'parts'>,
): Phrase {
  const known = parts[0]?.content.network
  const network = known?.name ?? known?.cidr
  const recipient = role === 'network' && network === undefined ? 'unnamed' : role
  return phrase(outcomeCodes[kind][state], { recipient, network: network ?? '' })
}

/** The outcome of one feedback report, its exact copy, and the event for the report's story. */
type Sent = {
  outcome: FeedbackOutcome
  /** The reason for the state `refused`. */
  rejectedFor?: 'gone' | 'unreachable' | 'message' | undefined
  copy: Packed
  /** Whether the reporter has seen the event before, while the report was shadowed. */
  isShown?: boolean
  event: ReportEvent
  /** The job to drop, if the mail was sent without it. */
  jobId?: string | undefined
}

/** Stores the outcome of each feedback report as soon as it is known. */
export type Keeper = {
  /**
   * Resolves when the outcome is stored. Retries for a minute, because the mail has already been
   * sent.
   */
  keep: (sent: Sent) => Promise<void>
}

type Needs = Pick<App, 'pool' | 'boss' | 'config'> & {
  /** Counts what happened; by default, the tally of this process. */
  tally?: Tally
}
type Pending = { sent: Sent; resolve: () => void; reject: (error: unknown) => void }

const BATCH_MAX = 64
/**
 * Time in milliseconds to collect outcomes, because storing several costs little more than storing
 * one. The mail has already been sent, so only its job waits, if it has one.
 */
const gatherMs = { withJob: 25, withoutJob: 250 }
/** Number of outcomes that are stored without waiting for more. */
const ENOUGH = 16
const PATIENCE_MS = 60_000
const PAUSES_MS = [100, 500, 2_000, 5_000]

/** Creates a keeper that commits one batch while it collects the next. */
export function createKeeper(app: Needs): Keeper {
  const line: Pending[] = []
  let isRunning = false
  let start: NodeJS.Timeout | undefined

  async function run(): Promise<void> {
    isRunning = true
    clearTimeout(start)
    start = undefined
    while (line.length > 0) {
      const batch = line.splice(0, BATCH_MAX)
      for (const group of groupedToStore(batch, ({ sent }) => sent.outcome.reportId)) {
        await settle(app, group)
      }
    }
    isRunning = false
  }

  return {
    keep(sent) {
      return new Promise((resolve, reject) => {
        line.push({ sent, resolve, reject })
        if (isRunning) return
        if (line.length >= ENOUGH) return void run()
        const ms = sent.jobId === undefined ? gatherMs.withJob : gatherMs.withoutJob
        if (start && ms === gatherMs.withoutJob) return
        clearTimeout(start)
        start = setTimeout(() => void run(), ms)
      })
    },
  }
}

async function settle(app: Needs, batch: readonly Pending[]): Promise<void> {
  try {
    await keepPatiently(
      app,
      batch.map(({ sent }) => sent),
    )
    for (const { resolve } of batch) resolve()
  } catch (error) {
    if (batch.length === 1) return batch[0]?.reject(error)
    for (const alone of batch) await settle(app, [alone])
  }
}

async function keepPatiently(app: Needs, sent: readonly Sent[]): Promise<void> {
  const until = performance.now() + (sent.length === 1 ? PATIENCE_MS : PATIENCE_MS / 4)
  for (let tried = 0; ; tried++) {
    try {
      const shard = shardOf(sent[0]?.outcome.reportId ?? '0')
      const marked = await inShardTransaction(app.pool, shard, (tx) => keepIn(tx, sent, app))
      return countMarked(marked, sent, app.tally ?? ownTally)
    } catch (error) {
      if (performance.now() > until) throw error
      await wait(PAUSES_MS[Math.min(tried, PAUSES_MS.length - 1)])
    }
  }
}

type Marked = Awaited<ReturnType<typeof markFeedback>>

function countMarked(marked: Marked, sent: readonly Sent[], tally: Tally): void {
  const outcomes = new Map(sent.map(({ outcome }) => [feedbackName(outcome), outcome]))
  for (const one of marked) {
    const outcome = outcomes.get(feedbackName(one))
    if (!outcome || outcome.isShadowed) continue
    tally.count(`desks/${outcome.state}/${one.consumerId}`)
    // What is sent or refused is counted with the mails themselves.
    if (outcome.state === 'held') tally.count('mail/feedback/held')
    if (outcome.state !== 'sent') continue
    tally.time('reports/time', outcome.at.getTime() - uuidTime(one.reportId).getTime())
  }
}

async function keepIn(tx: Db, sent: readonly Sent[], app: Needs): Promise<Marked> {
  const { boss } = app
  const outcomes = sent.map(({ outcome }) => outcome)
  const jobsOf = (isShadowed: boolean) =>
    sent.flatMap(({ jobId, outcome }) => {
      return jobId !== undefined && (outcome.isShadowed ?? false) === isShadowed ? [jobId] : []
    })
  const [marked] = await Promise.all([
    markFeedback(tx, outcomes),
    dropJobs(boss, queueOf({}), jobsOf(false), tx),
    dropJobs(boss, queueOf({ isShadowed: true }), jobsOf(true), tx),
  ])
  const names = new Set(marked.map(feedbackName))
  const mine = sent.filter(({ outcome }) => names.has(feedbackName(outcome)))
  if (mine.length === 0) return marked
  const heads = marked.filter(({ isHead }) => isHead)
  const covered = heads.length > 0 ? await listMerged(tx, heads) : []
  const left = mine.filter(({ outcome }) => outcome.state === 'sent')
  const leftNames = new Set(left.map(({ outcome }) => feedbackName(outcome)))
  const leftWith = covered.filter(({ head }) => leftNames.has(feedbackName(head)))
  const eventOf = new Map(mine.map(({ outcome, event }) => [feedbackName(outcome), event]))
  const events = [
    ...mine.flatMap(({ event, isShown }) => (isShown ? [] : [event])),
    ...covered.flatMap(({ member, head }) => {
      const event = eventOf.get(feedbackName(head))
      return event ? [{ ...event, reportId: member.reportId, phrases: together(event) }] : []
    }),
  ]
  const reportIds = [
    ...left.map(({ outcome }) => outcome.reportId),
    ...leftWith.map(({ member }) => member.reportId),
  ]
  const shown = new Set(mine.flatMap(({ outcome, isShown }) => (isShown ? outcome.reportId : [])))
  const now = left[0]?.outcome.at ?? new Date(0)
  await Promise.all([
    insertFeedbackMessages(
      tx,
      mine.map(({ outcome: { reportId, number }, copy }) => ({ reportId, number, ...copy })),
    ),
    insertEvents(tx, events),
    queueWebhooks(tx, boss, { 'report.told': reportIds.filter((id) => !shown.has(id)) }, now),
    markForwarded(tx, [...new Set(reportIds)], app, now),
    countMails(
      tx,
      'feedback',
      mine.flatMap(({ outcome }) => (outcome.isShadowed ? [] : outcome.state)),
    ),
  ])
  await failRecipients(tx, mine, app)
  return marked
}

/** Suppresses the refused addresses and notifies the next contacts. */
async function failRecipients(tx: Db, sent: readonly Sent[], app: Needs): Promise<void> {
  for (const { outcome, rejectedFor } of sent) {
    if (outcome.state !== 'refused' || !rejectedFor || rejectedFor === 'message') continue
    const feedback = await findFeedback(tx, outcome)
    if (!feedback) continue
    const refused = { about: rejectedFor, reply: outcome.reply ?? '' }
    await suppressConsumer(tx, feedback, refused, app, outcome.at)
  }
}

function together({ phrases }: ReportEvent): Phrase[] {
  return [...phrases, phrase('sent-with-others')]
}

/**
 * Marks reports as forwarded. If a report was retracted, or changed to "not spam", while its
 * feedback was being sent, the feedback is retracted too.
 */
async function markForwarded(tx: Db, ids: readonly string[], app: Needs, now: Date): Promise<void> {
  // An origin that was corrected in the meantime makes the complaint just sent a wrong one.
  await takeBackOutdated(tx, ids, app, now)
  const forwarded = new Set(await markReports(tx, ids, ['analyzed'], 'forwarded'))
  const others = ids.filter((id) => !forwarded.has(id))
  if (others.length === 0) return
  const retracted = (await listReportsByIds(tx, others)).filter(
    ({ state, kind }) => state === 'retracted' || kind === 'not-spam',
  )
  await takeBackComplaints(
    tx,
    retracted.map(({ id }) => id),
    app,
    now,
  )
}
