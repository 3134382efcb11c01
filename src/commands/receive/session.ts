import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server'
import type { App } from '../../app.ts'
import { withoutData } from '../../errors.ts'
import { parseIp } from '../../mail/ip.ts'
import { storableText } from '../../mail/storable-text.ts'
import { type Arrival, keepMail } from './keep-mail.ts'
import type { Peers } from './peers.ts'
import { bytesMaxFor, type Recipient, recipientOf } from './recipients.ts'
import { isSmtpReply, type SmtpReply, smtpReply } from './smtp-reply.ts'
import type { Spool } from './spool.ts'

/** What all sessions of a listener share. */
export type Line = {
  app: Pick<App, 'pool' | 'boss' | 'clock' | 'config' | 'log'>
  isLmtp: boolean
  peers: Peers
  spool: Spool
}

const MAIL_FROM_CHARS = 1_000
const KEPT = '2.6.0 Kept'

/** Why a recipient is not taken; undefined when it is. Rejects while it cannot be looked up. */
export async function takeRecipient(
  address: string,
  session: SMTPServerSession,
  { app, peers }: Line,
): Promise<SmtpReply | undefined> {
  const isTooMuch = peers.name(session.id, app.clock())
  if (isTooMuch) return isTooMuch
  const recipient = await recipientOf(address, app)
  if (recipient instanceof Error) return peers.guess(session.id, recipient)
  const bytesMax = bytesMaxFor(recipient.purpose, app.config)
  if (announcedBytes(session) <= bytesMax) return undefined
  return smtpReply(552, `5.3.4 At most ${bytesMax} bytes are taken at this address`)
}

/**
 * Reads a mail and keeps it. By SMTP it is kept for all its recipients or for none; by LMTP
 * (RFC 2033 §4.2) each has its own answer, in their order.
 *
 * @throws SmtpReply, or what the database throws: then nothing was kept
 */
export async function takeMail(
  stream: SMTPServerDataStream,
  session: SMTPServerSession,
  { app, isLmtp, peers, spool }: Line,
): Promise<string | (string | SmtpReply)[]> {
  // Looked up again: an address may have ended since, and no recipient is carried by hand.
  const looking = Promise.all(
    session.envelope.rcptTo.map(({ address }) => recipientOf(address, app)),
  )
  // The data are read to their end first, whatever comes of this.
  looking.catch(() => undefined)
  const bytesMax = bytesMaxFor('mail-in', app.config)
  return spool.read(stream, bytesMax, async (raw) => {
    const tooMuch = peers.weigh(session.id, raw.length, app.clock())
    if (tooMuch) throw tooMuch
    const arrival = { mailFrom: mailFromOf(session), peerIp: peerOf(session), raw }
    const recipients = await looking
    const fitting = recipients.map((recipient) => fit(recipient, raw.length, app))
    if (isLmtp) return keepEach(arrival, fitting, app)
    const refusal = fitting.find((recipient) => recipient instanceof Error)
    if (refusal) throw refusal
    const taken = fitting.flatMap((one) => (one instanceof Error ? [] : [one]))
    await keepMail(arrival, taken, app)
    return KEPT
  })
}

async function keepEach(
  arrival: Arrival,
  recipients: readonly (Recipient | SmtpReply)[],
  app: Line['app'],
): Promise<(string | SmtpReply)[]> {
  const replies: (string | SmtpReply)[] = []
  for (const recipient of recipients) {
    if (recipient instanceof Error) {
      replies.push(recipient)
      continue
    }
    try {
      await keepMail(arrival, [recipient], app)
      replies.push(KEPT)
    } catch (error) {
      if (!isSmtpReply(error)) app.log.error(withoutData(error), 'A mail could not be kept.')
      const later = () => smtpReply(451, '4.3.0 Cannot keep the mail now, try again later')
      replies.push(isSmtpReply(error) ? error : later())
    }
  }
  return replies
}

function fit(
  recipient: Recipient | SmtpReply,
  bytes: number,
  { config }: Line['app'],
): Recipient | SmtpReply {
  if (recipient instanceof Error) return recipient
  const bytesMax = bytesMaxFor(recipient.purpose, config)
  if (bytes <= bytesMax) return recipient
  return smtpReply(552, `5.3.4 At most ${bytesMax} bytes are taken at this address`)
}

/** What the peer says the mail will have (RFC 1870); 0 when it does not say. */
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
