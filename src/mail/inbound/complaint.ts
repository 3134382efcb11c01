import { z } from 'zod'
import { parseMailboxes } from '../address.ts'
import { type Delivery, withDeliveryTrace } from '../delivery-trace.ts'
import { fieldValue, fieldValues, type HeaderField, parseHeader } from '../header.ts'
import { messageAtStart } from '../message.ts'
import { leafBytes, type MimeLeaf, readMime } from '../mime-leaves.ts'
import { headerTypes, mayHoldMessage, messageTypes } from '../returned-message.ts'
import { jsonOf } from '../text.ts'

/** A complaint of somebody else about a message, as the message and the kind of the report. */
export type Complaint = { message: Buffer; kind: 'spam' | 'phishing' | 'not-spam' }

/** What a complaint says in its machine-readable form. */
type Statement = {
  kind: Complaint['kind']
  recipients?: readonly string[]
  sourceIp?: string | undefined
  host?: string | undefined
  at?: string | undefined
  /** The message, if it is not a part of the mail. */
  message?: Buffer | undefined
}

/** Parts of mail that is about delivery or reading, not a complaint. */
const otherReports = [
  ...['message/delivery-status', 'message/global-delivery-status'],
  ...['message/disposition-notification', 'message/global-disposition-notification'],
]

/**
 * Reads a mail from a feedback loop: the Abuse Reporting Format (RFC 5965) in any multipart, with
 * the message or only its header, whatever type its part has; XARF 4 and 3 in JSON, XARF 0.2 in
 * YAML; SpamCop's text; and a mail with nothing but the message attached, as Microsoft's program
 * sends it. Recipients that the complaint names are added to the message, so that they are hidden
 * from others; a source address is added if the message names no server. Undefined for another
 * mail, or a complaint about something else, such as failed authentication. Linear; never throws.
 */
export function complaintIn(raw: Buffer): Complaint | undefined {
  const { fields, leaves } = readMime(raw)
  const statement = statementIn(leaves, fields)
  const message = statement && (statement.message ?? messageIn(leaves))
  if (!message) return undefined
  const header = parseHeader(message).fields
  const recipients = [
    ...(statement.recipients ?? []),
    ...fieldValues(header, 'x-hmxmroriginalrecipient'),
  ]
  const delivery: Delivery = {
    recipients: recipients.flatMap((text) => parseMailboxes(text).map(({ address }) => address)),
    client: fieldValue(header, 'received') === undefined ? clientOf(statement, fields) : undefined,
  }
  return { kind: statement.kind, message: withDeliveryTrace(message, delivery) }
}

function clientOf({ sourceIp, host, at }: Statement, fields: readonly HeaderField[]) {
  const date = new Date(at ?? fieldValue(fields, 'date') ?? '')
  if (sourceIp === undefined || Number.isNaN(date.getTime())) return undefined
  return { ip: sourceIp.trim(), host: host ?? 'mx.invalid', at: date }
}

function statementIn(
  leaves: readonly MimeLeaf[],
  fields: readonly HeaderField[],
): Statement | undefined {
  for (const leaf of leaves) {
    const found = xarfIn(leaf)
    if (found) return found
  }
  const report = leaves.find(({ type }) => type === 'message/feedback-report')
  if (report) return feedbackIn(parseHeader(trimmed(report)).fields)
  if (leaves.some(({ type }) => otherReports.includes(type))) return undefined
  const spamCop = spamCopIn(leaves)
  if (spamCop) return spamCop
  if (fieldValue(fields, 'x-xarf') !== undefined) return oldXarfIn(leaves)
  const isBare = leaves.some(({ type }) => messageTypes.includes(type))
  return isBare ? { kind: 'spam', sourceIp: sourceIn(fields) } : undefined
}

/** The decoded part without the empty line that some programs put before its first field. */
function trimmed(leaf: MimeLeaf): Buffer {
  return Buffer.from((leafBytes(leaf)?.toString('latin1') ?? '').trimStart(), 'latin1')
}

const kinds: Readonly<Record<string, Complaint['kind']>> = {
  '': 'spam',
  abuse: 'spam',
  spam: 'spam',
  bulk_messaging: 'spam',
  virus: 'spam',
  fraud: 'phishing',
  phishing: 'phishing',
  'not-spam': 'not-spam',
}

function kindNamed(name: string): Complaint['kind'] | undefined {
  const key = name.trim().toLowerCase()
  return Object.hasOwn(kinds, key) ? kinds[key] : undefined
}

function feedbackIn(fields: readonly HeaderField[]): Statement | undefined {
  const kind = kindNamed(fieldValue(fields, 'feedback-type') ?? '')
  if (!kind) return undefined
  const host = /^\s*(?:dns\s*;)?\s*(\S+)\s*$/i.exec(fieldValue(fields, 'reporting-mta') ?? '')
  return {
    kind,
    recipients: fieldValues(fields, 'original-rcpt-to'),
    sourceIp: fieldValue(fields, 'source-ip'),
    host: host?.[1],
    at: fieldValue(fields, 'arrival-date') ?? fieldValue(fields, 'received-date'),
  }
}

function sourceIn(fields: readonly HeaderField[]): string | undefined {
  const subject = fieldValue(fields, 'subject') ?? ''
  return /^\s*complaint about message from \[?([0-9a-f.:]{3,45})\]?\s*$/i.exec(subject)?.[1]
}

