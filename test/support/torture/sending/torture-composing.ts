import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { OpenApp } from '../../../../src/processes/open-app.ts'
import { runForwardReport } from '../../../../src/feedback/forward-report.ts'
import { forwardReport } from '../../../../src/feedback/queues.ts'
import { forwardingIdle, openForwarding } from '../../../../src/feedback/select-sendable.ts'
import { createMailer } from '../../../../src/net/mailer.ts'
import { createParserPool } from '../../../../src/parsing/parser-pool.ts'
import { workQueue } from '../../../../src/queue/work.ts'
import { spamMessage } from '../../messages.ts'
import type { SunkMail } from '../../smtp-sink.ts'
import { STALLING_WORDS } from '../../stalling-thread.ts'
import { fillOutbox } from './fill-outbox.ts'
import { withSink } from './with-sink.ts'

const MESSAGES = 100
const CONSUMERS = 4
const POISON_BYTES = 2_000_000
const SETTLE_MS = 180_000
/**
 * In milliseconds. Each message that stalls takes 2 s of the only thread, plus the start of a new
 * one.
 */
const DELAY_MS_MAX = 20_000
/**
 * In milliseconds. A stalling message gets 2 s, then 20 s in the slow lane; before, it took 77 s.
 */
const STALLED_MS_MAX = 45_000
const threadFile = path.join(import.meta.dirname, '../../stalling-thread.ts')

/** Every tenth message is hostile, of each kind in turn. */
const kinds = ['dashes', 'boundary', STALLING_WORDS] as const

type Left = { mail: SunkMail; ms: number }

/**
 * Forwards messages through the real queue: first only usual ones, then a mixture with hostile
 * ones, which are hard to compose. All must be sent. A message whose composing never ends must be
 * sent with only its header, and the usual messages must not be delayed. Returns the faults.
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
    if (kind !== STALLING_WORDS) continue
    if (cut.length < its.length) faults.push('one that stalls was whole')
    if (lastOf(its) > STALLED_MS_MAX) faults.push('one that stalls left late')
  }
  if (after - before > DELAY_MS_MAX) faults.push(`poison delays others by ${after - before} ms`)
  return faults
}

function lastOf(left: readonly Left[]): number {
  return Math.round(Math.max(0, ...left.map(({ ms }) => ms)))
}

/**
 * Returns a hostile message for every tenth index, and undefined for the others. The message has a
 * line of 2 MB, a boundary of 8,000 characters, or a text on which the thread stalls.
 */
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

function forwardAll(bytesOf: (index: number) => Buffer): Promise<Left[]> {
  return withSink(async (app, sink) => {
    await fillOutbox(app, MESSAGES, CONSUMERS, bytesOf)
    const worker = await startForwarding(app)
    try {
      return await collect(sink.messages)
    } finally {
      await worker.close()
    }
  })
}

/** Processes the queue like `work`, with one thread, which may stall. */
async function startForwarding(app: OpenApp): Promise<{ close: () => Promise<void> }> {
  const parser = createParserPool(1, undefined, { threadFile })
  const mailer = createMailer(app.config.smtpUrl)
  const forwarding = openForwarding(app)
  const tools = { ...app, parser, mailer }
  const worker = await workQueue(app, forwardReport, (jobs) =>
    runForwardReport(jobs, tools, forwarding),
  )
  return {
    async close() {
      await worker.close()
      await mailer?.close()
      await forwardingIdle(forwarding)
      await parser.close()
    },
  }
}

/** Returns the mails with the time at which each was first seen. */
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
