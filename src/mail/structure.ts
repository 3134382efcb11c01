import { headerLineEnd } from './header.ts'
import { boundaryOf } from './mime-tree.ts'

/** How much structure a message may have before it is refused. */
export type StructureLimits = { headersMax: number; partsMax: number; nestingMax: number }

/**
 * Names the first limit a message exceeds: fields of its header, MIME parts, levels of parts
 * inside parts. Two counts of bytes settle it for ordinary mail; only where they leave it open
 * is the MIME structure walked (RFC 2046 §5.1), line by line and without recursion. Linear.
 */
export function exceedsLimits(
  raw: Buffer,
  limits: StructureLimits,
): 'headers' | 'parts' | 'nesting' | undefined {
  if (headerLines(raw, limits.headersMax) > limits.headersMax) return 'headers'
  const separators = countSeparators(raw)
  const enclosed = countOf(raw, '822') + countOf(raw, 'message/global')
  const partsAtMost = separators + enclosed + 1
  if (partsAtMost <= limits.partsMax && partsAtMost <= limits.nestingMax) return undefined
  return walk(raw, limits)
}

/** Lines of the header that start a field; counting stops one past the limit. */
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

/** Lines that start with two dashes: every delimiter of a part is one. */
function countSeparators(raw: Buffer): number {
  return countOf(raw, '\n--') + countOf(raw, '\r--')
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

function walk(raw: Buffer, limits: StructureLimits): 'parts' | 'nesting' | undefined {
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

/** A delimiter of any open level ends what is inside it. */
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
  const type = contentType(state.head ?? [])
  state.head = undefined
  if (/^multipart\//i.test(type)) {
    const boundary = boundaryOf(type)
    if (boundary !== undefined) {
      state.depth++
      state.levels.push({ boundary, depth: state.depth })
    }
  } else if (/^message\/(rfc822|global)\b/i.test(type)) {
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
