import { parseArgs } from 'node:util'
import type { App } from '../app.ts'
import { UsageError } from '../errors.ts'
import type { analyzeReports } from '../jobs/analyze-report.ts'
import type { forwardReports } from '../jobs/forward-report.ts'
import { createParserPool } from '../parsing/parser-pool.ts'
import { openJudge } from '../judging/open-judge.ts'
import { createMailer } from '../outbound/mailer.ts'
import * as queues from '../queue/queues.ts'
import { schedule, work as workQueue } from '../queue/work.ts'
import { openRdap } from './contact.ts'
import { openDns } from './open-dns.ts'

/** A report is judged by what was known so long ago at most. */
const JUDGED_FRESH_MS = 10_000

/** The queues that `--queues` may name. */
export const queueNames: readonly string[] = queues.queues.map(({ name }) => name)

/** The queues named by `--queues a,b`; all of them without it. */
export function parseQueues(args: readonly string[]): readonly string[] {
  const { values } = parseArgs({ args: [...args], options: { queues: { type: 'string' } } })
  const named = values.queues?.split(',').map((name) => name.trim()) ?? queueNames
  const unknown = named.filter((name) => !queueNames.includes(name))
  if (unknown.length === 0) return named
  const known = queueNames.join(', ')
  throw new UsageError(unknown.map((name) => `There is no queue "${name}"; there are ${known}.`))
}

/**
 * Takes jobs of the named queues until closed.
 *
 * @throws UsageError naming every wrong entry of BLACKLISTS
 */
export async function work(
  app: App,
  names: readonly string[],
): Promise<{ close: () => Promise<void> }> {
  const { tools: dnsTools, blacklists, close: closeDns } = await openDns(app.config, app)
  const parser = createParserPool(app.config.workers)
  const mailer = createMailer(app.config.smtpUrl)
  const dns = app.config.dnsServers === 'none' ? undefined : dnsTools
  const rdap = openRdap(app.config)
  const opened = names.includes(queues.analyzeReport.name)
    ? await openJudge(app, { name: 'work', freshMs: JUDGED_FRESH_MS })
    : undefined
  const judge = opened?.judge ?? (() => Promise.reject(new Error('Nothing is judged here.')))
  const tools = { ...app, parser, mailer, dns, rdap, judge }
  const starters = startersOf(app, tools)
  if (names.includes(queues.analyzeReport.name)) void blacklists.test()
  for (const name of names) await starters[name]?.()
  app.log.info({ queues: names, threads: app.config.workers }, 'Working.')
  return {
    close: async () => {
      await Promise.all(names.map((name) => app.boss.offWork(name, { wait: true })))
      closeDns()
      await opened?.close()
      await parser.close()
      await mailer?.close()
    },
  }
}

type Tools = Parameters<typeof analyzeReports>[1] & Parameters<typeof forwardReports>[1]

/** What starts the work on each queue. A process loads what it works, and nothing else. */
function startersOf(app: App, tools: Tools): Record<string, () => Promise<void>> {
  return {
    [queues.analyzeReport.name]: async () => {
      const { analyzeReports } = await import('../jobs/analyze-report.ts')
      await workQueue(app, queues.analyzeReport, { batchSize: 50, concurrency: 2 }, (jobs) =>
        analyzeReports(jobs, tools),
      )
    },
    [queues.findContact.name]: async () => {
      const { findContacts } = await import('../jobs/find-contact.ts')
      await workQueue(app, queues.findContact, { batchSize: 20, concurrency: 1 }, (jobs) =>
        findContacts(jobs, tools),
      )
    },
    [queues.forwardReport.name]: async () => {
      const { forwardReports } = await import('../jobs/forward-report.ts')
      await workQueue(app, queues.forwardReport, { batchSize: 50, concurrency: 2 }, (jobs) =>
        forwardReports(jobs, tools),
      )
    },
    [queues.redeemReport.name]: async () => {
      const { redeemReports } = await import('../jobs/redeem-report.ts')
      await workQueue(app, queues.redeemReport, { batchSize: 50, concurrency: 1 }, (jobs) =>
        redeemReports(jobs, app),
      )
    },
    [queues.handleInbound.name]: async () => {
      const { handleInboundMail } = await import('../jobs/handle-inbound.ts')
      await workQueue(
        app,
        queues.handleInbound,
        { batchSize: 10, concurrency: 1 },
        async (jobs) => {
          for (const job of jobs) await handleInboundMail(job, app)
          return jobs.map(() => 'done')
        },
      )
    },
    [queues.keepHouse.name]: async () => {
      const { keepHouse } = await import('../jobs/keep-house.ts')
      await chore(app, queues.keepHouse, '17 * * * *', keepHouse)
    },
    [queues.learnRelays.name]: async () => {
      const { learnAllRelays } = await import('../jobs/learn-relays.ts')
      await chore(app, queues.learnRelays, '41 * * * *', learnAllRelays)
    },
    [queues.markDead.name]: async () => {
      const { markDeadReports } = await import('../jobs/keep-house.ts')
      await chore(app, queues.markDead, '* * * * *', markDeadReports)
    },
    [queues.publishLists.name]: async () => {
      const { publishLists } = await import('../jobs/lists/publish-lists.ts')
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
