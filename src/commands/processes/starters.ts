import type { App } from '../../app.ts'
import type { analyzeReports } from '../../jobs/analyze-report.ts'
import type { forwardReports } from '../../jobs/forward-report.ts'
import type { Forwarding } from '../../jobs/forwarding/open-forwarding.ts'
import type { deliverWebhooks } from '../../jobs/webhooks/deliver-webhooks.ts'
import type { unsubscribeReporters } from '../../jobs/marketers/unsubscribe-reporter.ts'
import * as queues from '../../queue/queues.ts'
import { type JobOutcome, schedule, work as workQueue } from '../../queue/work.ts'

/** What the work on the queues needs besides the application. */
type Tools = Parameters<typeof analyzeReports>[1] &
  Parameters<typeof forwardReports>[1] &
  Parameters<typeof unsubscribeReporters>[1] &
  Parameters<typeof deliverWebhooks>[1] & { forwarding: Forwarding }

/** What starts the work on each queue. A process loads what it works, and nothing else. */
export function startersOf(app: App, tools: Tools): Starters {
  return { ...lineStarters(app, tools), ...mailStarters(app, tools), ...choreStarters(app) }
}

type Starters = Record<string, () => Promise<void>>

/** From a report that came in to who is told. */
function lineStarters(app: App, tools: Tools): Starters {
  return {
    [queues.analyzeReport.name]: async () => {
      const { analyzeReports } = await import('../../jobs/analyze-report.ts')
      await workQueue(app, queues.analyzeReport, { batchSize: 50, concurrency: 2 }, (jobs) =>
        analyzeReports(jobs, tools),
      )
    },
    [queues.findContact.name]: async () => {
      const { findContacts } = await import('../../jobs/find-contact.ts')
      await workQueue(app, queues.findContact, { batchSize: 20, concurrency: 1 }, (jobs) =>
        findContacts(jobs, tools),
      )
    },
    [queues.forwardReport.name]: async () => {
      const { forwardReports } = await import('../../jobs/forward-report.ts')
      await workQueue(app, queues.forwardReport, { batchSize: 50, concurrency: 2 }, (jobs) =>
        forwardReports(jobs, tools, tools.forwarding),
      )
    },
    [queues.redeemReport.name]: async () => {
      const { redeemReports } = await import('../../jobs/redeem-report.ts')
      await workQueue(app, queues.redeemReport, { batchSize: 50, concurrency: 1 }, (jobs) =>
        redeemReports(jobs, app),
      )
    },
  }
}

/** Mail to people, and mail that comes in. */
function mailStarters(app: App, tools: Tools): Starters {
  return {
    [queues.sendLetter.name]: async () => {
      const { sendLetters } = await import('../../jobs/send-letter.ts')
      await workQueue(app, queues.sendLetter, { batchSize: 20, concurrency: 1 }, (jobs) =>
        sendLetters(jobs, tools, tools.forwarding.relay),
      )
    },
    [queues.adviseReporter.name]: async () => {
      const { adviseReporters } = await import('../../jobs/advise-reporter.ts')
      await workQueue(app, queues.adviseReporter, { batchSize: 20, concurrency: 1 }, (jobs) =>
        adviseReporters(jobs, app),
      )
    },
    [queues.unsubscribe.name]: async () => {
      const { unsubscribeReporters } = await import('../../jobs/marketers/unsubscribe-reporter.ts')
      await workQueue(app, queues.unsubscribe, { batchSize: 5, concurrency: 1 }, (jobs) =>
        unsubscribeReporters(jobs, tools),
      )
    },
    [queues.deliverWebhook.name]: async () => {
      const { deliverWebhooks, openWebhookLines } =
        await import('../../jobs/webhooks/deliver-webhooks.ts')
      const lines = openWebhookLines()
      await workQueue(app, queues.deliverWebhook, { batchSize: 50, concurrency: 2 }, (jobs) =>
        deliverWebhooks(jobs, tools, lines),
      )
    },
    [queues.eraseAccount.name]: async () => {
      const { eraseAccount } = await import('../../jobs/erasing/erase-account.ts')
      await workQueue(app, queues.eraseAccount, { batchSize: 1, concurrency: 1 }, (jobs) =>
        Promise.all(jobs.map((job) => eraseAccount(job, app))),
      )
    },
    [queues.handleInbound.name]: async () => {
      const { handleInboundMails } = await import('../../jobs/handle-inbound.ts')
      await workQueue(app, queues.handleInbound, { batchSize: 10, concurrency: 1 }, (jobs) =>
        handleInboundMails(jobs, tools),
      )
    },
    [queues.takeMailed.name]: async () => {
      const { takeMailed } = await import('../../jobs/mail-in/take-mailed.ts')
      const { createIntake } = await import('../../intake/accept-report.ts')
      const { createLimits } = await import('../../intake/limits/limits.ts')
      const needs = { ...app, intake: createIntake(app), limits: createLimits(app) }
      await workQueue(app, queues.takeMailed, { batchSize: 5, concurrency: 1 }, async (jobs) => {
        const outcomes: JobOutcome[] = []
        for (const job of jobs) outcomes.push(await takeMailed(job, needs))
        return outcomes
      })
    },
  }
}

/** Chores, at the times of their cron lines. */
function choreStarters(app: App): Starters {
  return {
    [queues.keepHouse.name]: async () => {
      const { keepHouse } = await import('../../jobs/keep-house.ts')
      await chore(app, queues.keepHouse, '17 * * * *', keepHouse)
    },
    [queues.learnRelays.name]: async () => {
      const { learnAllRelays } = await import('../../jobs/learn-relays.ts')
      await chore(app, queues.learnRelays, '41 * * * *', learnAllRelays)
    },
    [queues.markDead.name]: async () => {
      const { markDeadReports } = await import('../../jobs/keep-house.ts')
      await chore(app, queues.markDead, '* * * * *', markDeadReports)
    },
    [queues.proposeMarketers.name]: async () => {
      const { proposeMarketers } = await import('../../jobs/marketers/propose-marketers.ts')
      await chore(app, queues.proposeMarketers, '29 */6 * * *', proposeMarketers)
    },
    [queues.paceFeedback.name]: async () => {
      const { paceFeedback } = await import('../../jobs/pace/pace-feedback.ts')
      await chore(app, queues.paceFeedback, '* * * * *', paceFeedback)
    },
    [queues.publishLists.name]: async () => {
      const { publishLists } = await import('../../jobs/lists/publish-lists.ts')
      await chore(app, queues.publishLists, '*/10 * * * *', publishLists)
    },
  }
}

/** Does a chore at the times of a cron line, one process at a time. */
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
