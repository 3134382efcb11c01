import { decodeCharset } from './charset.ts'

/**
 * Decodes a header value for display: RFC 2047 encoded words are decoded, raw UTF-8 (RFC 6532) is
 * read as UTF-8, other 8-bit bytes as Windows-1252. `value` is a Latin-1 view of the bytes. Leaves
 * text unchanged that cannot be decoded. Linear; never throws.
 */
export function decodeHeaderText(value: string): string {
  if (!value.includes('=?')) return decodeBytes(value)
  const pieces: string[] = []
  const endFrom = createForwardSearch(value, '?=')
  let pending: { charset: string; bytes: Buffer[] } | undefined
  let at = 0
  const flush = () => {
    if (pending) pieces.push(decodeCharset(Buffer.concat(pending.bytes), pending.charset))
    pending = undefined
  }
  while (at < value.length) {
    const word = wordAt(value, at, endFrom)
    const start = word?.start ?? value.length
    const between = value.slice(at, start)
    if (pending === undefined || between.trim() !== '') {
      flush()
      pieces.push(decodeBytes(between))
    }
    if (!word) break
    if (pending?.charset !== word.charset) flush()
    pending ??= { charset: word.charset, bytes: [] }
    pending.bytes.push(word.bytes)
    at = word.end
  }
  flush()
  return pieces.join('')
}

type Word = { start: number; end: number; charset: string; bytes: Buffer }

const wordCharsMax = 2000

/** Finds the next encoded word (RFC 2047 §2); also accepts one longer than 75 characters. */
function wordAt(value: string, from: number, endFrom: ForwardSearch): Word | undefined {
  let start = value.indexOf('=?', from)
  while (start >= 0) {
    const word = readWord(value, start, endFrom)
    if (word) return word
    start = value.indexOf('=?', start + 2)
  }
  return undefined
}

function readWord(value: string, start: number, endFrom: ForwardSearch): Word | undefined {
  const beginning = value.slice(start, start + 60)
  const charsetEnd = beginning.indexOf('?', 2)
  if (charsetEnd < 3 || value[start + charsetEnd + 2] !== '?') return undefined
  const encoding = (value[start + charsetEnd + 1] ?? '').toLowerCase()
  if (encoding !== 'b' && encoding !== 'q') return undefined
  const textStart = start + charsetEnd + 3
  const end = endFrom(textStart)
  if (end < 0 || end + 2 - start > wordCharsMax) return undefined
  const text = value.slice(textStart, end)
  const charset = (beginning.slice(2, charsetEnd).split('*')[0] ?? '').toLowerCase()
  const bytes = encoding === 'b' ? Buffer.from(text, 'base64') : fromQuoted(text)
  return { start, end: end + 2, charset, bytes }
}

/**
 * Returns where a text occurs next, or -1. Reads the text only once if positions never decrease.
 */
type ForwardSearch = (from: number) => number

function createForwardSearch(text: string, sought: string): ForwardSearch {
  let known: number | undefined
  return (from) => {
    if (known === undefined || (known >= 0 && known < from)) known = text.indexOf(sought, from)
    return known
  }
}

/** Decodes the Q encoding (RFC 2047 §4.2). */
function fromQuoted(text: string): Buffer {
  const spaced = text.replaceAll('_', ' ')
  const plain = spaced.replace(/=([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return Buffer.from(plain, 'latin1')
}

function decodeBytes(latin1: string): string {
  return /[\x80-\xff]/.test(latin1) ? decodeCharset(Buffer.from(latin1, 'latin1'), '') : latin1
}
