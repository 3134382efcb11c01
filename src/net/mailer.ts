import { isAscii } from 'node:buffer'
import type { Transform } from 'node:stream'
import { createTransport } from 'nodemailer'
import {
  refusalSubject,
  type RefusalSubject,
  type RelayReply,
} from '../mail/bounces/relay-refusal.ts'
import { inTime } from '../world.ts'

/**
 * The lane in which a message is sent: `fast` normally, `slow` for recipients that recently stalled
 * or failed, so that they do not delay others.
 */
export type Lane = 'fast' | 'slow'

/** A place in a lane, occupied until `leave` is called. */
type Place = {
  /**
   * Moves to a slow place and frees the fast one. False when all slow places are taken: then this
   * place stays as it is, and the message should be given up.
   */
  slowDown: () => boolean
  leave: () => void
}

/** The places of both lanes. A message occupies one while it is sent. */
export type Lanes = {
  /** Waits for a place for at most `waitMs`, or until `signal`; undefined when none became free. */
  enter: (lane: Lane, waitMs: number, signal?: AbortSignal) => Promise<Place | undefined>
}

type Waiting = { resolve: (place: Place | undefined) => void; timer: NodeJS.Timeout | undefined }

/** Creates lanes with a number of places each; places are granted in the order of arrival. */
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
    enter(lane, waitMs, signal) {
      if (taken[lane] < places[lane]) return Promise.resolve(take(lane))
      return new Promise((resolve) => {
        const waiting: Waiting = { resolve, timer: undefined }
        const giveUp = () => {
          clearTimeout(waiting.timer)
          if (lines[lane].delete(waiting)) resolve(undefined)
        }
        waiting.timer = setTimeout(giveUp, waitMs)
        signal?.addEventListener('abort', giveUp, { once: true })
        lines[lane].add(waiting)
      })
    },
  }
}

/** The SMTP sender and recipient of a message, regardless of its header (RFC 5321 §2.3.1). */
type MailEnvelope = {
  /** The return path; an empty string is the null reverse-path, `<>`. */
  from: string
  to: string
}

/** One complete message; its bytes are sent unchanged. */
export type OutgoingMail = {
  envelope: MailEnvelope
  raw: Buffer
  /** `slow` for a recipient that recently stalled or failed; `fast` when absent. */
  lane?: Lane
  /**
   * Called once when the message has no result after `stallMs`; sending continues from a slow
   * place.
   */
  onStall?: () => void
  /** Ends the attempt. The result is then that the mail server did not answer. */
  signal?: AbortSignal
  /** Called when the server asks for the message: from then on, it may have arrived. */
  onData?: () => void
}

/**
 * The result of sending a message. `reply` and `reason` are text of the remote server and may
 * contain an address: store them with the report, but do not log them.
 *
 * - `accepted`: the next server has taken responsibility for the message.
 * - `rejected`: the next server permanently refuses this message or this recipient. Without a reply
 *   code, the message is larger than the server accepts, or the address is invalid.
 * - `later`: another attempt may succeed: a 4yz reply, a network error, a fault of the session
 *   (greeting, TLS, authentication), or a refusal of our server. If the connection was lost after
 *   the final dot, the message may have arrived.
 */
export type SendResult =
  | { outcome: 'accepted'; reply: string }
  | { outcome: 'rejected'; replyCode: number | undefined; reply: string; about: RejectedFor }
  | { outcome: 'later'; replyCode: number | undefined; reason: string; fault?: LaterFault }

type RejectedFor = Exclude<RefusalSubject, 'us'>

/**
 * What failed. `message` (also when absent): this message or its recipient. `session`: the session,
 * before the message was sent. `relay`: the server does not accept our mail. `places`: no place was
 * free.
 */
export type LaterFault = 'message' | 'session' | 'relay' | 'places'

/** Sends messages to the configured mail server over a few persistent connections. */
export type Mailer = {
  /** Sends one message. Returns refusals and network errors as results; never throws for them. */
  send(mail: OutgoingMail): Promise<SendResult>
  /** Lets messages in progress finish for up to `graceMs` (5,000), then closes all connections. */
  close(graceMs?: number): Promise<void>
}

/** Time limits in milliseconds, and limits of connections. */
const usualLimits = {
  connectionMs: 30_000,
  greetingMs: 60_000,
  /** Maximum silence of the server during a session, including the wait after the final dot. */
  silenceMs: 5 * 60_000,
  idleMs: 30_000,
  /** Time after which a message counts as stalled. */
  stallMs: 5_000,
  /** Maximum time for a message, with the start of its session; then its connection is closed. */
  sendMsMax: 10 * 60_000,
  /** Maximum time to wait for a place. */
  placeMs: 30_000,
  /** Connections of the fast lane; up to `slowMax` more are opened when needed. */
  connectionsMax: 5,
  slowMax: 10,
  messagesPerConnectionMax: 500,
}

