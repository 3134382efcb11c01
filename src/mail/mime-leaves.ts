import { fieldValue, type Header, type HeaderField, headerLineEnd, parseHeader } from './header.ts'
import { boundaryOf, mediaType, type PartFields, partFields } from './part-fields.ts'
import { decodeTransfer } from './transfer-encoding.ts'

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

const depthMax = 100
const partsMax = 2_000

/**
 * The leaves of a message in their order, with their exact bytes, whatever the line ends (CRLF, LF
 * or CR alone). Attached messages are leaves, and so is a multipart without parts. Examines at most
 * 2,000 parts in 100 levels; deeper structure is one leaf. Linear in bytes times levels. Never
 * throws.
 */
export function mimeLeaves(raw: Buffer): MimeLeaf[] {
  const leaves: MimeLeaf[] = []
  const budget = { parts: partsMax }
  walk(raw, 'text/plain', { depth: 0, isAlternative: false, budget, leaves })
  return leaves
}

/** The decoded bytes of a part; undefined for a transfer encoding we cannot decode. */
export function leafBytes({ content, encoding }: MimeLeaf): Buffer | undefined {
  if (encoding === 'identity') return content
  if (encoding === undefined) return undefined
  return Buffer.from(decodeTransfer(content.toString('latin1'), encoding), 'latin1')
}

type Walk = {
  depth: number
  isAlternative: boolean
  budget: { parts: number }
  leaves: MimeLeaf[]
}

function walk(raw: Buffer, usualType: string, place: Walk): void {
  const { depth, budget, leaves } = place
  budget.parts -= 1
  if (budget.parts < 0) return
  const { fields, bodyOffset } = parseHeader(raw)
  const { type: named, isMultipart, boundaries, ...its } = partFields(fields)
  const content = raw.subarray(bodyOffset)
  const type =
    named ?? (fieldValue(fields, 'content-type') === undefined ? usualType : 'text/plain')
  const mayHaveParts = depth < depthMax && (isMultipart || named === undefined)
  const parts = mayHaveParts ? partsIn(content, { type, boundaries }, budget.parts) : []
  if (parts.length > 0) {
    const usualInside = named === 'multipart/digest' ? 'message/rfc822' : 'text/plain'
    const isAlternative = place.isAlternative || named === 'multipart/alternative'
    for (const part of parts) {
      walk(part, usualInside, { depth: depth + 1, isAlternative, budget, leaves })
    }
    return
  }
  const { isAlternative } = place
  leaves.push({ ...its, fields, type, isTyped: named !== undefined, isAlternative, content })
}

type Typed = { type: string; boundaries: readonly string[] }

/** The parts of a multipart, or of an entity whose type is damaged but its boundary is not. */
function partsIn(content: Buffer, { type, boundaries }: Typed, most: number): Buffer[] {
  for (const boundary of boundaries) {
    const parts = partsOf(content, boundary, most)
    if (parts.length > 0) return parts
  }
  const guessed = type.startsWith('multipart/') ? guessedBoundary(content) : undefined
  return guessed === undefined ? [] : partsOf(content, guessed, most)
}

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
 * levels of parts inside parts. First counts the byte sequences that could begin a part: in
 * ordinary mail, even that number is within the limits. Otherwise walks the MIME structure (RFC
 * 2046 §5.1), line by line and without recursion. Linear. `header` is that of the message, if it is
 * already parsed; it saves time.
 */
export function exceedsLimits(
  raw: Buffer,
  limits: StructureLimits,
  header?: Header,
): 'headers' | 'parts' | 'nesting' | undefined {
  if (header && isPlainlyWithin(raw, limits, header)) return undefined
  if (headerLines(raw, limits.headersMax) > limits.headersMax) return 'headers'
  const separators = countSeparators(raw)
  const enclosed = countOf(raw, '822') + countOf(raw, 'message/global')
  const partsAtMost = separators + enclosed + 1
  if (partsAtMost <= limits.partsMax && partsAtMost <= limits.nestingMax) return undefined
  return measure(raw, limits)
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

/** The number of lines that start with two dashes: every delimiter of a part is one. */
function countSeparators(raw: Buffer): number {
  return countOf(raw, headerLineEnd(raw) === 'lf' ? '\n--' : '\r--')
}

function countOf(raw: Buffer, text: string): number {
  let count = 0
  for (let at = raw.indexOf(text); at >= 0; at = raw.indexOf(text, at + text.length)) count++
  return count
}

type Level = { boundary: string; depth: number }
type State = { levels: Level[]; parts: number; depth: number; head: string[] | undefined }

const delimiterCharsMax = 300
const headCharsMax = 4000

function measure(raw: Buffer, limits: StructureLimits): 'parts' | 'nesting' | undefined {
  const state: State = { levels: [], parts: 1, depth: 0, head: [] }
  const lineEnd = headerLineEnd(raw) === 'lf' ? 0x0a : 0x0d
  let start = 0
  while (start < raw.length) {
    const found = raw.indexOf(lineEnd, start)
    const end = found < 0 ? raw.length : found
    readLine(raw, start, end, state)
    if (state.parts > limits.partsMax) return 'parts'
    if (state.depth > limits.nestingMax || state.levels.length > limits.nestingMax) return 'nesting'
    start = end + 1
  }
  return undefined
}

function readLine(raw: Buffer, start: number, end: number, state: State): void {
  if (raw[start] === 0x2d && raw[start + 1] === 0x2d) {
    const line = raw.toString('latin1', start + 2, Math.min(end, start + delimiterCharsMax))
    if (readDelimiter(line.trimEnd(), state)) return
  }
  if (!state.head) return
  const isBlank = start === end || (end - start === 1 && raw[start] === 0x0d)
  if (isBlank) finishHead(state)
  else if (state.head.length < 1000) {
    state.head.push(raw.toString('latin1', start, Math.min(end, start + headCharsMax)))
  }
}

/**
 * Handles a line that may be a delimiter, and returns whether it is one. A delimiter may belong to
 * any open level and closes the levels inside that level.
 */
function readDelimiter(line: string, state: State): boolean {
  for (let at = state.levels.length - 1; at >= 0; at--) {
    const level = state.levels[at]
    if (!level || !line.startsWith(level.boundary)) continue
    const rest = line.slice(level.boundary.length)
    if (rest !== '' && rest !== '--') continue
    state.levels.length = rest === '' ? at + 1 : at
    state.depth = level.depth
    state.head = rest === '' ? [] : undefined
    if (rest === '') state.parts++
    return true
  }
  return false
}

function finishHead(state: State): void {
  const written = contentType(state.head ?? [])
  const type = mediaType(written) ?? 'multipart/mixed'
  state.head = undefined
  if (type.startsWith('multipart/')) {
    const boundary = boundaryOf(written)
    if (boundary !== undefined) {
      state.depth++
      state.levels.push({ boundary, depth: state.depth })
    }
  } else if (type === 'message/rfc822' || type === 'message/global') {
    state.depth++
    state.parts++
    state.head = []
  }
}

function contentType(head: readonly string[]): string {
  const at = head.findIndex((line) => /^content-type[ \t]*:/i.test(line))
  if (at < 0) return ''
  const lines = [(head[at] ?? '').slice((head[at] ?? '').indexOf(':') + 1)]
  for (let next = at + 1; /^[ \t]/.test(head[next] ?? '') && lines.length < 50; next++) {
    lines.push(head[next] ?? '')
  }
  return lines.join(' ').trim().slice(0, headCharsMax)
}
