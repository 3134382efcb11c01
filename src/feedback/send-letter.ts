import { setTimeout as wait } from 'node:timers/promises'
import type { WorkApp } from '../app.ts'
import { findLetter, findLetterMessage, type Letter, markLetter } from '../db/letters.ts'
import { countMails } from '../db/mail-relay.ts'
import { inTransaction } from '../db/pool.ts'
import { unpack } from '../db/rows.ts'
import { listSuppressed } from '../db/suppressions.ts'
import { reasonOf } from '../errors.ts'
import { composeLetterReturnPath } from '../mail/verp.ts'
import type { JobOutcome } from '../queue/work.ts'
import { createRelayGate, isRefusal, LEASE_MS, type RelayGate } from './relay-gate.ts'
import { suppressRefused } from './suppress.ts'

type Needs = Pick<WorkApp, 'pool' | 'clock' | 'config' | 'mailer'>
type Payload = {
  letterId: string
  putOffSince?: string | undefined
  refusedSince?: string | undefined
}

/** Time in milliseconds after which an undeliverable letter is given up (RFC 5321 §4.5.4.1). */
const GIVE_UP_MS = 5 * 86_400_000
/**
 * Time in milliseconds that a batch waits for its letters; the others continue without their jobs.
 */
const PATIENCE_MS = 5_000

/**
 * Sends letters, or holds them while sending is disabled. A letter to a suppressed address is
 * marked as suppressed. The copy is composed in advance, so every run sends the same bytes. A
 * stalled letter continues without its job, which runs again when the attempt has surely ended.
 * While our own mail server refuses mail, letters wait.
 */
export async function runSendLetter(
  payloads: readonly Payload[],
  app: Needs,
  relay: RelayGate = createRelayGate(app),
  patienceMs = PATIENCE_MS,
): Promise<JobOutcome[]> {
  const pausedUntil = app.mailer && (await relay.pausedUntil())
  if (pausedUntil) return payloads.map((payload) => afterRelay(payload, pausedUntil))
  const outcomes = payloads.map((): JobOutcome | undefined => undefined)
  const ended = payloads.map(async (payload, index) => {
    outcomes[index] = await sendOne(payload, app, relay).catch((error: unknown) => ({
      retry: reasonOf(error),
    }))
  })
  const over = new AbortController()
  const patience = wait(patienceMs, undefined, { signal: over.signal }).catch(() => undefined)
  await Promise.race([Promise.all(ended), patience])
  over.abort()
  return payloads.map((payload, index) => outcomes[index] ?? again(payload, app.clock()))
}

function again({ letterId, putOffSince }: Payload, now: Date): JobOutcome {
  const since = putOffSince ?? now.toISOString()
  if (now.getTime() - Date.parse(since) > GIVE_UP_MS) {
    return { hopeless: 'The mail server of the recipient accepted nothing for five days.' }
  }
  const payload = { letterId, putOffSince: since }
  return { putOff: new Date(now.getTime() + LEASE_MS), payload }
}

/**
 * Postpones a letter because our own mail server is unavailable; such waiting has no time limit.
 */
function afterRelay({ letterId, refusedSince }: Payload, putOff: Date): JobOutcome {
  return { putOff, payload: { letterId, ...(refusedSince !== undefined && { refusedSince }) } }
}

async function sendOne(payload: Payload, app: Needs, relay: RelayGate): Promise<JobOutcome> {
  const { letterId: id, refusedSince } = payload
  const letter = await findLetter(app.pool, id)
  if (letter?.state !== 'queued') return 'done'
  const suppressed = await listSuppressed(app.pool, [letter.address], app.clock())
  if (suppressed.size > 0) return end(letter, { state: 'suppressed', reply: null }, app)
  const copy = await findLetterMessage(app.pool, id)
  const { mailer } = app
  if (!copy || !mailer) return end(letter, { state: 'held', reply: null }, app)
  const { returnPathDomain: domain, secret } = app.config
  const from = composeLetterReturnPath(id, { domain, secret })
  const mail = { envelope: { from, to: letter.address }, raw: await unpack(copy) }
  const since = refusedSince === undefined ? undefined : new Date(refusedSince)
  const sent = await relay.send(() => mailer.send(mail), since)
  if (sent.until) {
    const isFirst = refusedSince === undefined && isRefusal(sent)
    const at = isFirst ? app.clock().toISOString() : refusedSince
    return afterRelay({ letterId: id, refusedSince: at }, sent.until)
  }
  if (sent.outcome === 'later') return { retry: sent.reason }
  const { reply } = sent
  if (sent.outcome === 'accepted') return end(letter, { state: 'sent', reply }, app)
  return end(letter, { state: 'refused', reply, rejectedFor: sent.about }, app)
}

type End = {
  state: 'held' | 'sent' | 'refused' | 'suppressed'
  reply: string | null
  rejectedFor?: 'gone' | 'unreachable' | 'message'
}

async function end(
  { id, address }: Letter,
  { state, reply, rejectedFor }: End,
  app: Needs,
): Promise<JobOutcome> {
  const at = app.clock()
  await inTransaction(app.pool, async (tx) => {
    if (!(await markLetter(tx, id, { state, at, reply }))) return
    if (rejectedFor && rejectedFor !== 'message') {
      await suppressRefused(tx, address, { about: rejectedFor, reply: reply ?? '' }, at)
    }
    await countMails(tx, 'letter', [state])
  })
  return 'done'
}
