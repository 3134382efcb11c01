import { parseHeader } from './header.ts'
import { entityField, leafText, ownPart, parseMimeTree } from './mime-tree.ts'
import type { Entity } from './mime-tree.ts'

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