export type MailerLimits = typeof usualLimits

// A single plain address. The library would also accept lists, names and quoted strings, which must
// not reach it.
const addressShape = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9.-]{1,253}$/

/**
 * Creates a mailer for an `smtp:` or `smtps:` URL; undefined without a URL, in which case mail is
 * held. The queue alone retries; the connection pool does not requeue messages. Uses STARTTLS if
 * offered; `?tls.rejectUnauthorized=false` accepts any certificate.
 *
 * @throws TypeError when the URL has another scheme or is invalid
 */
export function createMailer(smtpUrl: string, limits?: Partial<MailerLimits>): Mailer
/** Creates a mailer from an optional setting; undefined when it is absent. */
export function createMailer(
  smtpUrl: string | undefined,
  limits?: Partial<MailerLimits>,
): Mailer | undefined
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
      await inTime(Promise.allSettled(underWay), graceMs, undefined)
      transport.close({ force: true })
    },
  }
}

type Means = { transport: Pool; lanes: Lanes; limits: MailerLimits }

async function sendOne(mail: OutgoingMail, means: Means): Promise<SendResult> {
  const { from, to } = mail.envelope
  if (!addressShape.test(to) || (from !== '' && !addressShape.test(from))) {
    const reply = 'Not an address that mail can be sent to'
    return { outcome: 'rejected', replyCode: undefined, reply, about: 'message' }
  }
  const place = await means.lanes.enter(mail.lane ?? 'fast', means.limits.placeMs, mail.signal)
  if (!place) return later('All connections are busy.', 'places')
  const watch = new AbortController()
  const ending = AbortSignal.any([watch.signal, ...(mail.signal ? [mail.signal] : [])])
  const step = { isBegun: false, isHandedOver: false }
  const stalled = () => {
    // Until the session is ready, only our own mail server can be slow.
    if (step.isBegun) mail.onStall?.()
    if (place.slowDown()) return
    // A message that may have arrived is not given up; it moves when there is a place.
    if (step.isHandedOver) stallTimer = setTimeout(moveOver, MOVE_MS)
    else watch.abort()
  }
  const moveOver = () => {
    if (!place.slowDown()) stallTimer = setTimeout(moveOver, MOVE_MS)
  }
  let stallTimer = setTimeout(stalled, means.limits.stallMs)
  const lastTimer = setTimeout(() => watch.abort(), means.limits.sendMsMax)
  const begin = () => {
    if (step.isBegun) return
    step.isBegun = true
    clearTimeout(stallTimer)
    stallTimer = setTimeout(stalled, means.limits.stallMs)
  }
  const handOver = () => {
    step.isHandedOver = true
    mail.onData?.()
  }
  try {
    const reply = await transmit(
      means.transport,
      finishedMessage(mail, { begin, handOver }, ending),
    )
    return { outcome: 'accepted', reply }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const fault = step.isBegun && mail.signal?.aborted !== true ? 'message' : 'session'
    if (ending.aborted) return later(TOO_LATE, fault)
    return sendFailure(error, fault)
  } finally {
    clearTimeout(stallTimer)
    clearTimeout(lastTimer)
    place.leave()
  }
}

/** Interval in milliseconds at which a stalled message tries to move to the slow lane. */
const MOVE_MS = 1_000
const TOO_LATE = 'The mail server took too long to answer.'

function transmit({ transporter }: Pool, message: Message): Promise<string> {
  return new Promise((resolve, reject) => {
    transporter.send(message, (error, info) => {
      if (error) reject(error)
      else resolve(info?.response ?? '')
    })
  })
}

/** Time in milliseconds that a mail server has for a session without a message. */
const PROBE_MS = 12_000

/**
 * Returns a function that tries a session of its own with the mail server, up to the point where
 * the server asks for a message; then it closes the connection, so that no message is sent. The
 * result is `accepted` then, and if the server refuses the recipient, which is our own address.
 */
export function createProbe(
  smtpUrl: string,
  address: string,
  msMax = PROBE_MS,
): () => Promise<SendResult> {
  return async () => {
    const ms = { connectionMs: msMax, greetingMs: msMax, silenceMs: msMax }
    const transport = openPool(smtpUrl, { ...usualLimits, ...ms })
    const ending = AbortSignal.timeout(msMax)
    const step = { isBegun: false }
    const asked = Promise.withResolvers<undefined>()
    const begin = () => void (step.isBegun = true)
    const mail = { envelope: { from: address, to: address }, raw: Buffer.of() }
    const handOver = () => asked.resolve(undefined)
    try {
      const message = finishedMessage(mail, { begin, handOver, isProbe: true }, ending)
      await Promise.race([asked.promise, transmit(transport, message)])
      return { outcome: 'accepted', reply: '' }
    } catch (error) {
      if (!(error instanceof Error)) throw error
      const result = ending.aborted ? later(TOO_LATE, 'session') : sendFailure(error, 'message')
      const isAnswer = 'replyCode' in result && result.replyCode !== undefined
      const isAboutUs = result.outcome === 'later' && result.fault === 'relay'
      return isAnswer && !isAboutUs ? { outcome: 'accepted', reply: '' } : result
    } finally {
      transport.close({ force: true })
    }
  }
}

