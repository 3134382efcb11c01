import { hash } from 'node:crypto'
import { decodeHeaderText } from './encoded-word.ts'
import { fieldValue, type HeaderField, parseHeader } from './header.ts'
import { findLeaf, leafBytes, type MimeMessage, readMime } from './mime-leaves.ts'
import { composeEncodedWords, foldText, unfoldField, utf8Words } from './seven-bit.ts'
import { cleanLine } from './text.ts'
import { decodeTransfer, encodeTransfer, transferEncoding } from './transfer-encoding.ts'

/** The feedback types we send (RFC 5965 §7.3, RFC 6430), each with a description for people. */
export const feedbackTypes = {
  abuse: 'Unsolicited mail',
  fraud: 'Phishing or fraud',
  virus: 'Malware',
  'not-spam': 'Mail reported by mistake',
  other: 'Unwanted mail',
} as const

/** A feedback type by its registered name. */
export type FeedbackType = keyof typeof feedbackTypes

/** The facts that a feedback report states. They must not identify the reporter. */
export type FeedbackFacts = {
  feedbackType: FeedbackType
  /** The program that composed the report: `Signalpost/0.1.0`. */
  userAgent: string
  /** The address that handed the message over, without brackets, IPv4 or IPv6. */
  sourceIp: string
  /** The source port (RFC 6692), if the reporter's provider recorded it. */
  sourcePort?: number | undefined
  /** When the reporter's provider received the message. */
  arrivedAt?: Date | undefined
  /** The host that received the message, as the host names itself. */
  reportingMta?: string | undefined
  /** The MAIL FROM of the message, without angle brackets; empty for the null return path. */
  mailFrom?: string | undefined
  /** Placeholders for the recipients, never their addresses. */
  recipients?: readonly string[] | undefined
  /** The ENVID with which the message was sent (RFC 3461). */
  envelopeId?: string | undefined
  /** The results of our own verification, in the syntax of RFC 8601; never a header's claims. */
  authenticationResults?: readonly string[] | undefined
  /** Domains that the report is about, the most relevant first. */
  domains?: readonly string[] | undefined
  /** Links in the message that the report is about. */
  uris?: readonly string[] | undefined
  /** Number of messages that this report represents (RFC 5965 §3.2); 1 when absent. */
  incidents?: number | undefined
}

/** Our own field for the type that we found, because `Feedback-Type` cannot always state it. */
export const CLASS_FIELD = 'X-Signalpost-Type'

const valueCharsMax = 900
const repeatsMax = 50

/**
 * Composes the fields of the machine-readable part (RFC 5965 §3) in a fixed order, first those
 * required exactly once. A value that does not fit into one line of printable ASCII is omitted, not
 * folded or cut, because half an address is a wrong address. An unsolicited report has the type
 * `abuse` (RFC 6650 §5.4), because many readers know no other; our own field gives the type we
 * found.
 */
export function feedbackFields(
  facts: FeedbackFacts,
  { isUnsolicited = false }: { isUnsolicited?: boolean | undefined } = {},
): [name: string, value: string][] {
  const { feedbackType, mailFrom, arrivedAt, reportingMta, incidents, sourcePort } = facts
  const isComplaint = feedbackType !== 'not-spam'
  const fields: [string, string | undefined][] = [
    ['Feedback-Type', isUnsolicited && isComplaint ? 'abuse' : feedbackType],
    ['User-Agent', facts.userAgent],
    ['Version', '1'],
    ['Original-Envelope-Id', facts.envelopeId],
    ['Original-Mail-From', mailFrom === undefined ? undefined : `<${mailFrom}>`],
    ['Arrival-Date', arrivedAt && composeMailDate(arrivedAt)],
    ['Reporting-MTA', reportingMta === undefined ? undefined : `dns; ${reportingMta}`],
    ['Source-IP', facts.sourceIp],
    ['Source-Port', sourcePort?.toString()],
    ['Incidents', incidents === undefined || incidents < 2 ? undefined : String(incidents)],
    [CLASS_FIELD, isUnsolicited && isComplaint ? feedbackType : undefined],
  ]
  for (const recipient of several(facts.recipients)) {
    fields.push(['Original-Rcpt-To', `<${recipient}>`])
  }
  for (const result of several(facts.authenticationResults)) {
    fields.push(['Authentication-Results', result])
  }
  for (const domain of several(facts.domains?.map(asciiDomain))) {
    fields.push(['Reported-Domain', domain])
  }
  for (const uri of several(facts.uris?.map(asciiUri))) fields.push(['Reported-URI', uri])
  return fields.filter((field): field is [string, string] => isWritable(field[1]))
}

/** Formats an instant for mail (RFC 5322 §3.3), in UTC. */
export function composeMailDate(date: Date): string {
  return date.toUTCString().replace(/GMT$/, '+0000')
}

function several<T>(values: readonly T[] = []): T[] {
  return [...new Set(values)].slice(0, repeatsMax)
}

