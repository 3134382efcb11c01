/** One field of a message header. All text is a Latin-1 view of the bytes. */
export type HeaderField = {
  /** As written: `Received`, `RECEIVED`. */
  name: string
  /** The name in lower case, for comparisons. */
  key: string
  /** Unfolded, without white space around it. May contain NULs and any byte. */
  value: string
  /** The whole field unchanged, including its folds, without its last line end. */
  raw: string
}

/** A parsed header, and where it ends. */
export type Header = {
  fields: HeaderField[]
  /** Offset of the first byte of the body; the message's length when there is none. */
  bodyOffset: number
  /** The line end in the header; `lf` stands for CRLF too. */
  lineEnd: 'lf' | 'cr'
}

const firstSliceBytes = 16 * 1024
const headerBytesMax = 4 * 1024 * 1024
const nameCharsMax = 128
const blankCrlfLine = Buffer.from('\r\n\r\n')
const blankLine = Buffer.from('\n\n')

/**
 * Parses the header of a message (RFC 5322 §2.2) leniently and in linear time: accepts any line
 * ends, a leading mbox `From ` line, NULs, 8-bit bytes, and stray lines between fields. If the
 * blank line is missing, the header ends at the first line that begins a text. Never throws.
 */
export function parseHeader(raw: Buffer): Header {
  const lineEnd = headerLineEnd(raw)
  for (let bytes = likelyBytes(raw); ; bytes *= 8) {
    const text = raw.toString('latin1', 0, Math.min(bytes, raw.length))
    const complete = bytes >= raw.length || bytes >= headerBytesMax
    const header = readBlock(text, lineEnd, complete)
    if (header) return header
  }
}

/**
 * The value of the first field with the given name (in lower case); undefined when there is none.
 */
export function fieldValue(fields: readonly HeaderField[], key: string): string | undefined {
  for (const field of fields) if (field.key === key) return field.value
  return undefined
}

/** The values of all fields with the given name (in lower case), top first. */
export function fieldValues(fields: readonly HeaderField[], key: string): string[] {
  return fields.filter((field) => field.key === key).map(({ value }) => value)
}

/** The line end of a header: a lone CR only if the first 16 KiB contain no LF. */
export function headerLineEnd(raw: Buffer): Header['lineEnd'] {
  const start = raw.subarray(0, firstSliceBytes)
  const cr = start.indexOf(0x0d)
  // The last of these bytes may be the first half of a CRLF.
  return start.includes(0x0a) || cr < 0 || raw[cr + 1] === 0x0a ? 'lf' : 'cr'
}

/**
 * The number of bytes to read first: up to the first blank line, which nearly always ends the
 * header.
 */
function likelyBytes(raw: Buffer): number {
  const start = raw.subarray(0, 8 * firstSliceBytes)
  const isCrlf = start[start.indexOf(0x0a) - 1] === 0x0d
  const end = start.indexOf(isCrlf ? blankCrlfLine : blankLine)
  return end < 0 ? firstSliceBytes : Math.max(1024, end + 4)
}

function readBlock(text: string, lineEnd: Header['lineEnd'], complete: boolean) {
  const separator = lineEnd === 'lf' ? '\n' : '\r'
  const fields: HeaderField[] = []
  let start = isEnvelopeLine(text) ? nextLine(text, 0, separator) : 0
  while (start < text.length) {
    let next = nextLine(text, start, separator)
    let end = contentEnd(text, start, next)
    if (end === start) return { fields, bodyOffset: next, lineEnd }
    const colon = nameEnd(text, start, end)
    if (colon < 0) {
      if (!isStray(text, start, next, separator)) return { fields, bodyOffset: start, lineEnd }
      start = next
      continue
    }
    while (isBlank(text.charCodeAt(next))) {
      const fold = next
      next = nextLine(text, fold, separator)
      end = contentEnd(text, fold, next)
    }
    fields.push(new WrittenField(text.slice(start, end), colon - start, separator))
    start = next
  }
  return complete ? { fields, bodyOffset: text.length, lineEnd } : undefined
}

const keySlots = 1024
const keys: (string | undefined)[] = Array.from({ length: keySlots })

/**
 * Returns the first `end` characters of a field, its name, in lower case. Nearly all names are in a
 * table: equal names are then the same string, which compares faster, and no string is created.
 */
function keyOf(raw: string, end: number): string {
  let hash = end
  for (let at = 0; at < end; at++) hash = Math.imul(hash, 31) + (raw.charCodeAt(at) | 0x20)
  const slot = (hash ^ (hash >>> 10)) & (keySlots - 1)
  const known = keys[slot]
  if (known !== undefined && isSameName(known, raw, end)) return known
  // Not a slice, which would keep the whole message in memory.
  const key = Buffer.from(raw.slice(0, end).toLowerCase(), 'latin1').toString('latin1')
  keys[slot] = key
  return key
}

