import { createHash } from 'node:crypto'
import { composeMailDate, feedbackFields, feedbackTypes } from './feedback-fields.ts'
import type { FeedbackFacts } from './feedback-fields.ts'
import { composeFeedbackText } from './feedback-text.ts'
import type { FeedbackExplanation } from './feedback-text.ts'
import { entityText, parseMimeTree } from './mime-tree.ts'
import type { Entity } from './mime-tree.ts'
import {
  composeEncodedWords,
  foldText,
  sevenBitFields,
  sevenBitTree,
  unfoldField,
} from './seven-bit.ts'
import { encodeTransfer } from './transfer-encoding.ts'

/**
 * All that goes into one feedback report. It leaves the house: whatever may name the reporter
 * (`facts`, `explanation`, `original`) must have been redacted for this consumer before.
 */
export type FeedbackReportInput = {
  /** The address the report comes from (MAIL_FROM). */
  from: string
  /** The abuse address it goes to. */
  to: string
  /** When the report was made: kept with it, so that composing again gives the same bytes. */
  date: Date
  /** The part of the Message-ID before the `@`: this feedback report's alone. */
  token: string
  /** The part of the Message-ID after the `@`. */
  domain: string
  facts: FeedbackFacts
  explanation: FeedbackExplanation
  /** The reported message, redacted: with whatever line ends, or read already. */
  original: Buffer | Entity
  /** How much of it to send. */
  form: 'whole' | 'headers'
}

/** A composed feedback report; `form` is `headers` when the whole could not be sent as 7 bits. */
export type FeedbackReport = { messageId: string; raw: Buffer; form: 'whole' | 'headers' }

/**
 * One feedback report in the Abuse Reporting Format (RFC 5965): a multipart/report of a text a
 * person can act on alone, the same for machines, and the reported message, with the reported
 * message's Subject (RFC 5965 §2, point h). All of it is 7-bit with CRLF line ends, and the same
 * input gives the same bytes. Auto-Submitted keeps responders quiet (RFC 3834 §5); there is no
 * Precedence, which ticket systems take for bulk.
 *
 * Throws a RangeError when an address or the token could break the header.
 */
export function composeFeedbackReport(input: FeedbackReportInput): FeedbackReport {
  for (const piece of [input.from, input.to, `${input.token}@${input.domain}`]) {
    if (!addressShape.test(piece)) throw new RangeError('Not an address to write in a header')
  }
  const messageId = `<${input.token}@${input.domain}>`
  const original = originalPart(input)
  const parts = [
    textPart(composeFeedbackText(input.facts, input.explanation, original)),
    machinePart(input.facts),
    original.text,
  ]
  const boundary = unusedBoundary(messageId, parts)
  const header = [
    `From: ${input.from}`,
    `To: ${input.to}`,
    `Subject: ${subjectOf(input, original.fields)}`,
    `Date: ${composeMailDate(input.date)}`,
    `Message-ID: ${messageId}`,
    'Auto-Submitted: auto-generated',
    'MIME-Version: 1.0',
    `Content-Type: multipart/report; report-type=feedback-report;\r\n boundary="${boundary}"`,
  ].join('\r\n')
  const body = parts.map((part) => `--${boundary}\r\n${part}\r\n`).join('')
  const raw = Buffer.from(`${header}\r\n\r\n${body}--${boundary}--\r\n`, 'latin1')
  return { messageId, raw, form: original.form }
}

const addressShape = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,128}@[A-Za-z0-9.-]{1,253}$/

type OriginalPart = { text: string; form: 'whole' | 'headers'; fields: Entity['fields'] }

function originalPart({ original, form }: FeedbackReportInput): OriginalPart {
  const tree = Buffer.isBuffer(original) ? parseMimeTree(original) : original
  const fields = tree?.fields ?? []
  const whole = form === 'whole' && tree ? sevenBitTree(tree) : undefined
  const content = whole
    ? entityText(whole)
    : sevenBitFields(fields)
        .map(({ raw }) => `${raw}\r\n`)
        .join('')
  const type = whole ? 'message/rfc822' : 'text/rfc822-headers'
  const text = `Content-Type: ${type}\r\nContent-Transfer-Encoding: 7bit\r\n\r\n${content}`
  return { text, form: whole ? 'whole' : 'headers', fields }
}

function textPart(text: string): string {
  const lines = text.replaceAll('\n', '\r\n')
  if (/^[\x09\x0d\x0a\x20-\x7e]*$/.test(text)) {
    const type = 'Content-Type: text/plain; charset=us-ascii\r\n'
    return `${type}Content-Transfer-Encoding: 7bit\r\n\r\n${lines}`
  }
  const encoded = encodeTransfer(Buffer.from(lines).toString('latin1'), 'quoted-printable')
  const type = 'Content-Type: text/plain; charset=utf-8\r\n'
  return `${type}Content-Transfer-Encoding: quoted-printable\r\n\r\n${encoded}`
}

function machinePart(facts: FeedbackFacts): string {
  const fields = feedbackFields(facts).map(([name, value]) => `${name}: ${value}\r\n`)
  const header = 'Content-Type: message/feedback-report\r\nContent-Transfer-Encoding: 7bit\r\n'
  return `${header}\r\n${fields.join('')}`
}

function subjectOf({ facts }: FeedbackReportInput, fields: Entity['fields']): string {
  const field = fields.find(({ key }) => key === 'subject')
  const given = field === undefined ? '' : composeEncodedWords(unfoldField(field))
  const subject = given.trim() === '' ? fallbackSubject(facts) : given
  return foldText(subject, 'Subject: '.length)
}

function fallbackSubject(facts: FeedbackFacts): string {
  return `${feedbackTypes[facts.feedbackType]} from ${facts.sourceIp}`
}

/** A boundary that stands nowhere in the parts, and the same each time. */
function unusedBoundary(messageId: string, parts: readonly string[]): string {
  for (let attempt = 0; ; attempt += 1) {
    const seed = `${messageId} ${String(attempt)}`
    const boundary = `=_${createHash('sha256').update(seed).digest('hex').slice(0, 32)}`
    if (!parts.some((part) => part.includes(boundary))) return boundary
  }
}