function isWritable(value: string | undefined): boolean {
  return value !== undefined && value.length <= valueCharsMax && /^[\x20-\x7e]*\S$/.test(value)
}

/** The domain as used in DNS: lower case, non-ASCII letters in Punycode (RFC 5890). */
function asciiDomain(domain: string): string | undefined {
  const { hostname } = URL.parse(`http://${domain}`) ?? {}
  return hostname === undefined || hostname === '' ? undefined : hostname
}

/** Percent-encodes everything in a URI that is not printable ASCII (RFC 3986 §2.1). */
function asciiUri(uri: string): string {
  return uri.toWellFormed().replace(/[^\x21-\x7e]/gu, encodeURIComponent)
}

/**
 * Composes the Subject of a report, folded: the Subject of the reported message (RFC 5965 §2, point
 * h), or a description of the report when there is none. If a mail system wrote the message, or the
 * message reads as if one did, the Subject gets the prefix of a forwarded mail, which the RFC
 * allows. Otherwise readers of bounces, which check the Subject first, would mistake the report
 * itself for a bounce or a vacation reply.
 */
export function composeReportSubject(facts: FeedbackFacts, fields: readonly HeaderField[]): string {
  const field = fields.find(({ key }) => key === 'subject')
  const given = field === undefined ? '' : givenSubject(field)
  const room = 'Subject: '.length
  if (given === '') {
    return foldText(`${feedbackTypes[facts.feedbackType]} from ${facts.sourceIp}`, room)
  }
  return foldText(readsAsAutomatic(fields) ? `[Fwd: ${given} ]` : given, room)
}

const subjectCharsMax = 1_000

/**
 * The Subject unchanged if it decodes to one line, else its text as one line: encoded words may
 * contain line ends. Cut to 1,000 characters, because mail servers refuse mail with a very long
 * header.
 */
function givenSubject(field: HeaderField): string {
  const written = composeEncodedWords(unfoldField(field)).trim()
  const read = decodeHeaderText(written)
  const isOneLine = cleanLine(read) === read.trim().toWellFormed()
  if (isOneLine && written.length <= subjectCharsMax) return written
  const line = [...cleanLine(read)].slice(0, subjectCharsMax).join('')
  return composeEncodedWords(Buffer.from(line).toString('latin1'))
}

const automaticSubject = new RegExp(
  '^(?:auto\\w{0,9}[ -]{0,3}(?:reply|response|answer)|out of (?:the )?office|undeliver|' +
    'failure notice|returned mail|(?:mail )?delivery )',
  'i',
)
const mailSystem = /(?:^|[<\s])(?:mailer-daemon|postmaster)@/i

function readsAsAutomatic(fields: readonly HeaderField[]): boolean {
  if (fieldValue(fields, 'return-path')?.replace(/\s/g, '') === '<>') return true
  const authors = ['from', 'return-path'].map((key) => fieldValue(fields, key) ?? '')
  if (authors.some((author) => mailSystem.test(author))) return true
  const submitted = fieldValue(fields, 'auto-submitted')?.toLowerCase()
  if (submitted !== undefined && submitted !== 'no') return true
  return automaticSubject.test(decodeHeaderText(fieldValue(fields, 'subject') ?? '').trim())
}

/** The fields of a feedback report in their order: names as written, values unfolded. */
export type FeedbackFields = { fields: [name: string, value: string][] }

/**
 * Parses the machine-readable part of a report in the Abuse Reporting Format (RFC 5965 §3), with
 * any line ends and in any type of multipart. Undefined when there is none; a part inside an
 * attached message does not count. Also recognizes two kinds of complaint without fields: that of
 * Microsoft's junk mail program, which contains only the message and has a typical subject, and the
 * mail by which Apple's mail program unsubscribes a recipient of our mail. Never throws.
 */
export function parseFeedbackReport(raw: Buffer): FeedbackFields | undefined {
  return feedbackReportIn(readMime(raw))
}

/** Whether a message with this header may be a feedback report: a quick check without its body. */
export function mayBeFeedbackReport(fields: readonly HeaderField[]): boolean {
  const type = fieldValue(fields, 'content-type') ?? ''
  return (
    /^(?:multipart|message)\//i.test(type) ||
    isAppleComplaint(fieldValue(fields, 'x-apple-unsubscribe')) ||
    bareSubject.test(fieldValue(fields, 'subject') ?? '')
  )
}

/** Like `parseFeedbackReport`, for a message that is already parsed. */
export function feedbackReportIn(mail: MimeMessage): FeedbackFields | undefined {
  const part = findLeaf(mail, 'message/feedback-report')
  if (part === undefined) return isBareComplaint(mail) ? { fields: [] } : undefined
  const text = (leafBytes(part) ?? part.content).toString('latin1').trimStart()
  const { fields } = parseHeader(Buffer.from(text, 'latin1'))
  return { fields: fields.map(({ name, value }) => [name, value]) }
}

