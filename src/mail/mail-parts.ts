import { hash } from 'node:crypto'
import { decodeHeaderText } from './encoded-word.ts'
import { fieldValue, type HeaderField, parseHeader } from './header.ts'
import { type Entity, entityField, leafText, ownPart, parseMimeTree } from './mime-tree.ts'
import { composeEncodedWords, foldText, unfoldField, utf8Words } from './seven-bit.ts'
import { cleanLine } from './text.ts'
import { encodeTransfer } from './transfer-encoding.ts'

/** The feedback types we send (RFC 5965 §7.3, RFC 6430), each as a person calls such a message. */
export const feedbackTypes = {
  abuse: 'Unsolicited mail',
  fraud: 'Phishing or fraud',
  virus: 'Malware',
  'not-spam': 'Mail wrongly reported',
  other: 'Unwanted mail',
} as const

/** A feedback type by its registered name. */
export type FeedbackType = keyof typeof feedbackTypes

/** What a feedback report states. Nothing in it may name the reporter. */
export type FeedbackFacts = {
  feedbackType: FeedbackType
  /** What made the report: `Signalpost/0.1.0`. */
  userAgent: string
  /** The address that handed the message over, bare, IPv4 or IPv6. */
  sourceIp: string
  /** Its port there (RFC 6692), where the reporter's provider noted it. */
  sourcePort?: number | undefined
  /** When the reporter's provider took the message. */
  arrivedAt?: Date | undefined
  /** The host that took it and says so. */
  reportingMta?: string | undefined
  /** The MAIL FROM of the message, without angle brackets; empty is the null one. */
  mailFrom?: string | undefined
  /** What stands for who received it: never an address of theirs. */
  recipients?: readonly string[] | undefined
  /** The ENVID it was sent with (RFC 3461). */
  envelopeId?: string | undefined
  /** What we found when we verified, as RFC 8601 writes it: never what a header claims. */
  authenticationResults?: readonly string[] | undefined
  /** Domains the report is about, first the one that matters most. */
  domains?: readonly string[] | undefined
  /** Links of the message the report is about. */
  uris?: readonly string[] | undefined
  /** How many messages this one stands for (RFC 5965 §3.2); 1 when absent. */
  incidents?: number | undefined
}

/** Our own field: the type that we found, where `Feedback-Type` cannot say it. */
export const CLASS_FIELD = 'X-Signalpost-Type'

const valueCharsMax = 900
const repeatsMax = 50

/**
 * The fields of the machine-readable part (RFC 5965 §3), in a fixed order: those that must appear
 * exactly once first. A fact that will not go into one line of printable ASCII is left out rather
 * than folded or cut, for half an address is a wrong one. An unsolicited report has the type
 * `abuse` (RFC 6650 §5.4), because many readers know no other; what we found has a field of ours.
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

/** An instant as mail writes it (RFC 5322 §3.3), in UTC. */
export function composeMailDate(date: Date): string {
  return date.toUTCString().replace(/GMT$/, '+0000')
}

function several<T>(values: readonly T[] = []): T[] {
  return [...new Set(values)].slice(0, repeatsMax)
}

function isWritable(value: string | undefined): boolean {
  return value !== undefined && value.length <= valueCharsMax && /^[\x20-\x7e]*\S$/.test(value)
}

/** The domain as DNS has it: lower case, other letters in Punycode (RFC 5890). */
function asciiDomain(domain: string): string | undefined {
  const { hostname } = URL.parse(`http://${domain}`) ?? {}
  return hostname === undefined || hostname === '' ? undefined : hostname
}

/** The URI with everything but printable ASCII percent-encoded (RFC 3986 §2.1). */
function asciiUri(uri: string): string {
  return uri.toWellFormed().replace(/[^\x21-\x7e]/gu, encodeURIComponent)
}

/**
 * The Subject of a report, folded: that of the message it is about (RFC 5965 §2, point h), or what
 * the report is when there is none. A message that a mail system wrote, or that reads so, gets the
 * prefix of a forwarded mail, which the RFC allows: readers of bounces go by the Subject first, and
 * would take the report for a bounce or a vacation answer itself.
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
 * The Subject as it stands, if a reader sees one line of it; else as it reads in one line: encoded
 * words may hold line ends. Mail servers refuse mail with an endless header, so it is cut.
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

/** What a feedback report states: names as written, values unfolded, in the order they stand. */
export type FeedbackFields = { fields: [name: string, value: string][] }