function isSameName(key: string, raw: string, end: number): boolean {
  if (key.length !== end) return false
  for (let at = 0; at < end; at++) {
    const code = raw.charCodeAt(at)
    const isCapital = code >= 0x41 && code <= 0x5a
    if ((isCapital ? code | 0x20 : code) !== key.charCodeAt(at)) return false
  }
  return true
}

/** A field as written. Name and value are computed on demand, because most are never used. */
class WrittenField implements HeaderField {
  readonly key: string
  readonly raw: string
  private readonly nameLength: number
  private readonly valueAt: number
  private readonly separator: string
  private known: string | undefined

  constructor(raw: string, colon: number, separator: string) {
    let end = colon
    while (isBlank(raw.charCodeAt(end - 1))) end--
    this.key = keyOf(raw, end)
    this.raw = raw
    this.nameLength = end
    this.valueAt = colon + 1
    this.separator = separator
    this.known = undefined
  }

  get name(): string {
    return this.raw.slice(0, this.nameLength)
  }

  get value(): string {
    return (this.known ??= unfolded(this.raw, this.valueAt, this.separator))
  }
}

/** Creates a field from its text with CRLF line ends, as the parser does. */
export function writtenField(raw: string): HeaderField {
  return new WrittenField(raw, raw.indexOf(':'), '\n')
}

function unfolded(raw: string, from: number, separator: string): string {
  let end = raw.indexOf(separator, from)
  if (end < 0) return raw.slice(from).trim()
  const lines = []
  let start = from
  for (; end >= 0; end = raw.indexOf(separator, start)) {
    lines.push(raw.slice(start, end).trim())
    start = end + 1
  }
  lines.push(raw.slice(start).trim())
  return lines.join(' ').trim()
}

/**
 * Whether a line that cannot be parsed is skipped. It is skipped if a field follows it, or soon a
 * field about the content; otherwise the body begins with it.
 */
function isStray(text: string, start: number, next: number, separator: string): boolean {
  if (isBlank(text.charCodeAt(start))) return true
  for (let at = next, lines = 0; at < text.length && lines < strayLinesMax; lines++) {
    const after = nextLine(text, at, separator)
    const end = contentEnd(text, at, after)
    if (end === at) return false
    if (lines === 0 ? nameEnd(text, at, end) >= 0 : mimeField.test(text.slice(at, at + 40))) {
      return true
    }
    at = after
  }
  return false
}

const strayLinesMax = 20
const mimeField = /^(?:content-[a-z-]+|mime-version)[ \t]*:/i

/** Where the next line begins, or the text ends. */
function nextLine(text: string, start: number, separator: string): number {
  const found = text.indexOf(separator, start)
  return found < 0 ? text.length : found + 1
}

/** Where the content of a line ends: before its line end and any CRs there. */
function contentEnd(text: string, start: number, next: number): number {
  let end = next
  if (end > start && isLineEnd(text.charCodeAt(end - 1))) end--
  while (end > start && text.charCodeAt(end - 1) === 0x0d) end--
  return end
}

function isLineEnd(code: number): boolean {
  return code === 0x0a || code === 0x0d
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}

function isEnvelopeLine(text: string): boolean {
  return text.startsWith('From ') || text.startsWith('>From ')
}

/**
 * The position of the colon after a field name (RFC 5322 §3.6.8, blanks before it accepted), or -1.
 */
function nameEnd(text: string, start: number, end: number): number {
  const limit = Math.min(end, start + nameCharsMax)
  let blank = false
  for (let at = start; at < limit; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x3a) return at > start ? at : -1
    if (isBlank(code)) {
      if (at === start) return -1
      blank = true
    } else if (blank || code < 0x21 || code > 0x7e) return -1
  }
  return -1
}

const mailFields = new Set([
  'from',
  'received',
  'date',
  'subject',
  'message-id',
  'return-path',
  'delivered-to',
  'to',
  'mime-version',
  'reply-to',
])
const decisive = new Set(['from', 'received', 'date', 'subject', 'message-id', 'return-path'])

/**
 * Whether a header is that of a mail message: it has at least two different fields that mail has,
 * one of them From, Received, Date, Subject, Message-ID or Return-Path (RFC 5322 §3.6).
 */
export function looksLikeMessage({
  fields,
}: {
  fields: readonly Pick<HeaderField, 'key'>[]
}): boolean {
  let found: string | undefined
  let isDecided = false
  for (const { key } of fields) {
    if (!mailFields.has(key)) continue
    isDecided ||= decisive.has(key)
    if (isDecided && found !== undefined && found !== key) return true
    found ??= key
  }
  return false
}
