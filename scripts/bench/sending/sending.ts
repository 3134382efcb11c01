import { fork } from 'node:child_process'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { pino } from 'pino'
import { openApp } from '../../../src/processes/open-app.ts'
import { readConfig } from '../../../src/config.ts'
import { forwardReport } from '../../../src/feedback/queues.ts'
import { send } from '../../../src/queue/boss.ts'
import { fillOutbox } from '../../../test/support/torture/sending/fill-outbox.ts'
import { percentiles, printTable, readCorpus, variantOf } from '../corpus.ts'
import { cpuSeconds, type Instance, startInstance } from '../instance.ts'
import { forwardable, startSink } from '../pipeline.ts'

type Measured = { perSecond: number; cpuMicros: number }

type Way = 'bare' | 'mailer' | 'signing' | 'whole'

const CONSUMERS = 50
/**
 * No round begins after this time, because the whole benchmark should take less than a minute and a
 * half.
 */
const SECONDS_MAX = 65
const SECRET = 'a secret of the benchmark, not of anybody'

const ways: readonly (readonly [Way, string])[] = [
  ['bare', 'nodemailer’s pool'],
  ['mailer', 'our mailer over the pool'],
  ['signing', 'the same, signing'],
  ['whole', 'from queued to marked as sent'],
]

/**
 * Compares three ways to send the same bytes over equally many connections: nodemailer's pool
 * alone, our mailer on top of it with and without signatures, and the whole path from queued rows
 * to sent rows in one worker. The ways alternate, each in a separate process. The sink is another
 * process.
 */
export async function benchSending(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      mails: { type: 'string', default: '1000' },
      rounds: { type: 'string', default: '3' },
    },
  })
  const messages = await forwardable(readCorpus(['phishing']))
  const instance = await startInstance()
  const sink = await startSink()
  const settings = { SECRET, FEEDBACK_HOURLY_MAX: '1000000', MESSAGE_AGE_MAX: '0' }
  const config = readConfig(settings, { cores: 2, cwd: '/nowhere' })
  const its = { ...config, databaseUrl: instance.databaseUrl }
  const app = await openApp(its, 'sends', pino({ level: 'silent' }), 'bench')
  const measured: Record<Way, Measured[]> = { bare: [], mailer: [], signing: [], whole: [] }
  try {
    const messageOf = (index: number) =>
      variantOf(messages[index % messages.length] ?? Buffer.of(), index)
    await fillOutbox(app, Number(values.mails), CONSUMERS, messageOf)
    const startedAt = performance.now()
    // The first round makes the copies that the other rounds send; it does not count.
    await measureWhole(instance, sink.port)
    for (let round = 0; round < Number(values.rounds); round++) {
      if (round > 0 && performance.now() - startedAt > SECONDS_MAX * 1_000) break
      for (const way of ['bare', 'mailer', 'signing'] as const) {
        measured[way].push(await measureAlone(way, instance, sink.port))
      }
      await queueAgain(app)
      measured.whole.push(await measureWhole(instance, sink.port))
    }
  } finally {
    await app.close()
    await instance.close()
    sink.child.kill()
  }
  print(measured)
}

async function measureWhole(instance: Instance, port: number): Promise<Measured> {
  const env = {
    SMTP_URL: `smtp://127.0.0.1:${port}?ignoreTLS=true`,
    FEEDBACK_HOURLY_MAX: '1000000',
  }
  const child = await instance.run('work', env)
  const cpuBefore = await cpuSeconds(child.pid ?? 0)
  const count = async () => {
    const { rows } = await instance.pool.query<{ sent: number; first: Date; last: Date }>(
      `select count(*)::int as sent, min(finished_at) as first, max(finished_at) as last
       from feedback_reports where state = 'sent'`,
    )
    const { rows: queued } = await instance.pool.query(
      `select from feedback_reports where state = 'queued' limit 1`,
    )
    return { ...rows[0], isOver: queued.length === 0 }
  }
  for (;;) {
    const { sent = 0, first, last, isOver } = await count()
    if (!isOver || !first || !last) {
      await wait(200)
      continue
    }
    const cpuMicros = (((await cpuSeconds(child.pid ?? 0)) - cpuBefore) / sent) * 1e6
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    await ended
    return { perSecond: sent / ((last.getTime() - first.getTime()) / 1_000), cpuMicros }
  }
}

async function measureAlone(
  way: Exclude<Way, 'whole'>,
  { databaseUrl }: Instance,
  port: number,
): Promise<Measured> {
  const script = path.join(import.meta.dirname, 'one-way.ts')
  const child = fork(script, [databaseUrl, String(port), way])
  return new Promise((resolve, reject) => {
    child.once('disconnect', () => reject(new Error(`${way} ended without its result`)))
    child.once('message', ({ mails, wallMs, cpuMs }: Record<string, number>) => {
      const [all = 1, wall = 1, cpu = 0] = [mails, wallMs, cpuMs]
      resolve({ perSecond: all / (wall / 1_000), cpuMicros: (cpu / all) * 1_000 })
    })
  })
}

async function queueAgain(app: Awaited<ReturnType<typeof openApp>>): Promise<void> {
  await app.pool.query('truncate feedback_messages')
  const { rows } = await app.pool.query<{ reportId: string; number: number }>(
    `update feedback_reports set state = 'queued', finished_at = null, message_id = null
     returning report_id as "reportId", number`,
  )
  await send(app.boss, forwardReport, rows, app.pool)
}

function print(measured: Readonly<Record<Way, readonly Measured[]>>): void {
  const median = (way: Way, of: keyof Measured) =>
    percentiles(measured[way].map((one) => one[of])).p50
  const rows = ways.map(([way, name]) => [
    name,
    median(way, 'perSecond').toFixed(0),
    (median(way, 'perSecond') / median('bare', 'perSecond')).toFixed(2),
    `${median(way, 'cpuMicros').toFixed(0)} µs`,
    (median(way, 'cpuMicros') / median('bare', 'cpuMicros')).toFixed(2),
  ])
  const head = `\`bench sending\`, medians of ${measured.bare.length} rounds`
  printTable([head, 'mails/s', 'ratio', 'CPU a mail', 'ratio'], rows)
}
