import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server'
import type { App } from '../../app.ts'
import { BusyError, withoutData } from '../../errors.ts'
import { block24Or48 } from '../../mail/ip-blocks.ts'
import { addressScope, parseIp } from '../../mail/ip.ts'
import { storableText } from '../../mail/text.ts'
import { createThrottle } from '../../people/throttle.ts'
import type { Standby } from '../standby.ts'
import {
  type Arrival,
  isSmtpReply,
  keepMail,
  type MailMemory,
  type Recipient,
  smtpReply,
  type SmtpReply,
} from './keep-mail.ts'
import type { MailSources } from './mail-sources.ts'
import { bytesMaxFor, recipientOf } from './recipients.ts'

export type PeerLimits = {
  connections: number
  sessions: number
  /** Recipients per minute and network; a mail counts once for each of its recipients. */
  recipients: number
  /** Bytes of mail per minute and network, so that a client cannot fill the disk. */
  bytes: number
  /** Unknown recipients per session. */
  unknownRecipients: number
}

/**
 * Counts the clients' use of the limits. A network is a /24, or a /48 for IPv6; there are no limits
 * for loopback addresses.
 */
export type Peers = {
  /** Counts a session until `endSession` is called. Returns the refusal if there are too many. */
  startSession: (sessionId: string, address: string, now: Date) => SmtpReply | undefined
  endSession: (sessionId: string) => void
  /** Counts a recipient. Returns the refusal above the limit. */
  countRecipient: (sessionId: string, now: Date) => SmtpReply | undefined
  /** Counts a completely received mail before it is stored. Returns the refusal above the limit. */
  countBytes: (sessionId: string, bytes: number, now: Date) => SmtpReply | undefined
  /**
   * Counts an unknown recipient. Returns the reply: `refusal`, or the end of the session above the
   * limit.
   */
  countUnknown: (sessionId: string, refusal: SmtpReply) => SmtpReply
}

const NETWORKS_MAX = 100_000

/** Creates empty counters, kept in memory. */
export function createPeers(limits: PeerLimits): Peers {
  const {
    connections,
    sessions: sessionsMax,
    recipients,
    bytes: bytesMax,
    unknownRecipients,
  } = limits
  const checkConnection = createThrottle({ perMinute: connections, askersMax: NETWORKS_MAX })
  const checkRecipient = createThrottle({ perMinute: recipients, askersMax: NETWORKS_MAX })
  const checkBytes = createThrottle({ perMinute: bytesMax, askersMax: NETWORKS_MAX })
  const sessions = new Map<string, { network: string | undefined; unknownRecipients: number }>()
  const sessionsOf = new Map<string, number>()
  return {
    startSession(sessionId, address, now) {
      const network = limitedNetwork(address)
      if (network !== undefined) {
        if (checkConnection(network, now) !== undefined) return tooMuch('connections')
        const present = sessionsOf.get(network) ?? 0
        if (present >= sessionsMax) return tooMuch('simultaneous connections')
        sessionsOf.set(network, present + 1)
      }
      sessions.set(sessionId, { network, unknownRecipients: 0 })
      return undefined
    },
    endSession(sessionId) {
      const network = sessions.get(sessionId)?.network
      sessions.delete(sessionId)
      if (network === undefined) return
      const left = (sessionsOf.get(network) ?? 1) - 1
      if (left === 0) sessionsOf.delete(network)
      else sessionsOf.set(network, left)
    },
    countRecipient(sessionId, now) {
      const network = sessions.get(sessionId)?.network
      if (network === undefined || checkRecipient(network, now) === undefined) return undefined
      return smtpReply(451, '4.7.1 Too much mail from your network, try again later')
    },
    countBytes(sessionId, bytes, now) {
      const network = sessions.get(sessionId)?.network
      if (network === undefined || checkBytes(network, now, bytes) === undefined) return undefined
      return smtpReply(451, '4.7.1 Too much mail from your network, try again later')
    },
    countUnknown(sessionId, refusal) {
      const session = sessions.get(sessionId)
      if (!session) return refusal
      session.unknownRecipients += 1
      if (session.network === undefined || session.unknownRecipients < unknownRecipients)
        return refusal
      return smtpReply(421, '4.7.1 Too many unknown recipients')
    },
  }
}

/**
 * The network of an address; undefined for loopback, because a local mail server relays for
 * everyone.
 */
function limitedNetwork(address: string): string | undefined {
  const ip = parseIp(address)
  if (!ip) return 'unknown'
  if (addressScope(ip) === 'loopback') return undefined
  return block24Or48(ip)
}

function tooMuch(what: string): SmtpReply {
  return smtpReply(421, `4.7.0 Too many ${what} from your network, try again later`)
}

/** State shared by all sessions of a listener. */
export type Line = {
  app: Pick<App, 'pool' | 'boss' | 'clock' | 'config' | 'log'> & Standby['tools']
  isLmtp: boolean
  peers: Peers
  memory: MailMemory
  sources: MailSources
}