function later(reason: string, fault: LaterFault): SendResult {
  return { outcome: 'later', replyCode: undefined, reason, fault }
}

type Pool = ReturnType<typeof openPool>
type Message = Parameters<Pool['transporter']['send']>[0]

type Steps = {
  /** Called when a connection is ready; earlier errors are not about this message. */
  begin: () => void
  /** Called when the server asks for the message. */
  handOver: () => void
  /** Whether the message is not sent. */
  isProbe?: boolean
}

/**
 * Returns a finished message in the form that the library's transports receive from its composer.
 * The mail is composed already; parsing and composing it again would cost as much as sending it.
 */
function finishedMessage(
  { envelope: { from, to }, raw }: OutgoingMail,
  { begin, handOver, isProbe = false }: Steps,
  signal: AbortSignal,
): Message {
  // Servers that support DSN return the ENVID in bounces (RFC 3461 §4.4); others only use the
  // return path.
  const envid = from.slice(0, Math.max(0, from.lastIndexOf('@')))
  const dsn = envid === '' ? undefined : { envid, ret: 'HDRS', notify: 'FAILURE,DELAY' }
  const message = {
    getEnvelope: () => {
      begin()
      return { from, to: [to], size: raw.length, use8BitMime: !isAscii(raw) }
    },
    // Used only for the library's log, which is disabled.
    messageId: () => '',
    getHeader: () => '',
    // A connection calls `pipe` when the server asks for the message.
    createReadStream: () => ({
      pipe(stream: Transform) {
        handOver()
        if (!isProbe) write(raw, stream)
      },
    }),
  }
  return { data: { dsn, signal }, message } as unknown as Message
}

/**
 * Writes a message and the final dot into the library's stream, which looks at each byte and sends
 * the dot separately. Most messages need no change, and are sent with the dot in one packet.
 */
function write(raw: Buffer, stream: Transform): void {
  if (toEscape.test(raw.toString('latin1'))) return void stream.end(raw)
  const end = raw.at(-1) === 0x0a ? '.\r\n' : '\r\n.\r\n'
  stream.push(Buffer.concat([raw, Buffer.from(end)]))
  stream.push(null)
}

/** A line that begins with a dot, and a line break that is not CRLF (RFC 5321 §2.3.8, §4.5.2). */
const toEscape = /^\.|\n\.|\r(?!\n)|(?<!\r)\n/

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
  const words = typeof error.response === 'string' ? error.response : wordsOf(error)
  if (replyCode === undefined) {
    // The address is one that no server accepts, or the message is larger than this server
    // announced.
    const isPermanent = code === 'EENVELOPE' || code === 'EMESSAGE'
    return isPermanent
      ? { outcome: 'rejected', replyCode, reply: words, about: 'message' }
      : { outcome: 'later', replyCode, reason: words, fault }
  }
  const about = refusalSubject({ step: stepOf(command, code), replyCode, text: words })
  if (about === 'us') return { outcome: 'later', replyCode, reason: words, fault: 'relay' }
  if (replyCode >= 500) return { outcome: 'rejected', replyCode, reply: words, about }
  return { outcome: 'later', replyCode, reason: words, fault }
}

/** What happened, for operators; a failure that is not known is quoted. */
function wordsOf({ message }: Error): string {
  return failures.find(([failure]) => failure.test(message))?.[1] ?? message
}

const failures: readonly [RegExp, string][] = [
  [/ECONNREFUSED/, 'The mail server refuses connections.'],
  [/connection closed|connection was closed|ECONNRESET|EPIPE/i, 'The mail server hung up.'],
  [/ETIMEDOUT|timeout|greeting never received/i, TOO_LATE],
  [/EHOSTUNREACH|ENETUNREACH/, 'The mail server cannot be reached.'],
  [/ENOTFOUND|EAI_AGAIN/, 'The name of the mail server cannot be resolved.'],
]

function stepOf(command: unknown, code: unknown): RelayReply['step'] {
  if (command === 'MAIL FROM') return 'mail'
  if (command === 'RCPT TO') return 'rcpt'
  if (command !== 'DATA') return 'session'
  return code === 'EMESSAGE' ? 'dot' : 'data'
}

type SmtpFault = { code?: unknown; responseCode?: unknown; response?: unknown; command?: unknown }
