import { type CharsetTables, decodeCharset } from './charset.ts'
import { fieldValue, type Header, type HeaderField, headerLineEnd, parseHeader } from './header.ts'
import { mediaType, type PartFields, partFields } from './part-fields.ts'
import { withShortBlankRuns } from './seven-bit.ts'
import { decodeOnce, decodeTransfer, type TransferEncoding } from './transfer-encoding.ts'

/** A part of a message that is not a multipart, with its exact bytes. */
export type MimeLeaf = Omit<PartFields, 'type' | 'isMultipart' | 'boundaries'> & {
  fields: readonly HeaderField[]
  /** In lower case; `text/plain` when the header names no valid type (RFC 2045 §5.2). */
  type: string
  /** Whether the header names a valid type. */
  isTyped: boolean
  /** Whether it is inside a multipart/alternative. */
  isAlternative: boolean
  /** The part's content in its transfer encoding: a view of the message's bytes. */
  content: Buffer
}

export type MimeMessage = { fields: readonly HeaderField[]; leaves: readonly MimeLeaf[] }

const depthMax = 100
const partsMax = 2_000

/**
 * Reads the structure of a message: the one reader for the analysis, for bounces, and for mail that
 * is handed in. The leaves are in their order, with their exact bytes, whatever the line ends
 * (CRLF, LF or CR alone). Attached messages are leaves, and so is a multipart without parts.
 * Examines at most 2,000 parts in 100 levels; deeper structure is one leaf. `header` is that of the
 * message, if it is already parsed. Linear in bytes times levels. Never throws.
 */
export function readMime(raw: Buffer, header?: Header): MimeMessage {
  const given = header ?? parseHeader(raw)
  const even = withLineFeeds(raw, given)
  const its = even === raw ? given : parseHeader(even)
  const leaves: MimeLeaf[] = []
  const walk = { leaves, parts: partsMax, depthMax, deepest: 0, opensMessages: false }
  walkEntity(even, top, walk, its)
  if (even === raw) return { fields: its.fields, leaves }
  const written = leaves.map((leaf) => {
    const start = leaf.content.byteOffset - even.byteOffset
    return { ...leaf, content: raw.subarray(start, start + leaf.content.length) }
  })
  return { fields: its.fields, leaves: written }
}

export function findLeaf({ leaves }: MimeMessage, type: string): MimeLeaf | undefined {
  return leaves.find((leaf) => leaf.type === type)
}

/** The decoded bytes of a part; undefined for a transfer encoding we cannot decode. */
export function leafBytes(leaf: MimeLeaf): Buffer | undefined {
  const encoding = encodingOf(leaf)
  return encoding && decodeTransfer(leaf.content, encoding)
}

/**
 * The text of a part with lines that end in LF; still encoded if we cannot decode its transfer
 * encoding.
 */
export function leafText(leaf: MimeLeaf, tables?: CharsetTables): string {
  const bytes = decodeOnce(withShortBlankRuns(leaf.content), encodingOf(leaf))
  const text = decodeCharset(bytes, leaf.charset ?? '', tables)
  if (!text.includes('\r')) return text
  return text.includes('\n') ? text.replaceAll('\r\n', '\n') : text.replaceAll('\r', '\n')
}

/** The encoding of a part. A multipart has none (RFC 2045 §6.4), unless all of it is base64. */
function encodingOf({ type, encoding, mayBeBase64, content }: MimeLeaf): TransferEncoding {
  const isMultipart = type.startsWith('multipart/')
  if (encoding === 'base64' && !isMultipart) return encoding
  if (mayBeBase64 && isFoldedBase64(content)) return 'base64'
  return isMultipart ? 'identity' : encoding
}

/** Whether a content is nothing but long lines of base64, as no text for people is. */
function isFoldedBase64(content: Buffer): boolean {
  return /^[A-Za-z\d+/]{24,}={0,2}(?:\r?\n[A-Za-z\d+/=]*)*$/.test(content.toString('latin1').trim())
}

const returnInStructure = /\r(?:\r(?!\n)|--|[a-z-]{1,60}[ \t]*:)/i

/** Replaces CRs alone by LFs, if mail programs would end lines of the structure at them. */
function withLineFeeds(raw: Buffer, { lineEnd }: Header): Buffer {
  const text = raw.toString('latin1')
  if (lineEnd === 'lf' && !returnInStructure.test(text)) return raw
  return Buffer.from(text.replaceAll(/\r(?!\n)/g, '\n'), 'latin1')
}

