import { composeFeedbackText, type FeedbackExplanation } from './feedback-text.ts'
import {
  checkHeader,
  composeMailDate,
  composeReportSubject,
  type FeedbackFacts,
  feedbackFields,
  fromLine,
  textPart,
  unsubscribeLines,
  unusedBoundary,
} from './mail-parts.ts'
import { type Entity, entityText, parseMimeTree } from './mime-tree.ts'
import { sevenBitFields, sevenBitTree } from './seven-bit.ts'

/**
 * All that goes into one feedback report. It leaves the house: whatever may name the reporter
 * (`facts`, `explanation`, `original`) must have been redacted for this consumer before.
 */
export type FeedbackReportInput = {
  /** The address the report comes from (MAIL_FROM). */
  from: string
  /** The name of who runs this service: the display name of From. */
  operator?: string | undefined
  /** The abuse address it goes to. */
  to: string
  /** Where it is answered by mail; `from` when absent. */
  replyTo?: string | undefined
  /** A page on which such reports are stopped with one click (RFC 8058). */
  unsubscribe?: string | undefined
  /** The Message-ID, in angle brackets, of the report that this one corrects. */
  corrects?: string | undefined
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
  const original = originalPart(input)
  const machine = feedbackFields(input.facts, input.explanation)
  const raw = assembleReport(input, original, { machine, last: original.text, format: 'arf' })
  return { messageId: messageIdOf(input), raw, form: original.form }
}

/** What is between the text for people and the end of a report. */
export type ReportParts = {
  /** The fields of message/feedback-report. */
  machine: readonly [name: string, value: string][]
  /** The part after it, with its header, as a Latin-1 view. */
  last: string
  format: 'arf' | 'xarf'
}

/** A multipart/report of the text for people and those parts (RFC 6522). */
export function assembleReport(
  input: FeedbackReportInput,
  original: OriginalPart,
  { machine, last, format }: ReportParts,
): Buffer {
  const { from, to, replyTo, unsubscribe, corrects, facts, explanation } = input
  const messageId = messageIdOf(input)
  checkHeader({
    addresses: [from, to, replyTo],
    messageIds: [messageId, corrects],
    links: [unsubscribe],
  })
  const text = composeFeedbackText(facts, explanation, { ...original, format })
  const parts = [textPart(text), machinePart(machine), last]
  const boundary = unusedBoundary(messageId, parts)
  const header = headerLines(input, messageId, original.fields).join('\r\n')
  const type = 'Content-Type: multipart/report; report-type=feedback-report'
  const contentType = `${type};\r\n boundary="${boundary}"`
  const body = parts.map((part) => `--${boundary}\r\n${part}\r\n`).join('')
  return Buffer.from(`${header}\r\n${contentType}\r\n\r\n${body}--${boundary}--\r\n`, 'latin1')
}

function messageIdOf({ token, domain }: Pick<FeedbackReportInput, 'token' | 'domain'>): string {
  return `<${token}@${domain}>`
}

type Sent = Omit<FeedbackReportInput, 'original' | 'form' | 'explanation'>

function headerLines(input: Sent, messageId: string, fields: Entity['fields']): string[] {
  const { from, operator, to, replyTo, date, unsubscribe, corrects } = input
  return [
    fromLine(from, operator),
    `To: ${to}`,
    ...(replyTo === undefined ? [] : [`Reply-To: ${replyTo}`]),
    `Subject: ${composeReportSubject(input.facts, fields)}`,
    `Date: ${composeMailDate(date)}`,
    `Message-ID: ${messageId}`,
    ...(corrects === undefined ? [] : [`In-Reply-To: ${corrects}`, `References: ${corrects}`]),
    'Auto-Submitted: auto-generated',
    ...unsubscribeLines(unsubscribe),
    'MIME-Version: 1.0',
  ]
}

/** The reported message as a part of a report, and what it is itself. */
export type OriginalPart = {
  /** The part with its header, as a Latin-1 view. */
  text: string
  /** The message or its header alone, in 7 bits. */
  content: string
  form: 'whole' | 'headers'
  fields: Entity['fields']
}

/** The reported message in 7 bits, or its header where the whole cannot be sent so. */
export function originalPart({ original, form }: FeedbackReportInput): OriginalPart {
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
  return { text, content, form: whole ? 'whole' : 'headers', fields }
}

function machinePart(fields: ReportParts['machine']): string {
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`)
  const header = 'Content-Type: message/feedback-report\r\nContent-Transfer-Encoding: 7bit\r\n'
  return `${header}\r\n${lines.join('')}`
}
