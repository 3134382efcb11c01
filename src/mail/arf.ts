import { decodeHeaderText } from './encoded-word.ts'
import type { FeedbackFormat } from './feedback-format.ts'
import { composeFeedbackText, type FeedbackExplanation } from './feedback-text.ts'
import {
  checkHeader,
  composeMailDate,
  composeReportSubject,
  type FeedbackFacts,
  feedbackFields,
  type FeedbackType,
  fromLine,
  textPart,
  unsubscribeLines,
  unusedBoundary,
} from './mail-parts.ts'
import type { HeaderField } from './header.ts'

/** From whom to whom a report goes, and when. */
export type ReportEnvelope = {
  /** The address that the report is sent from (MAIL_FROM). */
  from: string
  /** The name of the operator of this service: the display name of From. */
  operator?: string | undefined
  /** The abuse contact that receives the report. */
  to: string
  /** The address for answers by mail; `from` when absent. */
  replyTo?: string | undefined
  /** A page that stops feedback reports with one click (RFC 8058). */
  unsubscribe?: string | undefined
  /** The Message-ID, in angle brackets, of the report that this one corrects. */
  corrects?: string | undefined
  /** When the report was made. It is stored, so that composing again gives the same bytes. */
  date: Date
  /** The part of the Message-ID before the `@`, unique to this feedback report. */
  token: string
  /** The part of the Message-ID after the `@`. */
  domain: string
}

/**
 * The content of one feedback report. The report is sent to others: `facts`, `explanation` and
 * `original` must already be redacted for the recipient, because they may identify the reporter.
 */
export type FeedbackReportInput = ReportEnvelope & {
  facts: FeedbackFacts
  explanation: FeedbackExplanation
  original: MessageCopy
}

/** A copy of a message that may leave, composed for its recipient. */
export type MessageCopy = {
  fields: HeaderField[]
  /**
   * The copy as a message, or only its header, as a Latin-1 view: in 7 bits, unless it is the
   * original.
   */
  content: string
  form: 'whole' | 'headers'
  /** Whether the content is the message as it was received. */
  isOriginal?: boolean
}

/**
 * Composes one feedback report in the Abuse Reporting Format (RFC 5965): a multipart/report with a
 * text that tells a person everything needed to act, the same facts for machines, and the reported
 * message. The Subject is taken from the reported message (RFC 5965 §2, point h). The report is
 * 7-bit with CRLF line ends, and the same input gives the same bytes. Auto-Submitted prevents
 * automatic replies (RFC 3834 §5). There is no Precedence field, because ticket systems would treat
 * the report as bulk mail. Only an original may have 8-bit bytes: a message in a mail must not be
 * encoded (RFC 2046 §5.2.1).
 *
 * Throws a RangeError when an address or the token could break the header.
 */
export function composeFeedbackReport(input: FeedbackReportInput): Buffer {
  const machine = feedbackFields(input.facts, input.explanation)
  const { form, content } = input.original
  const type = form === 'whole' ? 'message/rfc822' : 'text/rfc822-headers'
  const encoding = /[\x80-\xff]/.test(content) ? '8bit' : '7bit'
  const last = `Content-Type: ${type}\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${content}`
  return assembleReport(input, { ...readableParts(input, 'arf'), machine, last })
}

/** The facts of a feedback report, as shown in lists. */
export type ReportLine = {
  kind: FeedbackType
  sourceIp: string
  messages: number
  arrivedAt: Date | undefined
  subject: string
}

/** Returns the facts of a feedback report that is composed from this content. */
export function reportLine({
  facts,
  original: { fields },
}: Pick<FeedbackReportInput, 'facts' | 'original'>): ReportLine {
  return {
    kind: facts.feedbackType,
    sourceIp: facts.sourceIp,
    messages: facts.incidents ?? 1,
    arrivedAt: facts.arrivedAt,
    subject: decodeHeaderText(composeReportSubject(facts, fields).replaceAll('\r\n', '')),
  }
}

/** The Subject and the text of a feedback report. */
export function readableParts(
  { facts, explanation, original }: FeedbackReportInput,
  format: FeedbackFormat,
): Pick<ReportParts, 'subject' | 'text'> {
  return {
    subject: composeReportSubject(facts, original.fields),
    text: composeFeedbackText(facts, explanation, { ...original, format }),
  }
}

/** What a report contains. */
export type ReportParts = {
  /** The folded value of the Subject field. */
  subject: string
  /** The text for people; its lines end in LF. */
  text: string
  /** The fields of message/feedback-report. */
  machine: readonly [name: string, value: string][]
  /** The last part, with its header, as a Latin-1 view. */
  last: string
}

/** Composes a multipart/report of the text for people and the given parts (RFC 6522). */
export function assembleReport(
  envelope: ReportEnvelope,
  { subject, text, machine, last }: ReportParts,
): Buffer {
  const { from, to, replyTo, unsubscribe, corrects } = envelope
  const messageId = `<${envelope.token}@${envelope.domain}>`
  checkHeader({
    addresses: [from, to, replyTo],
    messageIds: [messageId, corrects],
    links: [unsubscribe],
  })
  const parts = [textPart(text), machinePart(machine), last]
  const boundary = unusedBoundary(messageId, parts)
  const header = headerLines(envelope, messageId, subject).join('\r\n')
  const type = 'Content-Type: multipart/report; report-type=feedback-report'
  const contentType = `${type};\r\n boundary="${boundary}"`
  const body = parts.map((part) => `--${boundary}\r\n${part}\r\n`).join('')
  return Buffer.from(`${header}\r\n${contentType}\r\n\r\n${body}--${boundary}--\r\n`, 'latin1')
}

function headerLines(envelope: ReportEnvelope, messageId: string, subject: string): string[] {
  const { from, operator, to, replyTo, date, unsubscribe, corrects } = envelope
  return [
    fromLine(from, operator),
    `To: ${to}`,
    ...(replyTo === undefined ? [] : [`Reply-To: ${replyTo}`]),
    `Subject: ${subject}`,
    `Date: ${composeMailDate(date)}`,
    `Message-ID: ${messageId}`,
    ...(corrects === undefined ? [] : [`In-Reply-To: ${corrects}`, `References: ${corrects}`]),
    'Auto-Submitted: auto-generated',
    ...unsubscribeLines(unsubscribe),
    'MIME-Version: 1.0',
  ]
}

function machinePart(fields: ReportParts['machine']): string {
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`)
  const header = 'Content-Type: message/feedback-report\r\nContent-Transfer-Encoding: 7bit\r\n'
  return `${header}\r\n${lines.join('')}`
}