/** Where entities stand: in the message itself, or in a multipart. */
type Place = { depth: number; usualType: string; isAlternative: boolean; boundary: string }

const top: Place = { depth: 0, usualType: 'text/plain', isAlternative: false, boundary: '' }

/** What is found so far, and the parts and levels that may still be read. */
type Walk = {
  leaves: MimeLeaf[]
  parts: number
  depthMax: number
  deepest: number
  /** Whether attached messages are entities, not leaves. */
  opensMessages: boolean
}

function walkEntity(raw: Buffer, place: Place, walk: Walk, header = parseHeader(raw)): void {
  const { depth, usualType, isAlternative } = place
  walk.parts -= 1
  if (walk.parts < 0) return
  walk.deepest = Math.max(walk.deepest, depth)
  const { fields, bodyOffset } = header
  const { type: named, isMultipart, boundaries, ...its } = partFields(fields)
  const content = raw.subarray(bodyOffset)
  const isUntyped = named === undefined && fieldValue(fields, 'content-type') === undefined
  const type = named ?? (isUntyped ? usualType : 'text/plain')
  const mayHaveParts = depth < walk.depthMax && (isMultipart || named === undefined)
  const found = mayHaveParts ? partsIn(content, { type, boundaries }, walk.parts + 1) : undefined
  const inside = {
    depth: depth + 1,
    usualType: named === 'multipart/digest' ? 'message/rfc822' : 'text/plain',
    isAlternative: isAlternative || named === 'multipart/alternative',
    boundary: found?.boundary ?? '',
  }
  if (found) {
    for (const part of found.parts) walkEntity(part, inside, walk)
    return
  }
  if (isMultipart && boundaries.includes(place.boundary)) {
    // A multipart with the boundary of the one around it: its parts are the next ones there.
    place.isAlternative ||= named === 'multipart/alternative'
    return
  }
  const isOpened = walk.opensMessages && depth < walk.depthMax && isMessage(type)
  if (isOpened) walkEntity(content, inside, walk)
  else
    walk.leaves.push({ ...its, fields, type, isTyped: named !== undefined, isAlternative, content })
}

function isMessage(type: string): boolean {
  return type === 'message/rfc822' || type === 'message/global'
}

type Typed = { type: string; boundaries: readonly string[] }

/** The parts of a multipart, or of an entity whose type is damaged but its boundary is not. */
function partsIn(content: Buffer, { type, boundaries }: Typed, most: number): Parts | undefined {
  for (const boundary of boundaries) {
    const parts = partsOf(content, boundary, most)
    if (parts.length > 0) return { boundary, parts }
  }
  const boundary = type.startsWith('multipart/') ? guessedBoundary(content) : undefined
  const parts = boundary === undefined ? [] : partsOf(content, boundary, most)
  return boundary !== undefined && parts.length > 0 ? { boundary, parts } : undefined
}

type Parts = { boundary: string; parts: Buffer[] }

const guessedBytesMax = 64 * 1024
const fieldLine = String.raw`[\w-]{1,60}:[^\r\n]{0,200}\r?[\r\n]`
const firstDelimiter = new RegExp(
  String.raw`(?<![^\r\n])--([^\s-][^\r\n]{0,199}|-[^\r\n]{1,199})\r?[\r\n]` +
    String.raw`(?:${fieldLine}){0,5}content-[a-z-]{2,30}[ \t]?:`,
  'i',
)

/** The boundary of a multipart that names none, or a wrong one: a part begins with its header. */
function guessedBoundary(content: Buffer): string | undefined {
  return firstDelimiter.exec(content.toString('latin1', 0, guessedBytesMax))?.[1]?.trim()
}

const searchedBytesMax = 64

