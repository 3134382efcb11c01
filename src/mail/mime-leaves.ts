import { decodeHeaderText } from './encoded-word.ts'
import { fieldValue, parseHeader } from './header.ts'
import type { HeaderField } from './header.ts'
import { boundaryOf, fieldParameter } from './mime-tree.ts'
import { decodeTransfer, transferEncoding } from './transfer-encoding.ts'
import type { TransferEncoding } from './transfer-encoding.ts'

/** A part of a message that is no multipart, with the very bytes it stands there with. */
export type MimeLeaf = {
  fields: readonly HeaderField[]
  /** In lower case. */
  type: string
  encoding: TransferEncoding
  /** The name of the file it was made of; undefined when it has none. */
  name: string | undefined
  isAttachment: boolean
  /** As it stands: a view of the message's bytes, its transfer encoding not undone. */
  content: Buffer
}

const depthMax = 30
const partsMax = 2_000
const nameCharsMax = 500

/**
 * The leaves of a message in their order, each to the byte: line ends as they stand, CRLF, LF or CR
 * alone. Attached messages are leaves. At most 2,000 parts in 30 levels are looked at; what is
 * deeper is one leaf. Linear in bytes times levels. Never throws.
 */
export function mimeLeaves(raw: Buffer): MimeLeaf[] {
  const leaves: MimeLeaf[] = []
  walk(raw, 'text/plain', { depth: 0, budget: { parts: partsMax }, leaves })
  return leaves
}

/** The bytes under the transfer encoding; undefined where nobody here can undo it. */
export function leafBytes({ content, encoding }: MimeLeaf): Buffer | undefined {
  if (encoding === 'identity') return content
  if (encoding === undefined) return undefined
  return Buffer.from(decodeTransfer(content.toString('latin1'), encoding), 'latin1')
}

type Walk = { depth: number; budget: { parts: number }; leaves: MimeLeaf[] }

function walk(raw: Buffer, usualType: string, { depth, budget, leaves }: Walk): void {
  budget.parts -= 1
  if (budget.parts < 0) return
  const { fields, bodyOffset } = parseHeader(raw)
  const contentType = fieldValue(fields, 'content-type') ?? usualType
  const type = /^[^\s;/]+\/[^\s;/(]+/.exec(contentType)?.[0].toLowerCase() ?? 'text/plain'
  const content = raw.subarray(bodyOffset)
  const boundary = type.startsWith('multipart/') && boundaryOf(contentType)
  if (boundary && depth < depthMax) {
    const inside = type === 'multipart/digest' ? 'message/rfc822' : 'text/plain'
    const parts = partsOf(content, boundary, budget.parts)
    if (parts.length > 0) {
      for (const part of parts) walk(part, inside, { depth: depth + 1, budget, leaves })
      return
    }
  }
  const disposition = fieldValue(fields, 'content-disposition') ?? ''
  const encoding = transferEncoding(fieldValue(fields, 'content-transfer-encoding'))
  leaves.push({
    fields,
    type,
    encoding,
    name: nameOf(disposition, contentType),
    isAttachment: /^\s*attachment\b/i.test(disposition),
    content,
  })
}

/** The parts between the delimiter lines, each without the line end before the next delimiter. */
function partsOf(content: Buffer, boundary: string, most: number): Buffer[] {
  const mark = Buffer.from(`--${boundary}`, 'latin1')
  const lineEnd = content.includes(0x0a) ? 0x0a : 0x0d
  // Looked for with the line end before it: a line may be nothing but marks, millions of them.
  const delimiter = Buffer.concat([Buffer.of(lineEnd), mark])
  const next = (from: number) => {
    const found = content.indexOf(delimiter, from)
    return found < 0 ? -1 : found + 1
  }
  const parts: Buffer[] = []
  let start: number | undefined
  const isAtOnce = content.subarray(0, mark.length).equals(mark)
  for (let at = isAtOnce ? 0 : next(0); at >= 0; at = next(at)) {
    const found = content.indexOf(lineEnd, at)
    const end = found < 0 ? content.length : found + 1
    const rest = content.toString('latin1', at + mark.length, Math.min(end, at + 1_000)).trim()
    if (rest !== '' && rest !== '--') continue
    if (start !== undefined) parts.push(content.subarray(start, textEnd(content, start, at)))
    if (rest === '--' || parts.length >= most) return parts
    start = end
  }
  // A mail that was cut off on its way has its last part all the same.
  if (start !== undefined) parts.push(content.subarray(start))
  return parts
}

/** Where a part ends whose delimiter begins at `at`: its line end belongs to the delimiter. */
function textEnd(content: Buffer, start: number, at: number): number {
  let end = at
  if (end > start) end -= 1
  if (end > start && content[end] === 0x0a && content[end - 1] === 0x0d) end -= 1
  return end
}

function nameOf(disposition: string, contentType: string): string | undefined {
  const name = fieldParameter(disposition, 'filename') ?? fieldParameter(contentType, 'name')
  return name === undefined ? undefined : decodeHeaderText(name.slice(0, nameCharsMax))
}
