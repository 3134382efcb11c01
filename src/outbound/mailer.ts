import { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { createTransport } from 'nodemailer'
import {
  type RefusalSubject,
  refusalSubject,
  type RelayReply,
} from '../mail/bounces/relay-refusal.ts'
import { createLanes, type Lane, type Lanes } from './lanes.ts'

/** Who a message goes from and to by SMTP, whatever its header says (RFC 5321 §2.3.1). */
export type MailEnvelope = {
  /** The return path; an empty string is the null one, `<>`. */
  from: string
  to: string
}

/** One message as it goes over the wire, complete: the bytes are not changed. */
export type OutgoingMail = {
  envelope: MailEnvelope
  raw: Buffer
  /** `slow` for who stalled or failed lately; `fast` without it. */
  lane?: Lane
  /** Told once when nothing has come of it for `stallMs`; it goes on, from a slow place. */
  onStall?: () => void
}

/**
 * What became of a message. `reply` and `reason` are the far side's words and may name an
 * address: they are kept with the report, never logged.
 *
 * - `accepted`: the next server has taken responsibility for it.
 * - `rejected`: that server refuses this message or this recipient for good, or would (no reply
 *   code: longer than it announced, no address at all).
 * - `later`: it may go through another time: a 4yz reply, the network, a fault of the session
 *   (greeting, TLS, sign-in), or a refusal that is about us. It may even have arrived, when the
 *   connection was cut after the final dot.
 */
export type SendResult =
  | { outcome: 'accepted'; reply: string }
  | { outcome: 'rejected'; replyCode: number | undefined; reply: string; about: RejectedFor }
  | { outcome: 'later'; replyCode: number | undefined; reason: string; fault?: LaterFault }

/** What a mail was refused for, for good. */
export type RejectedFor = Exclude<RefusalSubject, 'us'>

/**
 * What it is about: this message or its recipient (which is so without the word); the session that
 * never came to it; `relay`: the server does not take our mail; `places`: none of ours was free.
 */
export type LaterFault = 'message' | 'session' | 'relay' | 'places'

/** Hands messages to the configured mail server over a few connections that are kept open. */
export type Mailer = {
  /** Sends one message. Far-side refusals and network faults are results; never throws for them. */
  send(mail: OutgoingMail): Promise<SendResult>
  /** Lets messages under way finish for up to `graceMs` (5,000), then closes all connections. */
  close(graceMs?: number): Promise<void>
}

/** How long to wait for the far side, in milliseconds, and how many connections to keep. */
export type MailerLimits = {
  connectionMs: number
  greetingMs: number
  /** Silence in the middle of a session, the wait after the final dot included. */
  silenceMs: number
  idleMs: number
  /** How long a message may take before it counts as stalled. */
  stallMs: number
  /** How long one may take at all; then its connection is cut. */
  sendMsMax: number
  /** How long one waits for a place before it is given back. */
  placeMs: number
  /** Connections of the fast lane; `slowMax` come on top where they are needed. */
  connectionsMax: number
  slowMax: number
  messagesPerConnectionMax: number
}

const usualLimits: MailerLimits = {
  connectionMs: 30_000,
  greetingMs: 60_000,
  silenceMs: 5 * 60_000,
  idleMs: 30_000,
  stallMs: 5_000,
  sendMsMax: 10 * 60_000,
  placeMs: 30_000,
  connectionsMax: 5,
  slowMax: 10,
  messagesPerConnectionMax: 500,
}

// One plain address. The library would read lists, names and quotes here: none may pass.
const addressShape = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9.-]{1,253}$/

/**
 * A mailer for an `smtp:` or `smtps:` URL, or undefined when there is none: mail is held then.
 * Every retry is the queue's, so the pool itself puts nothing back. Throws when the URL is not
 * one. STARTTLS is used where offered; `?tls.rejectUnauthorized=false` accepts any certificate.
 */
export function createMailer(smtpUrl: string, limits?: Partial<MailerLimits>): Mailer
/** The same for a setting that may be absent: undefined then. */
export function createMailer(
  smtpUrl: string | undefined,
  limits?: Partial<MailerLimits>,
): Mailer | undefined
/** The one behind both. */
export function createMailer(
  smtpUrl: string | undefined,
  limits: Partial<MailerLimits> = {},
): Mailer | undefined {
  if (smtpUrl === undefined || smtpUrl === '') return undefined
  const its = { ...usualLimits, ...limits }
  const transport = openPool(smtpUrl, its)
  const lanes = createLanes({ fast: its.connectionsMax, slow: its.slowMax })
  const underWay = new Set<Promise<SendResult>>()
  return {
    send(mail) {
      const sending = sendOne(mail, { transport, lanes, limits: its })
      underWay.add(sending)
      return sending.finally(() => underWay.delete(sending))
    },
    async close(graceMs = 5000) {
      const grace = new AbortController()
      const patience = wait(graceMs, undefined, { signal: grace.signal })
      await Promise.race([Promise.allSettled(underWay), patience])
      grace.abort()
      await patience.catch(() => undefined)
      transport.close({ force: true })
    },
  }
}