const evidenceSchema = z.array(
  z.object({ content_type: z.string().default(''), payload: z.string() }),
)
const xarf4Schema = z.object({
  xarf_version: z.string(),
  type: z.string(),
  source_identifier: z.string().optional(),
  smtp_to: z.string().optional(),
  timestamp: z.string().optional(),
  evidence: evidenceSchema,
})
const xarf3Schema = z.object({
  Report: z.object({
    ReportType: z.string(),
    SourceIp: z.string().optional(),
    SmtpRcptToAddress: z.string().optional(),
    Date: z.string().optional(),
    Samples: z.array(
      z.object({
        ContentType: z.string().default(''),
        Base64Encoded: z.boolean().default(false),
        Payload: z.string(),
      }),
    ),
  }),
})

function xarfIn(leaf: MimeLeaf): Statement | undefined {
  if (!/^(?:application|text)\/(?:[\w.-]+\+)?json$/.test(leaf.type)) return undefined
  const json = jsonIn(leaf)
  const four = xarf4Schema.safeParse(json)
  if (four.success) {
    const { type, smtp_to: to, source_identifier: sourceIp, timestamp: at } = four.data
    const kind = kindNamed(type)
    const found = four.data.evidence.find((one) => isMessageType(one.content_type))
    const message = found && Buffer.from(found.payload, 'base64')
    return kind && message && { kind, recipients: to ? [to] : [], sourceIp, at, message }
  }
  const three = xarf3Schema.safeParse(json)
  if (!three.success) return undefined
  const { ReportType, SourceIp: sourceIp, SmtpRcptToAddress: to, Date: at } = three.data.Report
  const kind = kindNamed(ReportType)
  const found = three.data.Report.Samples.find((one) => isMessageType(one.ContentType))
  const message = found && Buffer.from(found.Payload, found.Base64Encoded ? 'base64' : 'utf8')
  return kind && message && { kind, recipients: to ? [to] : [], sourceIp, at, message }
}

function jsonIn(leaf: MimeLeaf): unknown {
  return jsonOf(leafBytes(leaf)?.toString('utf8') ?? '')
}

function isMessageType(type: string): boolean {
  return messageTypes.includes((type.split(';')[0] ?? '').trim().toLowerCase())
}

const YAML_CHARS = 20_000
const SPAMCOP_CHARS = 20_000

/** Reads the fields of XARF 0.2, which are in the second text of the mail. */
function oldXarfIn(leaves: readonly MimeLeaf[]): Statement | undefined {
  for (const leaf of leaves.filter(({ type }) => type.startsWith('text/'))) {
    const text = leafBytes(leaf)?.toString('latin1', 0, YAML_CHARS) ?? ''
    const valueOf = (name: string) =>
      new RegExp(`^${name}:[ \\t]{0,20}["']?([^"'\\r\\n]{1,300})`, 'im').exec(text)?.[1]?.trim()
    const type = valueOf('Report-Type')
    const kind = type === undefined ? undefined : kindNamed(type)
    if (kind) return { kind, sourceIp: valueOf('Source'), at: valueOf('Date') }
    if (type !== undefined) return undefined
  }
  return undefined
}

const spamCopTitle = /^\[ SpamCop V[\w. ]{1,30}\][ \t]*$/im
const spamCopMark = /^\[ Offending message \][ \t]*\r?$/im
const spamCopSource = /^Email from \[?([0-9a-f.:]{3,45})\]?[ \t]*\/[ \t]*([^\r\n]{1,100})$/im

/** Reads SpamCop's report as a text: a few lines about the message, a mark, and the message. */
function spamCopIn(leaves: readonly MimeLeaf[]): Statement | undefined {
  const leaf = leaves.find(({ type }) => type === 'text/plain')
  const text = (leaf && leafBytes(leaf)?.toString('latin1')) ?? ''
  const mark = spamCopMark.exec(text.slice(0, SPAMCOP_CHARS))
  if (!mark) return undefined
  const about = text.slice(0, mark.index)
  const message = Buffer.from(text.slice(mark.index + mark[0].length), 'latin1')
  const [, sourceIp, at] = spamCopSource.exec(about) ?? []
  const isTitled = spamCopTitle.test(about) || sourceIp !== undefined
  return isTitled ? { kind: 'spam', sourceIp, at, message: messageAtStart(message) } : undefined
}

/**
 * The message, or its header if a provider attaches no more. Some providers attach it as a file or
 * as a text; the first part is the text of the complaint.
 */
function messageIn(leaves: readonly MimeLeaf[]): Buffer | undefined {
  const whole = leaves.find(({ type }) => messageTypes.includes(type))
  if (whole) return leafBytes(whole)
  const header = leaves.find(({ type }) => headerTypes.includes(type))
  if (header) return ended(leafBytes(header))
  for (const leaf of leaves.slice(1)) {
    const bytes = mayHoldMessage(leaf) ? leafBytes(leaf) : undefined
    const message = bytes && messageAtStart(belowTitle(bytes))
    if (message) return isHeaderAlone(message) ? ended(message) : message
  }
  return undefined
}

const titleChars = 400
const titleLines = /^(?:\s{0,9}[-=_*~]{2,20}[^\r\n]{0,80}[\r\n]{1,4}){1,3}/

/** The bytes below lines such as `----- Original message -----`. */
function belowTitle(bytes: Buffer): Buffer {
  return bytes.subarray(titleLines.exec(bytes.toString('latin1', 0, titleChars))?.[0].length ?? 0)
}

/** A header with the blank line that ends it. */
function ended(header: Buffer | undefined): Buffer | undefined {
  return header && Buffer.from(`${header.toString('latin1').trim()}\r\n\r\n`, 'latin1')
}

function isHeaderAlone(message: Buffer): boolean {
  return message.subarray(parseHeader(message).bodyOffset).toString('latin1').trim() === ''
}
