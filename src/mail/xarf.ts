import { createHash } from 'node:crypto'
import { parseMailboxes } from './address.ts'
import {
  assembleReport,
  type FeedbackReportInput,
  type MessageCopy,
  readableParts,
  type ReportEnvelope,
} from './arf.ts'
import { decodeHeaderText } from './encoded-word.ts'
import type { FeedbackFacts } from './mail-parts.ts'
import { cleanLine } from './text.ts'
import { encodeTransfer } from './transfer-encoding.ts'

/** What all XARF reports begin with. */
export type XarfHead = {
  xarf_version: '4.2.0'
  report_id: string
  reporter: XarfContact
  sender: XarfContact
}

type XarfContact = { org: string; contact: string; domain: string }
export type XarfEvidence = {
  content_type: string
  description: string
  payload: string
  hash: string
  size: number
}

const evidenceBytesMax = 5 * 1024 * 1024

/**
 * Composes the feedback report as an XARF 4 mail: a multipart/report with a text for people, a
 * feedback-report part of type `xarf`, and the JSON. The input must not identify the reporter.
 *
 * Throws a RangeError when an address or the token could break the header.
 */
export function composeXarfReport(input: FeedbackReportInput): Buffer {
  const report = xarfReport(input)
  const form = report.evidence[0]?.content_type === 'message/rfc822' ? 'whole' : 'headers'
  const original = { ...input.original, form } as const
  return assembleReport(input, {
    ...readableParts({ ...input, original }, 'xarf'),
    ...xarfParts(report, input.facts.userAgent),
  })
}

/** The parts of a mail for programs: a feedback report of type `xarf`, and the JSON. */
export function xarfParts(report: XarfHead, userAgent: string) {
  const json = Buffer.from(`${JSON.stringify(report, null, 2)}\n`).toString('latin1')
  const last = [
    'Content-Type: application/json; charset=utf-8; name=xarf.json',
    'Content-Transfer-Encoding: base64',
    'Content-Disposition: attachment; filename=xarf.json',
    '',
    encodeTransfer(json, 'base64').trimEnd(),
  ].join('\r\n')
  const machine: [string, string][] = [
    ['Feedback-Type', 'xarf'],
    ['User-Agent', userAgent],
    ['Version', '1'],
  ]
  return { machine, last }
}

/** The version, the id and the organization of an XARF report. */
export function xarfHead(
  { from, operator, replyTo, domain, token }: ReportEnvelope,
  service: string,
): XarfHead {
  const org = cleanLine(operator ?? service).slice(0, 200)
  const contact = { org, contact: replyTo ?? from, domain }
  const id = uuidOf(`${token}@${domain}`)
  return { xarf_version: '4.2.0', report_id: id, reporter: contact, sender: contact }
}

/**
 * Builds the JSON of XARF 4 (xarf.org). The report is always `messaging`/`spam`, with the machine
 * that sent the message as the source. In XARF, phishing and malware belong to the category
 * `content`, where the source is the host of the linked page. The machine that sent the link is a
 * different one and would be wrongly accused. A tag states the type that we found. The protocol
 * `smtp` requires the client's port and the return path. When either is unknown, the protocol is
 * `other`, because an invented port would point at another customer behind the same address.
 */
function xarfReport(input: FeedbackReportInput) {
  const { facts, date, explanation, original } = input
  const { sourcePort, mailFrom = '', incidents = 1, uris = [] } = facts
  const isSmtp = sourcePort !== undefined && emailShape.test(mailFrom)
  const links = uris.filter((uri) => /^https?:\/\/[\x21-\x7e]+$/.test(uri))
  return {
    ...xarfHead(input, explanation.service),
    timestamp: (facts.arrivedAt ?? date).toISOString(),
    source_identifier: facts.sourceIp,
    ...(sourcePort !== undefined && { source_port: sourcePort }),
    category: 'messaging',
    type: 'spam',
    evidence_source: 'user_complaint',
    protocol: isSmtp ? 'smtp' : 'other',
    ...(emailShape.test(mailFrom) && { smtp_from: mailFrom }),
    ...headerFacts(facts, original),
    ...(incidents > 1 && { recipient_count: incidents }),
    ...(links.length > 0 && { spam_indicators: { suspicious_links: links } }),
    description: descriptionOf(input),
    tags: [`message:${kinds[facts.feedbackType]}`],
    evidence: [evidenceOf(original)],
  }
}

const emailShape = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+$/

const kinds = {
  abuse: 'unsolicited',
  fraud: 'phishing',
  virus: 'malware',
  'not-spam': 'not-spam',
  other: 'unwanted',
} as const

function headerFacts({ recipients = [] }: FeedbackFacts, { fields }: MessageCopy) {
  const read = (key: string, charsMax: number) => {
    const value = fields.find((field) => field.key === key)?.value
    const text = value === undefined ? '' : cleanLine(decodeHeaderText(value)).slice(0, charsMax)
    return text === '' ? undefined : text.toWellFormed()
  }
  const subject = read('subject', 500)
  const messageId = read('message-id', 200)
  const name = cleanLine(parseMailboxes(read('from', 1000) ?? '')[0]?.name ?? '').slice(0, 200)
  const recipient = recipients.find((one) => emailShape.test(one))
  return {
    ...(recipient !== undefined && { smtp_to: recipient }),
    ...(subject !== undefined && { subject }),
    ...(name !== '' && { sender_name: name }),
    ...(messageId !== undefined && { message_id: messageId }),
  }
}

function descriptionOf({ facts, explanation }: FeedbackReportInput): string {
  const { incidents = 1 } = facts
  const count = incidents < 2 ? '' : ` It covers ${String(incidents)} similar messages.`
  const port = facts.sourcePort === undefined ? " The client's port is unknown." : ''
  return (
    `The recipient of a message from ${facts.sourceIp}, received by SMTP, reported it.` +
    `${count}${port} Quote ${explanation.reportNumber} when you answer.`
  ).slice(0, 1000)
}

/**
 * The message, or only its header when the whole is larger than one piece of evidence may be (5
 * MiB).
 */
export function evidenceOf(original: MessageCopy): XarfEvidence {
  const header = original.content.slice(0, original.content.indexOf('\r\n\r\n') + 2)
  const isWhole = original.form === 'whole' && original.content.length <= evidenceBytesMax
  const content = original.form === 'headers' || isWhole ? original.content : header
  const bytes = Buffer.from(content.slice(0, evidenceBytesMax), 'latin1')
  const how = original.isOriginal === true ? 'as it was received' : rewritten
  return {
    content_type: isWhole ? 'message/rfc822' : 'text/rfc822-headers',
    description: `${isWhole ? 'The message' : 'Its header'}, ${how}`,
    payload: bytes.toString('base64'),
    hash: `sha256:${createHash('sha256').update(bytes).digest('hex')}`,
    size: bytes.length,
  }
}

const rewritten = 'written anew: codes ("redacted-...") replace what may identify its recipient'

/** Derives a UUID (RFC 9562) in the form of version 4; the same seed gives the same UUID. */
function uuidOf(seed: string): string {
  const hex = createHash('sha256').update(`xarf ${seed}`).digest('hex')
  const variant = '89ab'.charAt(Number.parseInt(hex.charAt(16), 16) % 4)
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-')
}
