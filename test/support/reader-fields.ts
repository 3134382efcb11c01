import { simpleParser } from 'mailparser'
import { parseFeedbackReport } from '../../src/mail/mail-parts.ts'

/** The fields that a parser returns, in order, with names in lower case. */
export type ReadFields = [name: string, value: string][]

/** Returns the fields that our own parser finds in a feedback report. */
export function ownFields(raw: Buffer): ReadFields {
  return plain(parseFeedbackReport(raw)?.fields ?? [])
}

/**
 * Returns the fields that mailparser finds; it returns the whole part, so its lines are split here.
 */
export async function mailparserFields(raw: Buffer): Promise<ReadFields> {
  const { attachments } = await simpleParser(raw)
  const part = attachments.find(({ contentType }) => contentType === 'message/feedback-report')
  const lines = (part?.content.toString() ?? '').split(/\r?\n/).filter((line) => line !== '')
  return plain(lines.map((line) => [line.split(':', 1)[0] ?? '', line.replace(/^[^:]*:\s*/, '')]))
}

/** Converts fields to one notation, for comparison. */
export function plain(fields: readonly (readonly [string, string])[]): ReadFields {
  return fields.map(([name, value]) => [name.toLowerCase(), value.trim()])
}
