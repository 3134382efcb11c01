import { pino } from 'pino'
import { openApp } from '../../../../src/processes/open-app.ts'
import { readConfig } from '../../../../src/config.ts'
import { runForwardReport } from '../../../../src/feedback/forward-report.ts'
import { forwardReport } from '../../../../src/feedback/queues.ts'
import { openForwarding } from '../../../../src/feedback/select-sendable.ts'
import { createRelayGate } from '../../../../src/letters/relay-gate.ts'
import { startRelayWatch } from '../../../../src/letters/relay-watch.ts'
import { createMailer, createProbe } from '../../../../src/net/mailer.ts'
import { createParserPool } from '../../../../src/parsing/parser-pool.ts'
import { workQueue } from '../../../../src/queue/work.ts'

// One process of a torture run that may be killed: it forwards like the worker, with short waits.
const [databaseUrl = '', smtpUrl = '', secret = ''] = process.argv.slice(2)
process.once('disconnect', () => process.exit())
const env = { FEEDBACK_HOURLY_MAX: '1000000', SECRET: secret, SMTP_URL: smtpUrl }
const config = { ...readConfig(env, { cores: 1, cwd: '/nowhere' }), databaseUrl }
const app = await openApp(config, 'works', pino({ level: 'silent' }), 'torture')
const mailer = createMailer(smtpUrl, {
  ...{ stallMs: 300, sendMsMax: 2_000, silenceMs: 1_000, greetingMs: 1_000, placeMs: 1_000 },
})
const forwarding = openForwarding(app, {
  ...{ waitMsMax: 1_000, leaseMs: 6_000, retryMs: 500 },
  pauses: { refusalMs: 200, stallMs: 500, refusalMsMax: 1_000, stallMsMax: 2_000 },
  relay: createRelayGate(app, {
    firstMs: 500,
    maxMs: 2_000,
    silentMsMax: 2_000,
    againMsMax: 2_000,
  }),
})
const parser = createParserPool(1)
await workQueue(app, { ...forwardReport, batchSize: 20 }, (jobs) =>
  runForwardReport(jobs, { ...app, parser, mailer }, forwarding),
)
startRelayWatch(app, forwarding.relay, createProbe(smtpUrl, config.mailFrom))
process.send?.('working')
