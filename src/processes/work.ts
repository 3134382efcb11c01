import { parseArgs } from 'node:util'
import type { App } from '../app.ts'
import { UsageError } from '../errors.ts'
import { forwardAtOnce, type HandedOver } from '../feedback/forward-report.ts'
import { forwardReport } from '../feedback/queues.ts'
import { forwardingIdle, hasRoom, openForwarding } from '../feedback/select-sendable.ts'
import { SEND_MS_MAX } from '../letters/relay-gate.ts'
import { mailQueueNames } from '../letters/queues.ts'
import { startRelayWatch } from '../letters/relay-watch.ts'
import { openJudge } from '../judging/judge.ts'
import { openMarketers } from '../marketers/live-marketers.ts'
import { createMailer, createProbe } from '../net/mailer.ts'
import { readSigningKey, signing } from '../net/signing.ts'
import { createOneClick } from '../net/one-click.ts'
import { createBoundedFetch } from '../net/guarded-http.ts'
import { createPostWebhook } from '../net/webhook.ts'
import { createParserPool } from '../parsing/parser-pool.ts'
import { openDeliveries } from '../people/deliver-webhooks.ts'
import { createLimits } from '../people/limits.ts'
import { createKnownExchangers } from '../reports/known-exchangers.ts'
import { analyzeReport } from '../reports/queues.ts'
import { createTrapMemory } from '../reports/take-trapped.ts'
import { createIntake } from '../reports/accept-report.ts'
import { createShownTexts } from '../reports/read-messages.ts'
import { indexReports } from '../search/queues.ts'
import { openDns, openRdap } from './open-network.ts'
import { handledQueues, queueNames } from './handlers.ts'

/** Maximum age in milliseconds of the cached data by which a report is judged. */
const JUDGED_FRESH_MS = 10_000
/** Sends pages to partners. */
const submit = createBoundedFetch({ bytesMax: 64 * 1024, msMax: 20_000 })

/** Parses `--queues a,b`; without the option, returns all queues. */
export function parseQueues(args: readonly string[]): readonly string[] {
  const { values } = parseArgs({ args: [...args], options: { queues: { type: 'string' } } })
  const named = values.queues?.split(',').map((name) => name.trim()) ?? queueNames
  const unknown = named.filter((name) => !queueNames.includes(name))
  if (unknown.length === 0) return named
  const known = queueNames.join(', ')
  throw new UsageError(unknown.map((name) => `Unknown queue "${name}". The queues are ${known}.`))
}

/**
 * Processes jobs of the named queues until closed.
 *
 * @throws UsageError listing every invalid entry of BLACKLISTS, or the error in the DKIM key
 */
export async function startWork(
  app: App,
  names: readonly string[],
): Promise<{ close: () => Promise<void> }> {
  const { tools: dnsTools, blacklists, close: closeDns } = await openDns(app.config, app)
  const signingKey = await readSigningKey(app.config, app.log)
  const mailer = signing(createMailer(app.config.smtpUrl, { sendMsMax: SEND_MS_MAX }), signingKey)
  const dns = app.config.dnsServers === 'none' ? undefined : dnsTools
  const rdap = openRdap(app.config)
  const opened = names.includes(analyzeReport.name)
    ? await openJudge(app, { name: 'work', freshMs: JUDGED_FRESH_MS })
    : undefined
  const needs = { signingKey, app, ...opened?.reads }
  const parser = createParserPool(app.config.workers, undefined, needs)
  const judge =
    opened?.judge ?? (() => Promise.reject(new Error('This process does not judge messages.')))
  const marketers = opened && (await openMarketers(app))
  const userAgent = `Signalpost (${app.config.publicUrl})`
  const postOneClick = createOneClick({ resolve: dnsTools.resolve, userAgent })
  const networks = app.config.webhookNetworks
  const postWebhook = createPostWebhook({ resolve: dnsTools.resolve, networks, userAgent })
  const forwarding = openForwarding(app)
  const mailIn = { intake: createIntake(app), limits: createLimits(app) }
  const sender = { ...app, parser, mailer }
  const tools = {
    ...{ ...sender, dns, rdap, judge, forwarding },
    exchangersOf: dns && createKnownExchangers({ ...app, resolve: dns.resolve }),
    ...{ ...(marketers && { marketers }), ...mailIn, trapMemory: createTrapMemory() },
    ...{ postOneClick, postWebhook, submit, deliveries: openDeliveries() },
    shownTexts: names.includes(indexReports.name) ? createShownTexts() : undefined,
    forwardAtOnce: names.includes(forwardReport.name)
      ? {
          // While the queue is paused, its jobs wait like all others.
          hasRoom: async () => !app.boss.isPaused(forwardReport.name) && hasRoom(forwarding),
          send: (created: readonly HandedOver[]) => void forwardAtOnce(created, sender, forwarding),
        }
      : undefined,
  }
  if (names.includes(analyzeReport.name)) void blacklists.test()
  const wanted = handledQueues.filter(({ queue }) => names.includes(queue.name))
  const workers = await Promise.all(wanted.map(({ work }) => work(tools)))
  const { smtpUrl, mailFrom } = app.config
  const watch =
    smtpUrl !== undefined && names.some((name) => mailQueueNames.includes(name))
      ? startRelayWatch(app, forwarding.relay, createProbe(smtpUrl, mailFrom))
      : undefined
  app.log.info({ queues: names, threads: app.config.workers }, 'Processing jobs.')
  return {
    close: async () => {
      await Promise.all(workers.map((worker) => worker.close()))
      closeDns()
      await opened?.close()
      await marketers?.close()
      // Closing the mailer ends the current deliveries. Their outcomes are stored before the
      // process stops.
      await mailer?.close()
      await forwardingIdle(forwarding)
      await watch?.close()
      await Promise.allSettled(app.boss.givingBack)
      await parser.close()
    },
  }
}