const MAIL_FROM_CHARS = 1_000
const KEPT = '2.6.0 Kept'

/** The refusal of a recipient; undefined if it is accepted. Rejects if the lookup fails. */
export async function takeRecipient(
  address: string,
  session: SMTPServerSession,
  { app, peers, sources }: Line,
): Promise<SmtpReply | undefined> {
  // Senders to spam traps are not asked to come later: many would not.
  const isTooMuch = sources.isTrap(address)
    ? undefined
    : peers.countRecipient(session.id, app.clock())
  if (isTooMuch) return isTooMuch
  const recipient = await recipientOf(address, { ...app, sources })
  if (recipient instanceof Error) return peers.countUnknown(session.id, recipient)
  const bytesMax = bytesMaxFor(recipient.purpose, app.config)
  if (announcedBytes(session) <= bytesMax) return undefined
  return smtpReply(552, `5.3.4 The maximum size at this address is ${bytesMax} bytes`)
}

/**
 * Reads and stores a mail. With SMTP it is stored for all recipients or for none; with LMTP (RFC
 * 2033 §4.2) each recipient gets its own reply, in order.
 *
 * @throws SmtpReply, or a database error: then nothing was stored
 */
export async function takeMail(
  stream: SMTPServerDataStream,
  session: SMTPServerSession,
  { app, isLmtp, peers, memory, sources }: Line,
): Promise<string | (string | SmtpReply)[]> {
  // Looked up again, because an address may have been replaced since RCPT.
  const looking = Promise.all(
    session.envelope.rcptTo.map(({ address }) => recipientOf(address, { ...app, sources })),
  )
  // The data must be read to the end first, whatever the result of the lookup.
  looking.catch(() => undefined)
  const bytesMax = bytesMaxFor('mail-in', app.config)
  return memory.read(stream, bytesMax, async (raw) => {
    const arrival = { mailFrom: mailFromOf(session), peerIp: peerOf(session), raw }
    const recipients = await looking
    const isToTraps = recipients.every((one) => !(one instanceof Error) && one.purpose === 'trap')
    const tooMuch = isToTraps ? undefined : peers.countBytes(session.id, raw.length, app.clock())
    if (tooMuch) throw tooMuch
    const fitting = recipients.map((recipient) => fit(recipient, raw.length, app))
    if (isLmtp) return keepEach(arrival, fitting, { app, sources })
    const refusal = fitting.find((recipient) => recipient instanceof Error)
    if (refusal) throw refusal
    const taken = fitting.flatMap((one) => (one instanceof Error ? [] : [one]))
    const stored = taken.filter((one) => !isOnlyCounted(one, raw.length, sources))
    if (stored.length > 0) await keepMail(arrival, stored, app, app)
    return KEPT
  })
}

async function keepEach(
  arrival: Arrival,
  recipients: readonly (Recipient | SmtpReply)[],
  { app, sources }: Pick<Line, 'app' | 'sources'>,
): Promise<(string | SmtpReply)[]> {
  const replies: (string | SmtpReply)[] = []
  for (const recipient of recipients) {
    if (recipient instanceof Error) {
      replies.push(recipient)
      continue
    }
    try {
      if (!isOnlyCounted(recipient, arrival.raw.length, sources))
        await keepMail(arrival, [recipient], app, app)
      replies.push(KEPT)
    } catch (error) {
      if (!isSmtpReply(error) && !(error instanceof BusyError))
        app.log.error(
          withoutData(error),
          'Could not store an incoming mail. Its sender is asked to retry.',
        )
      const later = () => smtpReply(451, '4.3.0 Cannot store the mail, try again later')
      replies.push(isSmtpReply(error) ? error : later())
    }
  }
  return replies
}

/** Whether a mail is to a trap and above its limits, so that it is accepted but not stored. */
function isOnlyCounted(
  { purpose, reporterId }: Recipient,
  bytes: number,
  sources: MailSources,
): boolean {
  return purpose === 'trap' && reporterId !== null && sources.isAbove(reporterId, bytes)
}

function fit(
  recipient: Recipient | SmtpReply,
  bytes: number,
  { config }: Line['app'],
): Recipient | SmtpReply {
  if (recipient instanceof Error) return recipient
  const bytesMax = bytesMaxFor(recipient.purpose, config)
  if (bytes <= bytesMax) return recipient
  return smtpReply(552, `5.3.4 The maximum size at this address is ${bytesMax} bytes`)
}

/** The size announced by the client (RFC 1870); 0 if it announced none. */
function announcedBytes({ envelope }: SMTPServerSession): number {
  const args = envelope.mailFrom ? envelope.mailFrom.args : false
  return args ? Number(args['SIZE'] ?? 0) || 0 : 0
}

function mailFromOf({ envelope }: SMTPServerSession): string {
  return storableText(envelope.mailFrom ? envelope.mailFrom.address : '', MAIL_FROM_CHARS)
}

function peerOf({ remoteAddress }: SMTPServerSession): string | null {
  return parseIp(remoteAddress)?.text ?? null
}
