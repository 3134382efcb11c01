import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import { migrateAll } from '../../../../src/commands/migrate.ts'
import { type OpenApp, openApp } from '../../../../src/commands/open-app.ts'
import { readConfig } from '../../../../src/config.ts'
import { startEmbedded } from '../../../../src/db/embedded.ts'
import { forwardReports } from '../../../../src/jobs/forward-report.ts'
import { forwardingIdle, openForwarding } from '../../../../src/jobs/forwarding/open-forwarding.ts'
import { createMailer } from '../../../../src/outbound/mailer.ts'
import { createParserPool } from '../../../../src/parsing/parser-pool.ts'
import { forwardReport } from '../../../../src/queue/queues.ts'
import { work } from '../../../../src/queue/work.ts'
import { spamMessage } from '../../messages.ts'
import { type SunkMail, startSmtpSink } from '../../smtp-sink.ts'
import { STALLING_WORDS } from '../../stalling-thread.ts'
import { fillOutbox } from './fill-outbox.ts'

const MESSAGES = 100
const CONSUMERS = 4
const POISON_BYTES = 2_000_000
const SETTLE_MS = 180_000
/** A batch waits 10 s for what is being composed; the old delay was 177 s. */
const DELAY_MS_MAX = 20_000
const threadFile = path.join(import.meta.dirname, '../../stalling-thread.ts')

/** Every tenth message is poison, of one kind after the other. */
const kinds = ['dashes', 'boundary', STALLING_WORDS] as const

type Left = { mail: SunkMail; ms: number }

/**
 * Forwards messages that are hard to compose among others through the real queue, and again
 * without them: all leave, those that never end with their header alone, and the others are not
 * delayed. Returns faults.
 */
export async function tortureComposing(say: (line: string) => void): Promise<string[]> {
  const usual = await forwardAll((index) => spamMessage(`usual-${index}`))
  const mixed = await forwardAll((index) => poisonOf(index) ?? spamMessage(`usual-${index}`))
  const others = mixed.filter(({ mail }) => mail.raw.includes('Cheap watches usual-'))
  const [before, after] = [lastOf(usual), lastOf(others)]
  say(`${usual.length} usual messages left within ${before} ms`)
  say(`with poison among them, ${others.length} usual ones left within ${after} ms`)
  const faults = [usual, mixed].flatMap(({ length }) =>
    length === MESSAGES ? [] : [`${length} of ${MESSAGES} messages left`],
  )
  for (const kind of kinds) {
    const its = mixed.filter(({ mail }) => mail.raw.includes(`Cheap watches ${kind}`))
    const cut = its.filter(({ mail }) => mail.raw.includes('Content-Type: text/rfc822-headers'))
    say(`${kind}: ${its.length} left within ${lastOf(its)} ms, ${cut.length} as a header alone`)
    if (its.length === 0) faults.push(`no message with ${kind} left`)
    if (kind === STALLING_WORDS && cut.length < its.length) faults.push('one that stalls was whole')
  }
  if (after - before > DELAY_MS_MAX) faults.push(`poison delays others by ${after - before} ms`)
  return faults
}

function lastOf(left: readonly Left[]): number {
  return Math.round(Math.max(0, ...left.map(({ ms }) => ms)))
}

/** A line of 2 MB, a boundary of 8,000 characters, or what the thread stalls on. */
function poisonOf(index: number): Buffer | undefined {
  if (index % 10 !== 0) return undefined
  const kind = kinds[(index / 10) % kinds.length] ?? STALLING_WORDS
  const plain = spamMessage(`${kind}-${index}`).toString('latin1')
  if (kind === 'dashes') return Buffer.from(plain + '-'.repeat(POISON_BYTES), 'latin1')
  if (kind === STALLING_WORDS) return Buffer.from(plain, 'latin1')
  const boundary = '-'.repeat(8_000)
  const type = `multipart/mixed; boundary="${boundary}"`
  const [head = ''] = plain.split('\r\n\r\n')
  const parts = `\r\n--${boundary}\r\n\r\nx`.repeat(Math.ceil(POISON_BYTES / 8_010))
  const header = head.replace('text/plain; charset=utf-8', type)
  return Buffer.from(`${header}\r\n\r\n${parts}`, 'latin1')
}

async function forwardAll(bytesOf: (index: number) => Buffer): Promise<Left[]> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'signalpost-composing-'))
  await chmod(dataDir, 0o755)
  const server = await startEmbedded({ dataDir, password: 'torture', settings: [] })
  const closers = [() => server.stop()]
  try {
    await migrateAll(server.url, new Date())
    const sink = await startSmtpSink()
    closers.unshift(() => sink.close())
    const env = { SECRET: 'a secret of the torture, long enough for all', SMTP_URL: sink.url }
    const config = { ...readConfig(env, { cores: 1, cwd: '/nowhere' }), databaseUrl: server.url }
    const app = await openApp(config, 'works', pino({ level: 'silent' }), 'torture')
    closers.unshift(() => app.close())
    await fillOutbox(app, MESSAGES, CONSUMERS, bytesOf)
    const worker = await startForwarding(app)
    closers.unshift(() => worker.close())
    return await collect(sink.messages)
  } finally {
    for (const close of closers) await close()
    await rm(dataDir, { recursive: true, force: true })
    await rm(server.folder, { recursive: true, force: true })
  }
}

/** Works the queue as `work` does, with one thread, which can stall. */
async function startForwarding(app: OpenApp): Promise<{ close: () => Promise<void> }> {
  const parser = createParserPool(1, undefined, { threadFile })
  const mailer = createMailer(app.config.smtpUrl)
  const forwarding = openForwarding(app)
  const tools = { ...app, parser, mailer }
  await work(app, forwardReport, { batchSize: 50, concurrency: 2 }, (jobs) =>
    forwardReports(jobs, tools, forwarding),
  )
  return {
    async close() {
      await app.boss.offWork(forwardReport.name, { wait: true })
      await mailer?.close()
      await forwardingIdle(forwarding)
      await parser.close()
    },
  }
}

/** The mails with the time at which each was first seen. */
async function collect(messages: readonly SunkMail[]): Promise<Left[]> {
  const left: Left[] = []
  const started = performance.now()
  while (left.length < MESSAGES && performance.now() - started < SETTLE_MS) {
    const ms = performance.now() - started
    for (const mail of messages.slice(left.length)) left.push({ mail, ms })
    await wait(50)
  }
  return left
}
