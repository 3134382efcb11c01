import { characterSet } from './text.ts'

/** Base64 over several lines, as in a mail part that is quoted in a plain text. */
export type FoldedBase64 = { start: number; end: number; decoded: string }

const lineMin = 40
const digits = characterSet('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')
const equalsSign = 0x3d

/**
 * Finds all folded base64 in a text, in order: lines of at least 40 digits, and one more that may
 * be shorter. `decoded` is a Latin-1 view.
 */
export function foldedBase64(text: string): FoldedBase64[] {
  const found: FoldedBase64[] = []
  let at = text.indexOf('\n', lineMin)
  while (at >= 0) {
    const start = lineBefore(text, at)
    const end = start === undefined ? at : endOfLines(text, at)
    if (start !== undefined && end > at) {
      const decoded = Buffer.from(text.slice(start, end), 'base64').toString('latin1')
      found.push({ start, end, decoded })
    }
    at = text.indexOf('\n', Math.max(end, at + 1))
  }
  return found
}

/** Where the digits before a line end begin; undefined when there are fewer than 40. */
function lineBefore(text: string, lineEnd: number): number | undefined {
  const last = contentEnd(text, lineEnd)
  let start = last
  while (start > 0 && digits[text.charCodeAt(start - 1)] === 1) start--
  if (last - start < lineMin || text.charCodeAt(start - 1) === equalsSign) return undefined
  return start
}

/** Where the lines of digits after a line end stop; the line end itself when there are none. */
function endOfLines(text: string, lineEnd: number): number {
  let end = lineEnd
  for (let start = lineEnd + 1; ;) {
    let at = start
    while (digits[text.charCodeAt(at)] === 1) at++
    if (at === start) return end
    end = at
    const isLong = at - start >= lineMin
    const next = text.charCodeAt(at) === 0x0d ? at + 1 : at
    if (!isLong || text.charCodeAt(next) !== 0x0a) break
    start = next + 1
  }
  for (let padding = 0; padding < 2 && text.charCodeAt(end) === equalsSign; padding++) end++
  return end
}

function contentEnd(text: string, lineEnd: number): number {
  return text.charCodeAt(lineEnd - 1) === 0x0d ? lineEnd - 1 : lineEnd
}

/**
 * The transfer encoding of a part (RFC 2045 §6); undefined for an encoding we cannot decode. All
 * text is a Latin-1 view of bytes.
 */
export type TransferEncoding = 'identity' | 'base64' | 'quoted-printable' | undefined

const hidden = /uue|uuencode|yenc|binhex|gzip|deflate|compress/

/**
 * The encoding that a Content-Transfer-Encoding value names. Identity when the field is absent or
 * its value is unknown (`8bit+`, `Hexa`), because mail programs then show the part without decoding
 * it.
 */
export function transferEncoding(value = ''): TransferEncoding {
  const name = value
    .slice(0, 200)
    .replace(/\([^)]*\)|[\0-\x08\x0e-\x1f\x7f]/g, '')
    .toLowerCase()
  const first = /^[\s"'<>;,:=]*([\w+-]*)/.exec(name)?.[1]
  if (first === 'base64' || first === 'quoted-printable') return first
  return hidden.test(name) ? undefined : 'identity'
}

/** Removes a transfer encoding, as leniently as mail programs do. Linear; never throws. */
export function decodeTransfer(content: Buffer, encoding: TransferEncoding): Buffer {
  const bytes = decodeOnce(content, encoding)
  return bytes.buffer === scratch.buffer ? Buffer.from(bytes) : bytes
}

/** Like `decodeTransfer`, but the result is valid only until the next call. Saves a copy. */
export function decodeOnce(content: Buffer, encoding: TransferEncoding): Buffer {
  if (encoding === 'base64') return decodeBase64(content.toString('latin1'))
  return encoding === 'quoted-printable' ? decodeQuoted(content) : content
}

/** Encodes bytes in lines of at most 76 characters that end in CRLF. */
export function encodeTransfer(bytes: string, encoding: 'base64' | 'quoted-printable'): string {
  return encoding === 'base64' ? encodeBase64(bytes) : encodeQuotedPrintable(bytes)
}

/** After the digits, blanks can be matched in one way only, or the time is quadratic. */
const cleanBase64 = /^[A-Za-z0-9+/\r\n\t ]*(?:={1,2}[\r\n\t ]*)?$/

function decodeBase64(text: string): Buffer {
  if (cleanBase64.test(text)) return Buffer.from(text, 'base64')
  // Readers continue after padding in the middle, so each padded section is decoded separately.
  const stretches = text.replace(/[^A-Za-z0-9+/=]/g, '').match(/[^=]+/g) ?? []
  return Buffer.concat(stretches.map((stretch) => Buffer.from(stretch, 'base64')))
}

function encodeBase64(bytes: string): string {
  const lines =
    Buffer.from(bytes, 'latin1')
      .toString('base64')
      .match(/.{1,76}/g) ?? []
  return lines.map((line) => `${line}\r\n`).join('')
}

/** Holds decoded bytes; reused for all parts, because allocating costs more than filling. */
let scratch = Buffer.alloc(64 * 1024)

