import type { App } from '../app.ts'
import type { runForwardReport } from '../feedback/forward-report.ts'
import type { Forwarding } from '../feedback/leave-now.ts'
import type { runUnsubscribe } from '../marketers/unsubscribe-reporter.ts'
import type { runDeliverWebhook } from '../people/deliver-webhooks.ts'
import * as queues from '../queue/queues.ts'
import { type JobOutcome, schedule, workQueue } from '../queue/work.ts'
import type { runAnalyzeReport } from '../reports/analyze-report.ts'

/** Dependencies of the queue handlers besides the application. */
type Tools = Parameters<typeof runAnalyzeReport>[1] &
  Parameters<typeof runForwardReport>[1] &
  Parameters<typeof runUnsubscribe>[1] &
  Parameters<typeof runDeliverWebhook>[1] & { forwarding: Forwarding }

/**
 * The function that starts the handler of each queue. A process loads only the handlers that it
 * runs.
 */
export function startersOf(app: App, tools: Tools): Starters {
  return { ...lineStarters(app, tools), ...mailStarters(app, tools), ...choreStarters(app) }
}

type Starters = Record<string, () => Promise<void>>

/** From a received report to its feedback. */
function lineStarters(app: App, tools: Tools): Starters {
  return {
    [queues.analyzeReport.name]: async () => {
      const { runAnalyzeReport } = await import('../reports/analyze-report.ts')
      await workQueue(app, queues.analyzeReport, { batchSize: 50, concurrency: 2 }, (jobs) =>
        runAnalyzeReport(jobs, tools),
      )
    },
    [queues.findContact.name]: async () => {
      const { runFindContact } = await import('../feedback/find-contact.ts')
      await workQueue(app, queues.findContact, { batchSize: 20, concurrency: 1 }, (jobs) =>
        runFindContact(jobs, tools),
      )
    },
    [queues.forwardReport.name]: async () => {
      const { runForwardReport } = await import('../feedback/forward-report.ts')
      await workQueue(app, queues.forwardReport, { batchSize: 50, concurrency: 2 }, (jobs) =>
        runForwardReport(jobs, tools, tools.forwarding),
      )
    },
    [queues.redeemReport.name]: async () => {
      const { runRedeemReport } = await import('../reports/redeem-report.ts')
      await workQueue(app, queues.redeemReport, { batchSize: 50, concurrency: 1 }, (jobs) =>
        runRedeemReport(jobs, app),
      )
    },
  }
}

/** Letters and inbound mail. */
function mailStarters(app: App, tools: Tools): Starters {
  return {
    [queues.sendLetter.name]: async () => {
      const { runSendLetter } = await import('../feedback/send-letter.ts')
      await workQueue(app, queues.sendLetter, { batchSize: 20, concurrency: 1 }, (jobs) =>
        runSendLetter(jobs, tools, tools.forwarding.relay),
      )
    },
    [queues.adviseReporter.name]: async () => {
      const { runAdviseReporter } = await import('../letters/advise-reporter.ts')
      await workQueue(app, queues.adviseReporter, { batchSize: 20, concurrency: 1 }, (jobs) =>
        runAdviseReporter(jobs, app),
      )
    },
    [queues.unsubscribe.name]: async () => {
      const { runUnsubscribe } = await import('../marketers/unsubscribe-reporter.ts')
      await workQueue(app, queues.unsubscribe, { batchSize: 5, concurrency: 1 }, (jobs) =>
        runUnsubscribe(jobs, tools),
      )
    },
    [queues.deliverWebhook.name]: async () => {
      const { runDeliverWebhook, openWebhookLines } = await import('../people/deliver-webhooks.ts')
      const lines = openWebhookLines()
      await workQueue(app, queues.deliverWebhook, { batchSize: 50, concurrency: 2 }, (jobs) =>
        runDeliverWebhook(jobs, tools, lines),
      )
    },
    [queues.eraseAccount.name]: async () => {
      const { runEraseAccount } = await import('../reports/erase-account.ts')
      await workQueue(app, queues.eraseAccount, { batchSize: 1, concurrency: 1 }, (jobs) =>
        Promise.all(jobs.map((job) => runEraseAccount(job, app))),
      )
    },
    [queues.handleInbound.name]: async () => {
      const { runHandleInbound } = await import('../feedback/handle-inbound.ts')
      await workQueue(app, queues.handleInbound, { batchSize: 10, concurrency: 1 }, (jobs) =>
        runHandleInbound(jobs, tools),
      )
    },
    [queues.takeMailed.name]: async () => {
      const { runTakeMailed } = await import('../reports/take-mailed.ts')
      const { createIntake } = await import('../reports/accept-report.ts')
      const { createLimits } = await import('../people/limits.ts')
      const needs = { ...app, intake: createIntake(app), limits: createLimits(app) }
      await workQueue(app, queues.takeMailed, { batchSize: 5, concurrency: 1 }, async (jobs) => {
        const outcomes: JobOutcome[] = []
        for (const job of jobs) outcomes.push(await runTakeMailed(job, needs))
        return outcomes
      })
    },
  }
}

/** Scheduled tasks, at the times of their cron expressions. */
function choreStarters(app: App): Starters {
  return {
    [queues.keepHouse.name]: async () => {
      const { runKeepHouse } = await import('../reports/keep-house.ts')
      await chore(app, queues.keepHouse, '17 * * * *', runKeepHouse)
    },
    [queues.learnRelays.name]: async () => {
      const { runLearnRelays } = await import('../reports/relays.ts')
      await chore(app, queues.learnRelays, '41 * * * *', runLearnRelays)
    },
    [queues.markDead.name]: async () => {
      const { runMarkDead } = await import('../reports/keep-house.ts')
      await chore(app, queues.markDead, '* * * * *', runMarkDead)
    },
    [queues.proposeMarketers.name]: async () => {
      const { runProposeMarketers } = await import('../marketers/propose-marketers.ts')
      await chore(app, queues.proposeMarketers, '29 */6 * * *', runProposeMarketers)
    },
    [queues.paceFeedback.name]: async () => {
      const { runPaceFeedback } = await import('../feedback/pace-feedback.ts')
      await chore(app, queues.paceFeedback, '* * * * *', runPaceFeedback)
    },
    [queues.publishLists.name]: async () => {
      const { runPublishLists } = await import('../lists/publish-lists.ts')
      await chore(app, queues.publishLists, '*/10 * * * *', runPublishLists)
    },
  }
}

/** Runs a task at the times of a cron expression, in one process at a time. */
async function chore(
  app: App,
  queue: typeof queues.keepHouse,
  cron: string,
  run: (app: App) => Promise<unknown>,
): Promise<void> {
  await workQueue(app, queue, { batchSize: 1, concurrency: 1 }, async () => {
    await run(app)
    return ['done']
  })
  await schedule(app.boss, queue, cron)
}

const FAILED = 1
/** Longer than any part takes to stop, shorter than the timeout of service managers. */
const CLOSE_MS_MAX = 25_000

/** Resolves at SIGTERM, SIGINT, or when the supervisor ends. Later signals have no effect. */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.on('SIGTERM', () => resolve())
    process.on('SIGINT', () => resolve())
    if (process.channel) process.once('disconnect', () => resolve())
  })
}

/**
 * Closes the part, and exits with a failure code if that takes longer than `CLOSE_MS_MAX` plus
 * `drainMs`.
 */
export async function closeInTime(close: () => Promise<void>, drainMs = 0): Promise<void> {
  setTimeout(() => process.exit(FAILED), CLOSE_MS_MAX + drainMs).unref()
  await close()
  if (process.connected) process.disconnect?.()
}