const bareSubject = /^\s*complaint about message from \[?[0-9a-f.:]{3,45}\]?\s*$/i

function isBareComplaint(mail: MimeMessage): boolean {
  if (isAppleComplaint(fieldValue(mail.fields, 'x-apple-unsubscribe'))) return true
  return (
    bareSubject.test(fieldValue(mail.fields, 'subject') ?? '') &&
    findLeaf(mail, 'message/rfc822') !== undefined
  )
}

function isAppleComplaint(value = ''): boolean {
  return /^\s*true\b/i.test(value)
}

/** Patterns of an address, a link and a Message-ID that can be written into a field unchanged. */
export const addressShape = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,128}@[A-Za-z0-9.-]{1,253}$/
export const urlShape = /^https?:\/\/[\x21-\x3b\x3d\x3f-\x7e]{1,900}$/
export const messageIdShape = /^<[\x21-\x3b\x3d\x3f-\x7e]{1,900}>$/

/** Values to be written into a header; undefined values are skipped. */
export type HeaderPieces = {
  addresses: readonly (string | undefined)[]
  messageIds: readonly (string | undefined)[]
  links: readonly (string | undefined)[]
}

/** Throws a RangeError when a value could break the header of our mail. */
export function checkHeader({ addresses, messageIds, links }: HeaderPieces): void {
  const isWrong = (shape: RegExp) => (piece: string | undefined) =>
    piece !== undefined && !shape.test(piece)
  if (addresses.some(isWrong(addressShape))) {
    throw new RangeError('Not a valid address for a header')
  }
  if (messageIds.some(isWrong(messageIdShape))) throw new RangeError('Not a valid Message-ID')
  if (links.some(isWrong(urlShape))) throw new RangeError('Not a valid link')
}

/** Composes the From field: the address, with a display name if there is one (RFC 5322 §3.4). */
export function fromLine(address: string, name: string | undefined): string {
  const shown = cleanLine(name ?? '')
  if (shown === '') return `From: ${address}`
  const isAscii = /^[\x20-\x7e]+$/.test(shown)
  const phrase = isAscii ? `"${shown.replace(/["\\]/g, '\\$&')}"` : utf8Words(shown)
  return `From: ${foldText(`${phrase} <${address}>`, 'From: '.length)}`
}

/** Composes the header lines for one-click unsubscription (RFC 8058 §3.1); none without a link. */
export function unsubscribeLines(link: string | undefined): string[] {
  if (link === undefined) return []
  return [`List-Unsubscribe: <${link}>`, 'List-Unsubscribe-Post: List-Unsubscribe=One-Click']
}

/** Composes a 7-bit text part with its header, as a Latin-1 view; lines of the text end in LF. */
export function textPart(text: string): string {
  const lines = text.replaceAll('\n', '\r\n')
  if (/^[\x09\x0d\x0a\x20-\x7e]*$/.test(text) && !hasLongLine(text)) {
    const type = 'Content-Type: text/plain; charset=us-ascii\r\n'
    return `${type}Content-Transfer-Encoding: 7bit\r\n\r\n${lines}`
  }
  const encoded = encodeTransfer(Buffer.from(lines).toString('latin1'), 'quoted-printable')
  const type = 'Content-Type: text/plain; charset=utf-8\r\n'
  return `${type}Content-Transfer-Encoding: quoted-printable\r\n\r\n${encoded}`
}

/** Returns the decoded text of a mail that we composed: of its first `textPart`. */
export function firstTextPart(raw: Buffer): Buffer {
  const start = raw.indexOf('\r\nContent-Type: text/plain')
  const end = start < 0 ? -1 : raw.indexOf('\r\n\r\n', start)
  if (end < 0) return Buffer.of()
  const header = raw.subarray(start, end).toString('latin1')
  const delimiter = raw.subarray(raw.lastIndexOf('\r\n', start - 1), start)
  const isPart = delimiter.indexOf('\r\n--') === 0
  const after = isPart ? raw.indexOf(delimiter, end) : -1
  const content = raw.subarray(end + 4, after < 0 ? raw.length : after)
  return decodeTransfer(
    content,
    transferEncoding(/^Content-Transfer-Encoding: (.*)$/m.exec(header)?.[1]),
  )
}

const LINE_CHARS_MAX = 900

function hasLongLine(text: string): boolean {
  let start = 0
  while (text.length - start > LINE_CHARS_MAX) {
    const end = text.lastIndexOf('\n', start + LINE_CHARS_MAX)
    if (end < start) return true
    start = end + 1
  }
  return false
}

/** Returns a boundary that occurs in none of the parts; the same input gives the same boundary. */
export function unusedBoundary(messageId: string, parts: readonly string[]): string {
  for (let attempt = 0; ; attempt += 1) {
    const seed = `${messageId} ${String(attempt)}`
    const boundary = `=_${hash('sha256', seed).slice(0, 32)}`
    if (!parts.some((part) => part.includes(boundary))) return boundary
  }
}