const carriageReturn = 0x0d
const lineFeed = 0x0a

/** Decodes quoted-printable (RFC 2045 §6.7) into `scratch`. An `=` of no use stands for itself. */
function decodeQuoted(content: Buffer): Buffer {
  const { length } = content
  if (scratch.length < length) scratch = Buffer.alloc(length * 2)
  const to = scratch
  let end = 0
  /** The end without the blanks behind the last other byte, which do not count at a line end. */
  let solid = 0
  for (let at = 0; at < length;) {
    const code = content[at] ?? 0
    if (code === 0x20 || code === 0x09) {
      to[end++] = code
      at++
      continue
    }
    if (code === equalsSign) {
      const value = hexPair(content[at + 1], content[at + 2])
      const next = value >= 0 ? at + 3 : softBreakEnd(content, at + 1)
      if (value >= 0) to[end++] = value
      else if (next < 0) at = literalEnd(content, at, to, end++)
      if (next >= 0) at = next
    } else {
      if (code === carriageReturn || code === lineFeed) end = solid
      to[end++] = code
      at++
    }
    solid = end
  }
  return scratch.subarray(0, solid)
}

/** Where the line after a soft line break begins; -1 if there is none. */
function softBreakEnd(content: Buffer, from: number): number {
  let at = from
  while (content[at] === 0x20 || content[at] === 0x09) at++
  const code = content[at]
  if (code === carriageReturn) return content[at + 1] === lineFeed ? at + 2 : at + 1
  return code === undefined || code === lineFeed ? Math.min(at + 1, content.length) : -1
}

/**
 * Writes the byte of an `=` that is neither of RFC 2045's uses, and returns where the next begins:
 * a soft line break may have been put between its two digits.
 */
function literalEnd(content: Buffer, at: number, to: Buffer, end: number): number {
  const next = content[at + 2] === equalsSign ? softBreakEnd(content, at + 3) : -1
  const value = next < 0 ? -1 : hexPair(content[at + 1], content[next])
  to[end] = value < 0 ? equalsSign : value
  return value < 0 ? at + 1 : next + 1
}

const digitValues = new Int8Array(256).fill(-1)
for (const [value, digit] of [...'0123456789ABCDEF'].entries()) {
  digitValues[digit.charCodeAt(0)] = value
  digitValues[digit.toLowerCase().charCodeAt(0)] = value
}

/** The value of two hexadecimal digits, or -1. */
export function hexPair(high: number | undefined, low: number | undefined): number {
  if (high === undefined || low === undefined) return -1
  const [first = -1, second = -1] = [digitValues[high], digitValues[low]]
  return first < 0 || second < 0 ? -1 : first * 16 + second
}

/** Removes spaces and tabs at the end of a text; no other byte counts as white space. */
export function trimBlanks(text: string): string {
  let end = text.length
  while (end > 0 && (text[end - 1] === ' ' || text[end - 1] === '\t')) end -= 1
  return text.slice(0, end)
}

/** Maximum number of characters in a line, including the `=` of a soft line break. */
const ROW_MAX = 76
const plainRun = /[\t\x20-\x3c\x3e-\x7e]*/y
/** A line that needs no encoding: it has no character to quote and does not end in a blank. */
const isPlainLine = /^(?:[\t\x20-\x3c\x3e-\x7e]*[\x21-\x3c\x3e-\x7e])?$/

function encodeQuotedPrintable(bytes: string): string {
  return bytes.split('\r\n').map(encodeLine).join('\r\n')
}

function encodeLine(line: string): string {
  if (line.length <= ROW_MAX && isPlainLine.test(line)) return line
  const last = line.length - 1
  let done = ''
  let row = ''
  const makeRoom = (length: number, room: number) => {
    if (row.length + length <= room) return
    done += `${row}=\r\n`
    row = ''
  }
  for (let at = 0; at < last;) {
    const end = Math.min(plainEnd(line, at), last)
    while (at < end) {
      makeRoom(1, ROW_MAX - 1)
      const taken = line.slice(at, Math.min(end, at + ROW_MAX - 1 - row.length))
      row += taken
      at += taken.length
    }
    if (at === last) break
    makeRoom(3, ROW_MAX - 1)
    row += quoted(line.charCodeAt(at), false)
    at += 1
  }
  const piece = quoted(line.charCodeAt(last), true)
  makeRoom(piece.length, ROW_MAX)
  return done + row + piece
}

/** Returns the end of the run of characters that starts at `at` and needs no quoting. */
function plainEnd(line: string, at: number): number {
  plainRun.lastIndex = at
  plainRun.test(line)
  return plainRun.lastIndex
}

const quotedBytes = Array.from({ length: 256 }, (_, byte) => {
  return `=${byte.toString(16).toUpperCase().padStart(2, '0')}`
})

function quoted(code: number, isLast: boolean): string {
  const isBlank = code === 0x20 || code === 0x09
  const isPlain = (code > 0x20 && code < 0x7f && code !== 0x3d) || (isBlank && !isLast)
  if (isPlain) return String.fromCharCode(code)
  return quotedBytes[code] ?? ''
}
