import type { App } from '../../app.ts'
import type { InboundMail } from '../../db/inbound-mails.ts'
import { findMailInReporter } from '../../db/mail-in-addresses.ts'
import { mailInHash } from '../../mail/mail-in-secret.ts'
import { parseOwnAddress } from '../../mail/verp.ts'
import { type SmtpReply, smtpReply } from './smtp-reply.ts'

/** An address of ours, and what it stands for. */
export type Recipient = Pick<
  InboundMail,
  'rcptTo' | 'purpose' | 'reportId' | 'number' | 'letterId' | 'reporterId'
>

type Needs = Pick<App, 'pool' | 'config'>

const BYTES_MAX = 10_000_000
/** What base 64 and its line ends make of bytes. */
const ENCODED = 1.4
const ENVELOPE_BYTES = 100_000
const nothing = { reportId: null, number: null, letterId: null, reporterId: null }

/**
 * Who a recipient is, or why there is none: we take mail for addresses that we gave out, for
 * MAIL_FROM, and for the postmaster. Rejects while it cannot be looked up.
 */
export async function recipientOf(address: string, app: Needs): Promise<Recipient | SmtpReply> {
  const { returnPathDomain: domain, secret } = app.config
  const own = parseOwnAddress(address, { domain, secret })
  if (own === 'forged') return smtpReply(550, '5.7.1 This address was never given out')
  if (own === undefined) {
    if (isRead(address, app)) return { ...nothing, rcptTo: address, purpose: 'other' }
    return unknown()
  }
  if (own.is !== 'mail-in') {
    const { is: purpose, ...token } = own
    return { ...nothing, rcptTo: address, purpose, ...token }
  }
  const reporterId = await findMailInReporter(app.pool, mailInHash(own.secret))
  if (reporterId === undefined) return unknown()
  return { ...nothing, rcptTo: address, purpose: 'mail-in', reporterId }
}

/**
 * How big a mail may be: one of a reporter may carry a message as large as any that is taken, and
 * in base 64.
 */
export function bytesMaxFor(
  purpose: InboundMail['purpose'],
  { messageBytesMax }: Pick<App['config'], 'messageBytesMax'>,
): number {
  if (purpose !== 'mail-in') return BYTES_MAX
  return Math.max(BYTES_MAX, Math.ceil(messageBytesMax * ENCODED) + ENVELOPE_BYTES)
}

function unknown(): SmtpReply {
  return smtpReply(550, '5.1.1 No such address here; nothing is relayed')
}

/** The addresses that people write to. RFC 5321 §4.5.1 wants a postmaster without a domain too. */
function isRead(address: string, { config }: Needs): boolean {
  const given = address.trim().toLowerCase().replace(/\.$/, '')
  const { returnPathDomain: domain, mailFrom } = config
  const known = [mailFrom.toLowerCase(), 'postmaster', `postmaster@${domain}`, `abuse@${domain}`]
  return known.includes(given)
}
