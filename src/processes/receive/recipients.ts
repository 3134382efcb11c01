import { Readable } from 'node:stream'
import { parseArgs } from 'node:util'
import type { App } from '../../app.ts'
import type { InboundMail } from '../../db/inbox.ts'
import { findMailInReporter } from '../../db/reporters.ts'
import { UsageError, withoutData } from '../../errors.ts'
import { storableText } from '../../mail/text.ts'
import { mailInHash, parseOwnAddress } from '../../mail/verp.ts'
import { type Callers, unknownCallers } from '../../outage/callers.ts'
import {
  createMailMemory,
  isSmtpReply,
  keepMail,
  type Recipient,
  smtpReply,
  type SmtpReply,
} from './keep-mail.ts'
import { type MailSources, mailSourcesOf } from './mail-sources.ts'

type RecipientNeeds = Pick<App, 'pool' | 'config'> & {
  callers?: Pick<Callers, 'find'>
  sources: Pick<MailSources, 'find'>
}

const BYTES_MAX = 10_000_000
/** Growth of bytes by base64 encoding with line ends. */
const ENCODED = 1.4
const ENVELOPE_BYTES = 100_000
const nothing = { reportId: null, number: null, letterId: null, reporterId: null }

/**
 * Returns the purpose of a recipient address, or a refusal: we accept mail for addresses that we
 * created, for MAIL_FROM and for the postmaster, for spam traps and for feedback loops. Rejects if
 * the lookup fails.
 */
export async function recipientOf(
  address: string,
  app: RecipientNeeds,
): Promise<Recipient | SmtpReply> {
  const { returnPathDomain: domain, secret } = app.config
  const own = parseOwnAddress(address, { domain, secret })
  if (own === 'forged') return smtpReply(550, '5.7.1 This address is not valid')
  if (own === undefined) {
    if (isRead(address, app)) return { ...nothing, rcptTo: address, purpose: 'other' }
    const source = await app.sources.find(address)
    if (!source) return unknown()
    return { ...nothing, rcptTo: address, purpose: source.kind, reporterId: source.id }
  }
  if (own.is !== 'mail-in') {
    const { is: purpose, ...token } = own
    return { ...nothing, rcptTo: address, purpose, ...token }
  }
  const secretHash = mailInHash(own.secret)
  const find = () => findMailInReporter(app.pool, secretHash)
  const question = { kind: 'mail-in', key: secretHash.toString('hex'), find } as const
  const reporterId = await (app.callers ?? unknownCallers).find(question)
  if (reporterId === undefined) return unknown()
  return { ...nothing, rcptTo: address, purpose: 'mail-in', reporterId }
}

/**
 * Maximum size of a mail in bytes. Mail from a reporter may contain a message of the maximum size,
 * encoded in base64.
 */
export function bytesMaxFor(
  purpose: InboundMail['purpose'],
  { messageBytesMax }: Pick<App['config'], 'messageBytesMax'>,
): number {
  if (purpose !== 'mail-in') return BYTES_MAX
  return Math.max(BYTES_MAX, Math.ceil(messageBytesMax * ENCODED) + ENVELOPE_BYTES)
}

function unknown(): SmtpReply {
  return smtpReply(550, '5.1.1 No such recipient here; relaying denied')
}

/**
 * Whether operators read mail to this address. RFC 5321 §4.5.1 also requires "postmaster" without a
 * domain.
 */
function isRead(address: string, { config }: Pick<App, 'config'>): boolean {
  const given = address.trim().toLowerCase().replace(/\.$/, '')
  const { returnPathDomain: domain, mailFrom } = config
  const known = [mailFrom.toLowerCase(), 'postmaster', `postmaster@${domain}`, `abuse@${domain}`]
  return known.includes(given)
}

export type SmtpEnvelope = { mailFrom: string; rcptTo: string }

type ReceiveNeeds = Pick<App, 'pool' | 'boss' | 'clock' | 'config' | 'log'>

const [DONE, EX_DATAERR, EX_NOUSER, EX_TEMPFAIL] = [0, 65, 67, 75]
const MAIL_FROM_CHARS = 1_000

/** Parses `[--stdin --to ADDRESS [--from ADDRESS]]`; undefined if the command is to listen. */
export function parseReceive(args: readonly string[]): SmtpEnvelope | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      stdin: { type: 'boolean', default: false },
      to: { type: 'string' },
      from: { type: 'string', default: '' },
    },
  })
  if (!values.stdin) return undefined
  if (values.to === undefined) throw new UsageError(['Name the recipient with --to ADDRESS.'])
  // Some mail servers pass <> for an empty return path.
  const mailFrom = storableText(values.from.replace(/^<(.*)>$/, '$1'), MAIL_FROM_CHARS)
  return { mailFrom, rcptTo: storableText(values.to, MAIL_FROM_CHARS) }
}

/**
 * Receives one mail from a pipe and returns an exit code for mail servers (sysexits.h): 0 stored,
 * 65 refused because of its content, 67 unknown address, 75 temporary failure.
 */
export async function receiveOne(
  stream: NodeJS.ReadableStream,
  { mailFrom, rcptTo }: SmtpEnvelope,
  app: ReceiveNeeds,
): Promise<number> {
  try {
    const recipient = await recipientOf(rcptTo, { ...app, sources: mailSourcesOf(app) })
    if (recipient instanceof Error) return EX_NOUSER
    const bytesMax = bytesMaxFor(recipient.purpose, app.config)
    const input = new Readable().wrap(stream)
    await createMailMemory(bytesMax + 1).read(input, bytesMax, (raw) =>
      keepMail({ mailFrom, peerIp: null, raw }, [recipient], app),
    )
    return DONE
  } catch (error) {
    if (isSmtpReply(error) && error.responseCode >= 500) {
      app.log.warn({ reason: error.message }, 'Refused an incoming mail.')
      return EX_DATAERR
    }
    app.log.error(
      withoutData(error),
      'Could not store an incoming mail. Its sender is asked to retry.',
    )
    return EX_TEMPFAIL
  }
}
