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

/** Decodes text in a transfer encoding to bytes, as leniently as mail readers do. Never throws. */
export function decodeTransfer(text: string, encoding: 'base64' | 'quoted-printable'): string {
  return encoding === 'base64' ? decodeBase64(text) : decodeQuotedPrintable(text)
}

/** Encodes bytes in lines of at most 76 characters that end in CRLF. */
export function encodeTransfer(bytes: string, encoding: 'base64' | 'quoted-printable'): string {
  return encoding === 'base64' ? encodeBase64(bytes) : encodeQuotedPrintable(bytes)
}

function decodeBase64(text: string): string {
  // Readers continue after padding in the middle, so each padded section is decoded separately.
  const stretches = text.replace(/[^A-Za-z0-9+/=]/g, '').match(/[^=]+/g) ?? []
  return stretches.map((stretch) => Buffer.from(stretch, 'base64').toString('latin1')).join('')
}

function encodeBase64(bytes: string): string {
  const lines =
    Buffer.from(bytes, 'latin1')
      .toString('base64')
      .match(/.{1,76}/g) ?? []
  return lines.map((line) => `${line}\r\n`).join('')
}

function decodeQuotedPrintable(text: string): string {
  const joined = trimLineEnds(text).replace(/=\r?\n/g, '')
  return unquoted(joined.endsWith('=') ? joined.slice(0, -1) : joined)
}

function unquoted(text: string): string {
  let at = text.indexOf('=')
  if (at < 0) return text
  const bytes = Buffer.from(text, 'latin1')
  let end = at
  while (at < bytes.length) {
    const byte = bytes[at] ?? 0
    const value = byte === 0x3d ? hexValue(bytes[at + 1], bytes[at + 2]) : -1
    bytes[end++] = value < 0 ? byte : value
    at += value < 0 ? 1 : 3
  }
  return bytes.toString('latin1', 0, end)
}

const digitValues = new Int8Array(256).fill(-1)
for (const [value, digit] of [...'0123456789ABCDEF'].entries()) {
  digitValues[digit.charCodeAt(0)] = value
  digitValues[digit.toLowerCase().charCodeAt(0)] = value
}

/** The value of two hexadecimal digits, or -1. */
function hexValue(high: number | undefined, low: number | undefined): number {
  if (high === undefined || low === undefined) return -1
  const [first = -1, second = -1] = [digitValues[high], digitValues[low]]
  return first < 0 || second < 0 ? -1 : first * 16 + second
}

/** Removes white space at line ends, which was added in transit (RFC 2045 §6.7 rule 3). */
function trimLineEnds(text: string): string {
  if (!/[ \t]\r?\n/.test(text)) return text
  return text
    .split('\n')
    .map((line) => (line.endsWith('\r') ? `${trimBlanks(line.slice(0, -1))}\r` : trimBlanks(line)))
    .join('\n')
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
