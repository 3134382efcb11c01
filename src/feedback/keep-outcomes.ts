import { setTimeout as wait } from 'node:timers/promises'
import type { App } from '../app.ts'
import {
  type FeedbackOutcome,
  findFeedback,
  insertFeedbackMessages,
  markFeedback,
  nameOf,
} from '../db/feedback-reports.ts'
import { listMerged } from '../db/feedback-waiting.ts'
import { countMails } from '../db/mail-relay.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import { insertEvents, type ReportEvent } from '../db/report-events.ts'
import { listReportsByIds, markReports } from '../db/reports.ts'
import type { Packed } from '../db/rows.ts'
import { oweWebhooks, send } from '../queue/boss.ts'
import { redeemReport } from '../queue/queues.ts'
import { suppressConsumer } from './suppress.ts'

/** What became of one feedback report, its exact copy, and what its story says. */
type Sent = {
  outcome: FeedbackOutcome
  /** What a `refused` one was refused for. */
  rejectedFor?: 'gone' | 'unreachable' | 'message' | undefined
  copy: Packed
  event: ReportEvent
}

/** Keeps what became of feedback reports as soon as each is known. */
export type Keeper = {
  /** Resolves when it is kept. Mail has left by then: it is tried again for a minute. */
  keep: (sent: Sent) => Promise<void>
}

type Needs = Pick<App, 'pool' | 'boss' | 'config'>
type Pending = { sent: Sent; resolve: () => void; reject: (error: unknown) => void }

const BATCH_MAX = 64
/**
 * So long one waits for others: a commit costs as much for one as for many, and nobody waits for
 * it but the job, whose mail has left.
 */
const GATHER_MS = 25
const PATIENCE_MS = 60_000
const PAUSES_MS = [100, 500, 2_000, 5_000]

/** While one batch commits, the next gathers. */
export function createKeeper(app: Needs): Keeper {
  const line: Pending[] = []
  let isRunning = false

  async function run(): Promise<void> {
    await wait(GATHER_MS)
    while (line.length > 0) await settle(app, line.splice(0, BATCH_MAX))
    isRunning = false
  }

  return {
    keep(sent) {
      return new Promise((resolve, reject) => {
        line.push({ sent, resolve, reject })
        if (isRunning) return
        isRunning = true
        void run()
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
      return await inTransaction(app.pool, (tx) => keepIn(tx, sent, app))
    } catch (error) {
      if (performance.now() > until) throw error
      await wait(PAUSES_MS[Math.min(tried, PAUSES_MS.length - 1)])
    }
  }
}

async function keepIn(tx: Db, sent: readonly Sent[], app: Needs): Promise<void> {
  const { boss } = app
  const outcomes = sent.map(({ outcome }) => outcome)
  const marked = new Set((await markFeedback(tx, outcomes)).map(nameOf))
  const mine = sent.filter(({ outcome }) => marked.has(nameOf(outcome)))
  if (mine.length === 0) return
  const told = await listMerged(
    tx,
    mine.map(({ outcome }) => outcome),
  )
  const left = mine.filter(({ outcome }) => outcome.state === 'sent')
  const leftNames = new Set(left.map(({ outcome }) => nameOf(outcome)))
  const leftWith = told.filter(({ head }) => leftNames.has(nameOf(head)))
  const eventOf = new Map(mine.map(({ outcome, event }) => [nameOf(outcome), event]))
  const events = [
    ...mine.map(({ event }) => event),
    ...told.flatMap(({ member, head }) => {
      const event = eventOf.get(nameOf(head))
      return event ? [{ ...event, reportId: member.reportId, detail: together(event) }] : []
    }),
  ]
  const reportIds = [
    ...left.map(({ outcome }) => outcome.reportId),
    ...leftWith.map(({ member }) => member.reportId),
  ]
  const now = left[0]?.outcome.at ?? new Date(0)
  await Promise.all([
    insertFeedbackMessages(
      tx,
      mine.map(({ outcome: { reportId, number }, copy }) => ({ reportId, number, ...copy })),
    ),
    insertEvents(tx, events),
    oweWebhooks(tx, boss, { 'report.told': reportIds }, now),
  ])
  await markForwarded(tx, [...new Set(reportIds)], boss)
  await failRecipients(tx, mine, app)
  await countMails(
    tx,
    'feedback',
    mine.map(({ outcome }) => outcome.state),
  )
}

/** Where a recipient was refused, its address is suppressed and the next contact is told. */
async function failRecipients(tx: Db, sent: readonly Sent[], app: Needs): Promise<void> {
  for (const { outcome, rejectedFor } of sent) {
    if (outcome.state !== 'refused' || !rejectedFor || rejectedFor === 'message') continue
    const feedback = await findFeedback(tx, outcome)
    if (!feedback) continue
    const refused = { about: rejectedFor, reply: outcome.reply ?? '' }
    await suppressConsumer(tx, feedback, refused, app, outcome.at)
  }
}

function together({ detail }: ReportEvent): string {
  return `${detail} It tells of this message together with others.`
}

/**
 * A report that was taken back, or changed to "not spam", while its feedback was leaving has that
 * taken back too.
 */
async function markForwarded(tx: Db, ids: readonly string[], boss: App['boss']): Promise<void> {
  const forwarded = new Set(await markReports(tx, ids, ['analyzed'], 'forwarded'))
  const others = ids.filter((id) => !forwarded.has(id))
  if (others.length === 0) return
  const retracted = (await listReportsByIds(tx, others)).filter(
    ({ state, kind }) => state === 'retracted' || kind === 'not-spam',
  )
  const jobs = retracted.map(({ id }) => ({ reportId: id }))
  await send(boss, redeemReport, jobs, tx)
}
