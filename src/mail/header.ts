/** One field of a message header, in the order it stands there. All text is a Latin-1 view. */
export type HeaderField = {
  /** As written: `Received`, `RECEIVED`. */
  name: string
  /** The name in lower case, to compare with. */
  key: string
  /** Unfolded, without white space around it. May hold NULs and any byte. */
  value: string
  /** The whole field as it stands, folds included, without its last line end. */
  raw: string
}

/** A header block and where it ends. */
export type Header = {
  fields: HeaderField[]
  /** Offset of the first byte of the body; the message's length when there is none. */
  bodyOffset: number
  /** How lines end in the header. */
  lineEnd: 'lf' | 'cr'
}

const firstSliceBytes = 16 * 1024
const headerBytesMax = 4 * 1024 * 1024
const nameCharsMax = 128

/**
 * Reads the header block of a message (RFC 5322 §2.2), in linear time and forgiving: any line
 * ends, a leading mbox `From ` line, NULs, 8-bit bytes, stray lines between fields. Where the
 * blank line is missing, the header ends at the first line that starts a text. Never throws.
 */
export function parseHeader(raw: Buffer): Header {
  const lineEnd = headerLineEnd(raw)
  for (let bytes = firstSliceBytes; ; bytes *= 8) {
    const text = raw.toString('latin1', 0, Math.min(bytes, raw.length))
    const complete = bytes >= raw.length || bytes >= headerBytesMax
    const header = readBlock(text, lineEnd, complete)
    if (header) return header
  }
}

/** The value of the first field of that name (in lower case), or undefined. */
export function fieldValue(fields: readonly HeaderField[], key: string): string | undefined {
  return fields.find((field) => field.key === key)?.value
}

/** The values of all fields of that name (in lower case), top first. */
export function fieldValues(fields: readonly HeaderField[], key: string): string[] {
  return fields.filter((field) => field.key === key).map(({ value }) => value)
}

/** How lines end in the header: by a lone CR only where its first 16 KiB have no LF at all. */
export function headerLineEnd(raw: Buffer): Header['lineEnd'] {
  const start = raw.subarray(0, firstSliceBytes)
  return start.includes(0x0a) || !start.includes(0x0d) ? 'lf' : 'cr'
}

function readBlock(text: string, lineEnd: Header['lineEnd'], complete: boolean) {
  const lines = new Lines(text, lineEnd === 'lf' ? '\n' : '\r')
  const fields: HeaderField[] = []
  if (isEnvelopeLine(text)) lines.next()
  while (lines.next()) {
    if (lines.isBlank()) return { fields, bodyOffset: lines.nextStart, lineEnd }
    const colon = nameEnd(text, lines.start, lines.end)
    if (colon < 0) {
      if (isStray(lines, text)) continue
      return { fields, bodyOffset: lines.start, lineEnd }
    }
    const start = lines.start
    const firstEnd = lines.end
    const folds: string[] = []
    while (lines.nextIsFold()) {
      lines.next()
      folds.push(text.slice(lines.start, lines.end).trim())
    }
    const name = text.slice(start, colon).trimEnd()
    const first = text.slice(colon + 1, firstEnd).trim()
    const value = folds.length === 0 ? first : [first, ...folds].join(' ').trim()
    fields.push({ name, key: name.toLowerCase(), value, raw: text.slice(start, lines.end) })
  }
  return complete ? { fields, bodyOffset: text.length, lineEnd } : undefined
}

/** A line no parser expects is skipped when a field follows it; otherwise it begins the body. */
function isStray(lines: Lines, text: string): boolean {
  const code = text.charCodeAt(lines.start)
  if (code === 0x20 || code === 0x09) return true
  const next = lines.peek()
  return next !== undefined && nameEnd(text, next.start, next.end) >= 0
}

function isEnvelopeLine(text: string): boolean {
  return text.startsWith('From ') || text.startsWith('>From ')
}

/** Where the colon of a field name stands (RFC 5322 §3.6.8, blanks before it forgiven), or -1. */
function nameEnd(text: string, start: number, end: number): number {
  const limit = Math.min(end, start + nameCharsMax)
  let blank = false
  for (let at = start; at < limit; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x3a) return at > start ? at : -1
    if (code === 0x20 || code === 0x09) {
      if (at === start) return -1
      blank = true
    } else if (blank || code < 0x21 || code > 0x7e) return -1
  }
  return -1
}

/** Walks over the lines of a text without copying them. `end` leaves the line end out. */
class Lines {
  start = 0
  end = 0
  nextStart = 0
  readonly #text: string
  readonly #separator: string

  constructor(text: string, separator: string) {
    this.#text = text
    this.#separator = separator
  }

  next(): boolean {
    if (this.nextStart >= this.#text.length) return false
    const line = this.#lineAt(this.nextStart)
    this.start = line.start
    this.end = line.end
    this.nextStart = line.nextStart
    return true
  }

  peek(): { start: number; end: number } | undefined {
    return this.nextStart >= this.#text.length ? undefined : this.#lineAt(this.nextStart)
  }

  isBlank(): boolean {
    return this.start === this.end
  }

  nextIsFold(): boolean {
    const code = this.#text.charCodeAt(this.nextStart)
    if (code !== 0x20 && code !== 0x09) return false
    const line = this.#lineAt(this.nextStart)
    return line.end > line.start
  }

  #lineAt(start: number) {
    const found = this.#text.indexOf(this.#separator, start)
    const stop = found < 0 ? this.#text.length : found
    let end = stop
    while (end > start && this.#text.charCodeAt(end - 1) === 0x0d) end--
    return { start, end, nextStart: found < 0 ? stop : stop + 1 }
  }
}