/** Returns the parts between the delimiter lines, without the line end before each delimiter. */
function partsOf(content: Buffer, boundary: string, most: number): Buffer[] {
  const mark = Buffer.from(`--${boundary}`, 'latin1')
  const lineEnd = content.includes(0x0a) ? 0x0a : 0x0d
  // Searches for the delimiter with the line end before it: a hostile line may repeat the mark a
  // million times. Searches for its beginning only, because the time grows with the length.
  const delimiter = Buffer.concat([Buffer.of(lineEnd), mark.subarray(0, searchedBytesMax)])
  const next = (from: number) => {
    const found = content.indexOf(delimiter, from)
    return found < 0 ? -1 : found + 1
  }
  const parts: Buffer[] = []
  let start: number | undefined
  const isAtOnce = content.subarray(0, mark.length).equals(mark)
  for (let at = isAtOnce ? 0 : next(0); at >= 0; at = next(at)) {
    if (!content.subarray(at, at + mark.length).equals(mark)) continue
    const found = content.indexOf(lineEnd, at)
    const end = found < 0 ? content.length : found + 1
    const rest = content
      .toString('latin1', at + mark.length, Math.min(end, at + mark.length + 200))
      .trim()
    if (rest !== '' && rest !== '--') continue
    if (start !== undefined) parts.push(content.subarray(start, textEnd(content, start, at)))
    if (rest === '--' || parts.length >= most) return parts
    start = end
  }
  // In a mail that was cut off in transit, the last part has no delimiter after it.
  if (start !== undefined) parts.push(content.subarray(start))
  return parts
}

/**
 * Where a part ends if the next delimiter begins at `at`. The line end before the delimiter belongs
 * to the delimiter.
 */
function textEnd(content: Buffer, start: number, at: number): number {
  let end = at
  if (end > start) end -= 1
  if (end > start && content[end] === 0x0a && content[end - 1] === 0x0d) end -= 1
  return end
}

/** Limits on the structure of a message. A message above them is refused. */
export type StructureLimits = { headersMax: number; partsMax: number; nestingMax: number }

/**
 * Names the first limit that a message exceeds: the number of header fields, of MIME parts, or of
 * levels of parts inside parts, attached messages included. First counts the byte sequences that
 * could begin a part: in ordinary mail, even that number is within the limits. Linear in bytes
 * times the levels that are allowed. `header` is that of the message, if it is already parsed; it
 * saves time.
 */
export function exceedsLimits(
  raw: Buffer,
  limits: StructureLimits,
  header?: Header,
): 'headers' | 'parts' | 'nesting' | undefined {
  if (header && isPlainlyWithin(raw, limits, header)) return undefined
  if (headerLines(raw, limits.headersMax) > limits.headersMax) return 'headers'
  const separators = countOf(raw, '\n--') + countOf(raw, '\r--')
  const enclosed = countOf(raw, '822') + countOf(raw, 'message/global')
  const partsAtMost = separators + enclosed + 1
  if (partsAtMost <= limits.partsMax && partsAtMost <= limits.nestingMax) return undefined
  const walk = {
    leaves: [],
    parts: limits.partsMax,
    depthMax: limits.nestingMax + 1,
    deepest: 0,
    opensMessages: true,
  }
  const even = withLineFeeds(raw, header ?? parseHeader(raw))
  walkEntity(even, top, walk)
  if (walk.deepest > limits.nestingMax) return 'nesting'
  return walk.parts < 0 ? 'parts' : undefined
}

/** A line has at least two bytes, one of them its line end. */
const lineBytesMin = 2

/** Whether the message has a short header and its body is a single part. */
function isPlainlyWithin(
  raw: Buffer,
  { headersMax }: StructureLimits,
  { fields, bodyOffset, lineEnd }: Header,
): boolean {
  const end = lineEnd === 'lf' ? 0x0a : 0x0d
  let before = bodyOffset - 2
  if (lineEnd === 'lf' && raw[before] === 0x0d) before--
  const endsBlank = raw[bodyOffset - 1] === end && raw[before] === end
  if (!endsBlank || bodyOffset > headersMax * lineBytesMin) return false
  const type = fieldValue(fields, 'content-type')
  return type !== undefined && !/^(?:multipart|message)\//.test(mediaType(type) ?? 'multipart/')
}

/** The number of header lines that start a field; counting stops one above the limit. */
function headerLines(raw: Buffer, limit: number): number {
  const lineEnd = headerLineEnd(raw) === 'lf' ? 0x0a : 0x0d
  let lines = 0
  let start = 0
  while (start < raw.length && lines <= limit) {
    const first = raw[start]
    const isBlank = first === lineEnd || (first === 0x0d && isLineEnd(raw[start + 1]))
    if (isBlank) break
    if (first !== 0x20 && first !== 0x09) lines++
    const end = raw.indexOf(lineEnd, start)
    if (end < 0) break
    start = end + 1
  }
  return lines
}

function isLineEnd(code: number | undefined): boolean {
  return code === undefined || code === 0x0a || code === 0x0d
}

function countOf(raw: Buffer, text: string): number {
  let count = 0
  for (let at = raw.indexOf(text); at >= 0; at = raw.indexOf(text, at + text.length)) count++
  return count
}
