import { parseHeader } from './header.ts'
import { leafText, ownPart, parseMimeTree } from './mime-tree.ts'

/** What a feedback report states: names as written, values unfolded, in the order they stand. */
export type FeedbackFields = { fields: [name: string, value: string][] }

/**
 * Reads the machine-readable part of a report in the Abuse Reporting Format (RFC 5965 §3), with
 * any line ends and whatever the multipart around it is called. Undefined when there is none; one
 * inside an attached message is that message's affair. Never throws.
 */
export function parseFeedbackReport(raw: Buffer): FeedbackFields | undefined {
  const tree = parseMimeTree(raw)
  const part = tree && ownPart(tree, 'message/feedback-report')
  if (part?.body.kind !== 'leaf') return undefined
  const { fields } = parseHeader(Buffer.from(leafText(part).trimStart(), 'latin1'))
  return { fields: fields.map(({ name, value }) => [name, value]) }
}
