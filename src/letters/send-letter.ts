import type { z } from 'zod'
import type { App, WorkApp } from '../app.ts'
import {
  findLetter,
  findLetterMessage,
  insertLetter,
  type Letter,
  type LetterCopy,
  markLetter,
} from '../db/letters.ts'
import { countMails } from '../db/mail-relay.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import { pack, unpack } from '../db/rows.ts'
import { openBytes, sealBytes } from '../db/sealed-bytes.ts'
import { listSuppressed } from '../db/suppressions.ts'
import { DAY_MS } from '../durations.ts'
import { PermanentError } from '../errors.ts'
import type { KeyRing } from '../key-ring.ts'
import {
  addressKey,
  applyDifferences,
  differences,
  type KeyedLink,
  packDifferences,
  unpackDifferences,
  withoutKeys,
} from '../mail/keys.ts'
import { composeLetter, type LetterContent } from '../mail/letter.ts'
import {
  composeLetterAnswerAddress,
  composeLetterReturnPath,
  letterMessageId,
} from '../mail/verp.ts'
import { send } from '../queue/boss.ts'
import { failureOf, type JobOutcome } from '../queue/work.ts'
import { inTime, uuidv7 } from '../world.ts'
import { sendLetter } from './queues.ts'
import {
  createRelayGate,
  isRefusal,
  LEASE_MS,
  type RelayGate,
  suppressRefused,
} from './relay-gate.ts'

/** A letter to send: its content, its recipient and what it concerns. */
export type NewLetter = Pick<Letter, 'kind'> &
  Partial<Pick<Letter, 'reporterId' | 'reportId' | 'consumerId'>> &
  Pick<
    LetterContent,
    'to' | 'subject' | 'text' | 'html' | 'language' | 'inReplyTo' | 'autoSubmitted'
  > & {
    /** The keys in the text, from `composeBody`. */
    keys?: readonly string[]
    /** When they become useless; never if absent. */
    keysExpireAt?: Date
    unsubscribe?: KeyedLink
    /** Whether the recipient may answer; then it has its own Reply-To address. */
    isAnswerable?: boolean
  }

/**
 * Composes, stores and queues a letter, in the transaction that requires it. The letter is composed
 * now, so its content does not change while it waits. Stored are its copy with masks in place of
 * its keys, and, encrypted, what differs. Returns its id.
 */
export async function queueLetter(
  tx: Db,
  { kind, reporterId, reportId, consumerId, isAnswerable = false, ...said }: NewLetter,
  { boss, config }: Pick<App, 'boss' | 'config'>,
  now: Date,
): Promise<string> {
  const id = uuidv7(now)
  const { secret, returnPathDomain: domain } = config
  const replyTo = isAnswerable ? composeLetterAnswerAddress(id, { domain, secret }) : undefined
  const { unsubscribe, keysExpireAt, ...content } = said
  const keys = [
    ...(said.keys ?? []),
    ...(unsubscribe ? [unsubscribe.key] : []),
    ...(replyTo === undefined ? [] : [addressKey(replyTo)]),
  ]
  const compose = (shown: (text: string) => string) =>
    composeLetter({
      ...content,
      text: shown(content.text),
      html: content.html && shown(content.html),
      unsubscribe: unsubscribe && shown(unsubscribe.url),
      replyTo: replyTo && shown(replyTo),
      from: config.mailFrom,
      operator: config.operatorName,
      date: now,
      messageId: letterMessageId(id, domain),
    })
  const masked = compose((text) => withoutKeys(text, keys))
  await insertLetter(tx, {
    id,
    kind,
    address: said.to,
    reporterId: reporterId ?? null,
    reportId: reportId ?? null,
    consumerId: consumerId ?? null,
    createdAt: now,
    ...(await pack(masked)),
    sealedKeys:
      keys.length > 0 ? sealKeys({ id, masked, real: compose((text) => text) }, secret) : null,
    keysExpireAt: keysExpireAt ?? null,
  })
  await send(boss, sendLetter, [{ letterId: id }], tx)
  return id
}

/** Encrypts what differs between a letter and its masked copy. */
export function sealKeys(
  { id, real, masked }: { id: string; real: Buffer; masked: Buffer },
  secret: KeyRing,
): Buffer {
  const packed = packDifferences(differences(real, masked))
  return sealBytes(packed, { purpose: 'keys of a letter', owner: id }, secret)
}

export async function openLetter(id: string, copy: LetterCopy, secret: KeyRing): Promise<Buffer> {
  const masked = await unpack(copy)
  const { sealedKeys } = copy
  if (!sealedKeys) return masked
  const opened = openBytes(sealedKeys, { purpose: 'keys of a letter', owner: id }, secret)
  if (!opened) {
    throw new PermanentError('Set SECRET_PREVIOUS to the SECRET with which the letter was made.')
  }
  return applyDifferences(masked, unpackDifferences(opened))
}

/** Why a letter is not sent whose link no longer works. */
const EXPIRED_REPLY = 'The link in this letter has expired.'

type Needs = Pick<WorkApp, 'pool' | 'clock' | 'config' | 'mailer'>
type Payload = z.infer<typeof sendLetter.payload>

/** Time in milliseconds after which an undeliverable letter is given up (RFC 5321 §4.5.4.1). */
const GIVE_UP_MS = 5 * DAY_MS
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
  if (pausedUntil) return payloads.map((payload) => postponeUntilRelay(payload, pausedUntil))
  const outcomes = payloads.map((): JobOutcome | undefined => undefined)
  const ending = payloads.map(async (payload, index) => {
    const outcome = await sendOne(payload, app, relay).catch(failureOf)
    outcomes[index] = outcome
    return outcome
  })
  await inTime(Promise.all(ending), patienceMs, undefined)
  return payloads.map((payload, index) => {
    const [ended = Promise.resolve<JobOutcome>('done')] = ending.slice(index)
    return outcomes[index] ?? leaseOut(payload, ended, app.clock())
  })
}

/** Postpones a letter that is still being sent until its attempt has surely ended. */
function leaseOut(
  { letterId, postponedSince }: Payload,
  ended: Promise<JobOutcome>,
  now: Date,
): JobOutcome {
  const since = postponedSince ?? now.toISOString()
  if (now.getTime() - Date.parse(since) > GIVE_UP_MS) {
    return { failed: 'The mail server of the recipient accepted nothing for five days.' }
  }
  const payload = { letterId, postponedSince: since }
  return { postponedTo: new Date(now.getTime() + LEASE_MS), payload, ended }
}

/**
 * Postpones a letter because our own mail server is unavailable; such waiting has no time limit.
 */
function postponeUntilRelay({ letterId, refusedSince }: Payload, postponedTo: Date): JobOutcome {
  return {
    postponedTo,
    payload: { letterId, ...(refusedSince !== undefined && { refusedSince }) },
  }
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
  if (copy.keysExpireAt && copy.keysExpireAt <= app.clock()) {
    return end(letter, { state: 'refused', reply: EXPIRED_REPLY }, app)
  }
  const raw = await openLetter(id, copy, secret)
  const mail = { envelope: { from, to: letter.address }, raw }
  const since = refusedSince === undefined ? undefined : new Date(refusedSince)
  const sent = await relay.send({ to: letter.address, refusedSince: since }, (watch) =>
    mailer.send({ ...mail, ...watch }),
  )
  if (sent.until) {
    const isFirst = refusedSince === undefined && isRefusal(sent)
    const at = isFirst ? app.clock().toISOString() : refusedSince
    return postponeUntilRelay({ letterId: id, refusedSince: at }, sent.until)
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
