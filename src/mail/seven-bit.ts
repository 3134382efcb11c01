import { isUtf8 } from 'node:buffer'
import type { HeaderField } from './header.ts'
import { trimBlanks } from './transfer-encoding.ts'

const runBytesMax = 256
const space = 0x20
const tab = 0x09

/**
 * Shortens runs of spaces and tabs in a body to 256 bytes. No valid line of quoted-printable has a
 * longer one (RFC 2045 §6.7), and the decoder takes time quadratic in the length of a run: 100 KB
 * of spaces would take six seconds. Returns the same buffer when no run is longer. Linear.
 */
export function withShortBlankRuns(body: Buffer): Buffer {
  const pieces: Buffer[] = []
  let kept = 0
  // Every run that is too long covers at least one of the tested positions.
  for (let at = runBytesMax - 1; at < body.length; at += runBytesMax) {
    if (at < kept || !isSpaceOrTab(body[at])) continue
    let start = at
    while (start > kept && isSpaceOrTab(body[start - 1])) start--
    let end = at
    while (isSpaceOrTab(body[end])) end++
    if (end - start <= runBytesMax) continue
    pieces.push(body.subarray(kept, start + runBytesMax))
    kept = end
  }
  if (pieces.length === 0) return body
  return Buffer.concat([...pieces, body.subarray(kept)])
}

function isSpaceOrTab(byte: number | undefined): boolean {
  return byte === space || byte === tab
}

const lineCharsMax = 78
const wordCharsMax = 840
const wordBytesMax = 45

/**
 * Encodes a header value in ASCII: every run of words with 8-bit bytes becomes encoded words
 * (RFC 2047), in UTF-8 if the bytes are valid UTF-8, else as `unknown-8bit` (RFC 1428), which
 * preserves them. Control characters become spaces. `value` is a Latin-1 view of the bytes.
 */
export function composeEncodedWords(value: string): string {
  const clean = value.replace(/[\0-\x08\x0a-\x1f\x7f]+/g, ' ')
  let text = ''
  let run = ''
  for (const token of clean.match(/[ \t]+|[^ \t]+/g) ?? []) {
    if (isEightBit(token) || (run !== '' && isBlank(token))) {
      run += token
    } else {
      text += encodedRun(run) + token
      run = ''
    }
  }
  return text + encodedRun(run)
}

/**
 * Folds a field's value at its own white space, so that unfolding restores it. Lines have at most
 * 78 characters where possible; `startColumn` is the number of characters already on the first
 * line. A word of up to 840 characters is not split: with the longest field name it fits into the
 * 998 characters that RFC 5322 allows.
 */
export function foldText(value: string, startColumn: number): string {
  if (startColumn + value.length <= lineCharsMax) return value
  const lines: string[] = []
  let line = ''
  let column = startColumn
  const words = value.match(/[ \t]+[^ \t]*|[^ \t]+/g) ?? []
  for (const word of words.flatMap(choppedWord)) {
    const isFull =
      column + line.length + word.length > lineCharsMax && line !== '' && isBlank(word.charAt(0))
    if (isFull) {
      lines.push(line)
      line = ''
      column = 0
    }
    line += word
  }
  return [...lines, line].join('\r\n')
}

/** Splits a word that is too long for any line, with a space at each cut. */
function choppedWord(word: string): string[] {
  if (word.length <= wordCharsMax) return [word]
  // Some readers treat a line of blanks alone as the end of the header.
  const pieces = word.replace(/^[ \t]+/, ' ').match(/[^]{1,840}/g) ?? []
  return pieces.map((piece, index) => (index === 0 ? piece : ` ${piece}`))
}

/**
 * The value of a field with its original bytes, unfolded and otherwise unchanged (RFC 5322 §2.2.3).
 */
export function unfoldField({ raw }: HeaderField): string {
  const value = raw.slice(raw.indexOf(':') + 1).replace(/\r?\n/g, '')
  return trimBlanks(value.replace(/^[ \t]+/, ''))
}

// In a Latin-1 view of UTF-8, the byte of a no-break space may be half a letter, so only space and
// tab count as blank.
function isBlank(text: string): boolean {
  return /^[ \t]+$/.test(text)
}

/** Encodes words with 8-bit bytes and the blanks between them; blanks at the end stay outside. */
function encodedRun(run: string): string {
  if (run === '') return ''
  const core = trimBlanks(run)
  const bytes = Buffer.from(core, 'latin1')
  const words = isUtf8(bytes) ? utf8Words(bytes.toString()) : unknownWords(bytes)
  return words + run.slice(core.length)
}

function isEightBit(text: string): boolean {
  return /[\x80-\xff]/.test(text)
}

/** Encodes text in UTF-8 entirely as encoded words, for a display name (RFC 2047 §5). */
export function utf8Words(text: string): string {
  const words: string[] = []
  let piece = ''
  let bytes = 0
  for (const character of text) {
    const its = Buffer.byteLength(character)
    if (bytes + its > wordBytesMax) {
      words.push(piece)
      piece = ''
      bytes = 0
    }
    piece += character
    bytes += its
  }
  return [...words, piece].map((word) => base64Word('utf-8', Buffer.from(word))).join(' ')
}

function unknownWords(bytes: Buffer): string {
  const words: string[] = []
  for (let at = 0; at < bytes.length; at += wordBytesMax) {
    words.push(base64Word('unknown-8bit', bytes.subarray(at, at + wordBytesMax)))
  }
  return words.join(' ')
}

function base64Word(charset: string, bytes: Buffer): string {
  return `=?${charset}?B?${bytes.toString('base64')}?=`
}