/**
 * Reads the machine-readable part of a report in the Abuse Reporting Format (RFC 5965 §3), with
 * any line ends and whatever the multipart around it is called. Undefined when there is none; one
 * inside an attached message is that message's affair. A complaint as Microsoft's junk mail program
 * sends it, the message alone under a subject that says so, has no fields; nor has the mail by
 * which Apple's mail program unsubscribes whoever got ours. Never throws.
 */
export function parseFeedbackReport(raw: Buffer): FeedbackFields | undefined {
  const tree = parseMimeTree(raw)
  return tree && feedbackReportIn(tree)
}

/** The same of a message whose tree is there. */
export function feedbackReportIn(tree: Entity): FeedbackFields | undefined {
  const part = ownPart(tree, 'message/feedback-report')
  if (part?.body.kind !== 'leaf') return isBareComplaint(tree) ? { fields: [] } : undefined
  const { fields } = parseHeader(Buffer.from(leafText(part).trimStart(), 'latin1'))
  return { fields: fields.map(({ name, value }) => [name, value]) }
}

const bareSubject = /^\s*complaint about message from \[?[0-9a-f.:]{3,45}\]?\s*$/i

function isBareComplaint(tree: Entity): boolean {
  if (/^\s*true\b/i.test(entityField(tree, 'x-apple-unsubscribe') ?? '')) return true
  return (
    bareSubject.test(entityField(tree, 'subject') ?? '') &&
    ownPart(tree, 'message/rfc822') !== undefined
  )
}

const addressShape = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,128}@[A-Za-z0-9.-]{1,253}$/
const urlShape = /^https?:\/\/[\x21-\x3b\x3d\x3f-\x7e]{1,900}$/
const messageIdShape = /^<[\x21-\x3b\x3d\x3f-\x7e]{1,900}>$/

/** What is to be written into a header; what is absent is no fault. */
export type HeaderPieces = {
  addresses: readonly (string | undefined)[]
  messageIds: readonly (string | undefined)[]
  links: readonly (string | undefined)[]
}

/** Throws a RangeError when one of them could break the header of a mail of ours. */
export function checkHeader({ addresses, messageIds, links }: HeaderPieces): void {
  const isWrong = (shape: RegExp) => (piece: string | undefined) =>
    piece !== undefined && !shape.test(piece)
  if (addresses.some(isWrong(addressShape))) {
    throw new RangeError('Not an address to write in a header')
  }
  if (messageIds.some(isWrong(messageIdShape))) throw new RangeError('Not a Message-ID')
  if (links.some(isWrong(urlShape))) throw new RangeError('Not a link')
}

/** The From field: the address, with a display name where there is one (RFC 5322 §3.4). */
export function fromLine(address: string, name: string | undefined): string {
  const shown = cleanLine(name ?? '')
  if (shown === '') return `From: ${address}`
  const isAscii = /^[\x20-\x7e]+$/.test(shown)
  const phrase = isAscii ? `"${shown.replace(/["\\]/g, '\\$&')}"` : utf8Words(shown)
  return `From: ${foldText(`${phrase} <${address}>`, 'From: '.length)}`
}

/** The lines by which one click stops such mail, in the words of RFC 8058 §3.1. */
export function unsubscribeLines(link: string | undefined): string[] {
  if (link === undefined) return []
  return [`List-Unsubscribe: <${link}>`, 'List-Unsubscribe-Post: List-Unsubscribe=One-Click']
}

/** A text part in 7 bits with its header, as a Latin-1 view; lines of the text end in LF. */
export function textPart(text: string): string {
  const lines = text.replaceAll('\n', '\r\n')
  if (/^[\x09\x0d\x0a\x20-\x7e]*$/.test(text)) {
    const type = 'Content-Type: text/plain; charset=us-ascii\r\n'
    return `${type}Content-Transfer-Encoding: 7bit\r\n\r\n${lines}`
  }
  const encoded = encodeTransfer(Buffer.from(lines).toString('latin1'), 'quoted-printable')
  const type = 'Content-Type: text/plain; charset=utf-8\r\n'
  return `${type}Content-Transfer-Encoding: quoted-printable\r\n\r\n${encoded}`
}

/** A boundary that stands nowhere in the parts, and the same each time. */
export function unusedBoundary(messageId: string, parts: readonly string[]): string {
  for (let attempt = 0; ; attempt += 1) {
    const seed = `${messageId} ${String(attempt)}`
    const boundary = `=_${hash('sha256', seed).slice(0, 32)}`
    if (!parts.some((part) => part.includes(boundary))) return boundary
  }
}
