import { createPrivateKey, type KeyObject } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { createTransport } from 'nodemailer'
import { reasonOf, UsageError } from '../errors.ts'
import type { Logger } from '../log.ts'
import { registrableDomainOf } from '../mail/address.ts'
import {
  refusalSubject,
  type RefusalSubject,
  type RelayReply,
} from '../mail/bounces/relay-refusal.ts'
import { type SigningKey, signMail } from '../mail/dkim-signature.ts'

/**
 * Which places a message is sent from: the `fast` ones get on; the `slow` ones are kept for those
 * that lately did not, so that they hold up nobody else.
 */
export type Lane = 'fast' | 'slow'

/** A place in a lane, until it is left. */
type Place = {
  /**
   * Goes over to a slow place, whatever is free there, and gives the fast one away; false when all
   * slow ones are taken: it stays where it is, and should be given up.
   */
  slowDown: () => boolean
  leave: () => void
}

/** The places of both lanes. */
export type Lanes = {
  /** Waits for a place for at most `waitMs`; undefined when none became free. */
  enter: (lane: Lane, waitMs: number) => Promise<Place | undefined>
}

type Waiting = { resolve: (place: Place | undefined) => void; timer: NodeJS.Timeout | undefined }

/** Lanes of so many places each; who waits gets one in the order of coming. */
export function createLanes(places: Readonly<Record<Lane, number>>): Lanes {
  const taken: Record<Lane, number> = { fast: 0, slow: 0 }
  const lines: Record<Lane, Set<Waiting>> = { fast: new Set(), slow: new Set() }

  function release(lane: Lane): void {
    taken[lane]--
    for (const waiting of lines[lane]) {
      if (taken[lane] >= places[lane]) return
      lines[lane].delete(waiting)
      clearTimeout(waiting.timer)
      waiting.resolve(take(lane))
    }
  }

  function take(first: Lane): Place {
    let lane: Lane | undefined = first
    taken[first]++
    return {
      slowDown() {
        if (lane !== 'fast') return true
        if (taken.slow >= places.slow) return false
        taken.slow++
        lane = 'slow'
        release('fast')
        return true
      },
      leave() {
        if (lane !== undefined) release(lane)
        lane = undefined
      },
    }
  }

  return {
    enter(lane, waitMs) {
      if (taken[lane] < places[lane]) return Promise.resolve(take(lane))
      return new Promise((resolve) => {
        const waiting: Waiting = { resolve, timer: undefined }
        waiting.timer = setTimeout(() => {
          lines[lane].delete(waiting)
          resolve(undefined)
        }, waitMs)
        lines[lane].add(waiting)
      })
    },
  }
}

/** Below, receivers take a signature for none (RFC 8301 §3.2). */
const RSA_BITS_MIN = 1024

/** Where the key is, and whose mail it signs. */
export type SigningSettings = {
  dkim: { domain: string; selector: string; keyFile: string } | undefined
  mailFrom: string
}

/**
 * The key that mail is signed with, read and checked; undefined when none is set. Warns when its
 * domain is another one than that of MAIL_FROM: then the signature says nothing for DMARC.
 *
 * @throws UsageError saying what is wrong with the file
 */
export async function readSigningKey(
  { dkim, mailFrom }: SigningSettings,
  log: Pick<Logger, 'warn'>,
): Promise<SigningKey | undefined> {
  if (!dkim) return undefined
  const { domain, selector, keyFile } = dkim
  const privateKey = await readFile(keyFile, 'utf8').catch((error: unknown) => {
    throw new UsageError([`DKIM_KEY_FILE cannot be read: ${reasonOf(error)}`])
  })
  const fault = faultOf(privateKey)
  if (fault !== undefined) throw new UsageError([`DKIM_KEY_FILE ${keyFile} ${fault}.`])
  if (registrableDomainOf(domain) !== registrableDomainOf(mailFrom.split('@').at(-1))) {
    log.warn({ domain }, 'DKIM_DOMAIN is not the domain of MAIL_FROM: DMARC will not count it.')
  }
  return { domain, selector, privateKey }
}

function faultOf(privateKey: string): string | undefined {
  let key: KeyObject
  try {
    key = createPrivateKey(privateKey)
  } catch {
    return 'holds no private key in PEM that can be read without a password'
  }
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key
  if (type === 'ed25519') return undefined
  if (type !== 'rsa') return `holds a key of type ${type ?? 'unknown'}, not RSA or Ed25519`
  const bits = details?.modulusLength ?? 0
  if (bits >= RSA_BITS_MIN) return undefined
  return `holds an RSA key of ${String(bits)} bits: at least ${String(RSA_BITS_MIN)} are needed`
}

/** Puts the signature on a finished mail; the same bytes get the same one. */
export function createSigner(key: SigningKey | undefined): (raw: Buffer) => Buffer {
  return key ? (raw) => signMail(raw, key) : (raw) => raw
}

/** A mailer that lets no mail of ours leave unsigned. What bears a signature already stays. */
export function signing(
  mailer: Mailer | undefined,
  key: SigningKey | undefined,
): Mailer | undefined {
  if (!mailer || !key) return mailer
  const sign = createSigner(key)
  return { ...mailer, send: (mail) => mailer.send({ ...mail, raw: sign(mail.raw) }) }
}

/** Who a message goes from and to by SMTP, whatever its header says (RFC 5321 §2.3.1). */
type MailEnvelope = {
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
type RejectedFor = Exclude<RefusalSubject, 'us'>

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
