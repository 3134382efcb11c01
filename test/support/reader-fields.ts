import { createHash } from 'node:crypto'
import { simpleParser } from 'mailparser'
import { parseFeedbackReport } from '../../src/mail/mail-parts.ts'
import {
  type Entity,
  leafText,
  leavesOf,
  ownPart,
  parseMimeTree,
} from '../../src/mail/mime-tree.ts'

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

const code = /redacted-[a-z2-7]{16}(?:@redacted\.invalid)?/

/**
 * Returns the parts of the reported message that the feedback report changes unexpectedly: it may
 * only replace texts by codes, or a whole part by a note with its checksum. Returns `lost` if the
 * number of parts differs.
 */
export function changedParts(planted: Buffer, report: Buffer): string[] {
  const before = parseMimeTree(planted)
  const tree = parseMimeTree(report)
  const sent = tree && ownPart(tree, 'message/rfc822')
  if (sent === undefined) return []
  const [given, left] = [leavesOf(before ?? sent), leavesOf(sent)]
  if (given.length !== left.length) return [`lost: ${given.length} became ${left.length}`]
  return given.flatMap((leaf, index) => {
    const other = left[index]
    return other && isSame(leaf, other) ? [] : [`part ${String(index)} (${leaf.type})`]
  })
}

function isSame(before: Entity, after: Entity): boolean {
  const [given, left] = [trimmed(leafText(before)), trimmed(leafText(after))]
  if (given === left) return true
  if (left.includes('This part was removed')) {
    const bytes = Buffer.from(leafText(before), 'latin1')
    return left.includes(createHash('sha256').update(bytes).digest('hex'))
  }
  const pieces = left.split(new RegExp(code, 'g'))
  let at = 0
  for (const [index, piece] of pieces.entries()) {
    const found = index === 0 ? (given.startsWith(piece) ? 0 : -1) : given.indexOf(piece, at)
    if (found < 0) return false
    at = found + piece.length
  }
  return given.endsWith(pieces.at(-1) ?? '')
}

/** Removes line ends at the end, because the last one before a boundary belongs to the boundary. */
function trimmed(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(/\s+$/, '')
}
