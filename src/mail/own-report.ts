import { z } from 'zod'
import type { ReportLine } from './arf.ts'
import { decodeHeaderText } from './encoded-word.ts'
import { parseHeader } from './header.ts'
import { CLASS_FIELD, type FeedbackType, feedbackTypes, parseFeedbackReport } from './mail-parts.ts'
import { findLeaf, leafText, readMime } from './mime-leaves.ts'
import { boundaryOf } from './part-fields.ts'
import { jsonOf } from './text.ts'
import { decodeTransfer } from './transfer-encoding.ts'

/** A feedback report, or a digest of several, that we composed, with its parts. */
export type OwnReport = {
  /** The text for people. */
  text: string
  /** The reported message as sent, redacted, or only its header; undefined in a digest. */
  message: Buffer | undefined
  /** The feedback reports attached to a digest. */
  attached: Buffer[]
}

/**
 * Reads a mail that we composed; undefined for any other mail. Our boundaries occur nowhere else,
 * so the parts are found without parsing the reported message. If `raw` is cut off, so is the last
 * part.
 */
export function readOwnReport(raw: Buffer): OwnReport | undefined {
  const { fields } = parseHeader(raw)
  const type = fields.find(({ key }) => key === 'content-type')?.value ?? ''
  const boundary = boundaryOf(type)
  if (boundary === undefined) return undefined
  const [, first, ...others] = raw
    .toString('latin1')
    .split(`--${boundary}--`, 1)
    .flatMap((text) => text.split(`--${boundary}\r\n`))
  if (first === undefined) return undefined
  const text = textOf(first)
  if (/^multipart\/mixed/i.test(type)) {
    const attached = others.map((part) => Buffer.from(contentOf(part), 'latin1'))
    return { text, message: undefined, attached }
  }
  const last = others.at(-1)
  return { text, message: last === undefined ? undefined : messageIn(last), attached: [] }
}

/** Returns the attached feedback report with a number, such as `<id>.1`. */
export function attachedReport({ attached }: OwnReport, number: string): Buffer | undefined {
  return attached.find((raw) => {
    const id = parseHeader(raw).fields.find(({ key }) => key === 'message-id')?.value
    return id?.startsWith(`<${number}@`)
  })
}

/** Reads the facts of a feedback report that we composed; its end may be cut off. */
export function readReportLine(raw: Buffer): ReportLine {
  const fields = fieldsOf(raw)
  const subject = parseHeader(raw).fields.find(({ key }) => key === 'subject')?.value ?? ''
  const type = fields.get(CLASS_FIELD) ?? fields.get('Feedback-Type') ?? ''
  const arrivedAt = new Date(fields.get('Arrival-Date') ?? Number.NaN)
  return {
    kind: isFeedbackType(type) ? type : 'other',
    sourceIp: fields.get('Source-IP') ?? '',
    messages: Number(fields.get('Incidents') ?? 1),
    arrivedAt: Number.isNaN(arrivedAt.getTime()) ? undefined : arrivedAt,
    subject: decodeHeaderText(subject),
  }
}

/** The fields of a report; for a report in JSON, the equivalent fields. */
function fieldsOf(raw: Buffer): Map<string, string> {
  const fields = new Map(parseFeedbackReport(raw)?.fields)
  const mail = fields.get('Feedback-Type') === 'xarf' ? readMime(raw) : undefined
  const part = mail && findLeaf(mail, 'application/json')
  if (part === undefined) return fields
  const report = xarfFacts.safeParse(jsonOf(leafText(part))).data
  if (report === undefined) return fields
  const [kind = ''] = report.tags
  return new Map([
    ['Feedback-Type', { 'message:phishing': 'fraud', 'message:malware': 'virus' }[kind] ?? 'abuse'],
    ['Source-IP', report.source_identifier],
    ['Arrival-Date', report.timestamp],
    ['Incidents', String(report.recipient_count ?? 1)],
  ])
}

const xarfFacts = z.object({
  source_identifier: z.string(),
  timestamp: z.string(),
  recipient_count: z.number().optional(),
  tags: z.array(z.string()),
})

function isFeedbackType(type: string): type is FeedbackType {
  return type in feedbackTypes
}

function textOf(part: string): string {
  const bytes = Buffer.from(contentOf(part), 'latin1')
  const isEncoded = headerOf(part).includes('quoted-printable')
  return decodeTransfer(bytes, isEncoded ? 'quoted-printable' : 'identity').toString()
}

function headerOf(part: string): string {
  const at = part.indexOf('\r\n\r\n')
  return at < 0 ? part : part.slice(0, at)
}

/** Removes the header of a part, and the line end that belongs to the next boundary. */
function contentOf(part: string): string {
  const at = part.indexOf('\r\n\r\n')
  return part.slice(at < 0 ? part.length : at + 4).replace(/\r\n$/, '')
}

/** Returns the reported message in a part, which a report in JSON contains in base64. */
function messageIn(part: string): Buffer {
  if (!/^Content-Type: application\/json/im.test(headerOf(part))) {
    return Buffer.from(contentOf(part), 'latin1')
  }
  const json = Buffer.from(contentOf(part), 'base64').toString('utf8')
  const payload = /"payload":\s*"([A-Za-z0-9+/=]*)/.exec(json)?.[1] ?? ''
  return Buffer.from(payload, 'base64')
}