type Means = { transport: Pool; lanes: Lanes; limits: MailerLimits }

async function sendOne(mail: OutgoingMail, means: Means): Promise<SendResult> {
  const { from, to } = mail.envelope
  if (!addressShape.test(to) || (from !== '' && !addressShape.test(from))) {
    const reply = 'Not an address mail can go to'
    return { outcome: 'rejected', replyCode: undefined, reply, about: 'message' }
  }
  const place = await means.lanes.enter(mail.lane ?? 'fast', means.limits.placeMs)
  if (!place) return later('All connections are busy.', 'places')
  const watch = new AbortController()
  let isBegun = false
  const timers: NodeJS.Timeout[] = []
  const begin = () => {
    if (isBegun) return
    isBegun = true
    const stalled = setTimeout(() => {
      mail.onStall?.()
      if (!place.slowDown()) watch.abort()
    }, means.limits.stallMs)
    timers.push(
      stalled,
      setTimeout(() => watch.abort(), means.limits.sendMsMax),
    )
  }
  try {
    const message = finishedMessage(mail, begin, watch.signal)
    return await new Promise((resolve, reject) => {
      means.transport.transporter.send(message, (error, info) => {
        if (error) reject(error)
        else resolve({ outcome: 'accepted', reply: info?.response ?? '' })
      })
    })
  } catch (error) {
    if (!(error instanceof Error)) throw error
    if (watch.signal.aborted) return later('The mail server took too long.', 'message')
    return sendFailure(error, isBegun ? 'message' : 'session')
  } finally {
    for (const timer of timers) clearTimeout(timer)
    place.leave()
  }
}

function later(reason: string, fault: LaterFault): SendResult {
  return { outcome: 'later', replyCode: undefined, reason, fault }
}

type Pool = ReturnType<typeof openPool>
type Message = Parameters<Pool['transporter']['send']>[0]

/**
 * A message as the library's transports take it from what composes messages. Ours is composed
 * already, and to have it taken apart again and put together costs as much as to send it.
 */
function finishedMessage(
  { envelope: { from, to }, raw }: OutgoingMail,
  begin: () => void,
  signal: AbortSignal,
): Message {
  // Servers that know DSNs give it back (RFC 3461 §4.4); others only have the return path.
  const envid = from.slice(0, Math.max(0, from.lastIndexOf('@')))
  const dsn = envid === '' ? undefined : { envid, ret: 'HDRS', notify: 'FAILURE,DELAY' }
  const message = {
    // Asked for once a connection is ready: before, it says nothing about this message.
    getEnvelope: () => {
      begin()
      return { from, to: [to], size: raw.length }
    },
    // Both are for the library's log, which is off.
    messageId: () => '',
    getHeader: () => '',
    createReadStream: () => {
      const stream = new Readable({ read: () => undefined })
      stream.push(raw)
      stream.push(null)
      return stream
    },
  }
  return { data: { dsn, signal }, message } as unknown as Message
}

function openPool(smtpUrl: string, limits: MailerLimits) {
  const { protocol } = new URL(smtpUrl)
  if (protocol !== 'smtp:' && protocol !== 'smtps:') {
    throw new TypeError('The mail server must be given as an smtp: or smtps: URL')
  }
  return createTransport({
    url: smtpUrl,
    pool: true,
    maxConnections: limits.connectionsMax + limits.slowMax,
    maxMessages: limits.messagesPerConnectionMax,
    maxRequeues: 0,
    connectionTimeout: limits.connectionMs,
    greetingTimeout: limits.greetingMs,
    socketTimeout: limits.silenceMs,
    dnsTimeout: limits.connectionMs,
    idleTimeout: limits.idleMs,
    disableFileAccess: true,
    disableUrlAccess: true,
    logger: false,
  })
}

function sendFailure(error: Error & SmtpFault, fault: LaterFault): SendResult {
  const { code, command } = error
  const replyCode = typeof error.responseCode === 'number' ? error.responseCode : undefined
  const words = typeof error.response === 'string' ? error.response : error.message
  if (replyCode === undefined) {
    // An address that no server would take, or more bytes than this one announced.
    const isHopeless = code === 'EENVELOPE' || code === 'EMESSAGE'
    return isHopeless
      ? { outcome: 'rejected', replyCode, reply: words, about: 'message' }
      : { outcome: 'later', replyCode, reason: words, fault }
  }
  const about = refusalSubject({ step: stepOf(command, code), replyCode, text: words })
  if (about === 'us') return { outcome: 'later', replyCode, reason: words, fault: 'relay' }
  if (replyCode >= 500) return { outcome: 'rejected', replyCode, reply: words, about }
  return { outcome: 'later', replyCode, reason: words, fault }
}

function stepOf(command: unknown, code: unknown): RelayReply['step'] {
  if (command === 'MAIL FROM') return 'mail'
  if (command === 'RCPT TO') return 'rcpt'
  if (command !== 'DATA') return 'session'
  return code === 'EMESSAGE' ? 'dot' : 'data'
}

type SmtpFault = { code?: unknown; responseCode?: unknown; response?: unknown; command?: unknown }
