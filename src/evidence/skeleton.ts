import { decodeHTML } from 'entities/decode'
import { isHexDigit } from '../mail/ip.ts'
import { closeLookAlikes, looseLookAlikes } from '../pieces/disguise/plain-word.ts'

/**
 * A text as a reader spells it: only its letters and digits, in lower case, without accents, look-
 * alikes as Latin letters, escapes decoded. Valid until the next one is made, because all share
 * their memory: only the first `length` elements of each array are those of this text.
 */
export type Skeleton = {
  length: number
  /** The UTF-16 units. */
  units: Uint16Array
  /** The places of each unit in the original text. */
  starts: Int32Array
  ends: Int32Array
  /** 1 for each unit that is a capital in the original text. */
  capitals: Uint8Array
}

/**
 * Returns the skeleton of a text. Decodes percent-encoding, also twice, character references,
 * `\u0061`, `\x61`, and `=61` unless `keepsEquals`; a backspace removes the character before it.
 * Linear time.
 */
export function skeletonOf(text: string, keepsEquals = false): Skeleton {
  const chars = text.length
  reserve(chars)
  length = 0
  let at = 0
  while (at < chars) {
    const code = text.charCodeAt(at)
    if (code < 0x80) {
      const plain = ascii[code] ?? 0
      if (plain > 1) {
        put(plain, at, at + 1, code !== plain)
        at++
      } else
        at = plain === 0 || (keepsEquals && code === 0x3d) ? at + 1 : readEscape(text, at, code)
      continue
    }
    const bytes = code >= 0xc3 && code <= 0xf4 ? utf8Length(text, at) : 0
    const point = bytes > 0 ? pointIn(text, at, bytes) : (text.codePointAt(at) ?? code)
    const end = at + (bytes > 0 ? bytes : point > 0xffff ? 2 : 1)
    putFolded(point, at, end)
    at = end
  }
  return { length, units, starts, ends, capitals }
}

/** The number of characters at a position that are the bytes of one character in UTF-8, or 0. */
function utf8Length(text: string, at: number): number {
  const first = text.charCodeAt(at)
  const bytes = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
  for (let next = at + 1; next < at + bytes; next++) {
    const code = text.charCodeAt(next)
    if (!(code >= 0x80 && code <= 0xbf)) return 0
  }
  return bytes
}

function pointIn(text: string, at: number, bytes: number): number {
  return (
    Buffer.from(text.slice(at, at + bytes), 'latin1')
      .toString()
      .codePointAt(0) ?? 0
  )
}

/** Returns the skeleton of a text alone. */
export function plainOf(text: string): string {
  if (/^[a-z\d]*$/.test(text)) return text
  if (/^[\w.@ +'-]*$/.test(text)) return text.toLowerCase().replace(/[^a-z\d]+/g, '')
  const skeleton = skeletonOf(text)
  return Buffer.from(skeleton.units.buffer, 0, skeleton.length * 2).toString('utf16le')
}

/** For each ASCII character: its lower case, 1 if it may begin an escape, else 0. */
export const ascii = Uint8Array.from({ length: 0x80 }, (_, code) => {
  const character = String.fromCharCode(code)
  if (/[a-z\d]/i.test(character)) return character.toLowerCase().charCodeAt(0)
  return '%&\\=\b'.includes(character) ? 1 : 0
})

// Reused for every text.
let units = new Uint16Array(0)
let starts = new Int32Array(0)
let ends = new Int32Array(0)
let capitals = new Uint8Array(0)
let length = 0
/** A character that stands for several letters has at most this many. */
const EXPANSION_MAX = 4

function reserve(chars: number): void {
  const needed = chars * EXPANSION_MAX
  if (units.length >= needed) return
  units = new Uint16Array(needed)
  starts = new Int32Array(needed)
  ends = new Int32Array(needed)
  capitals = new Uint8Array(needed)
}

function put(unit: number, start: number, end: number, isCapital: boolean): void {
  units[length] = unit
  starts[length] = start
  ends[length] = end
  capitals[length] = Number(isCapital)
  length++
}

function putFolded(point: number, start: number, end: number): void {
  const known = folded.get(point) ?? fold(point)
  for (let at = 0; at < known.plain.length && at < EXPANSION_MAX; at++) {
    put(known.plain.charCodeAt(at), start, end, known.isCapital)
  }
}

type Folded = { plain: string; isCapital: boolean }
const folded = new Map<number, Folded>()
const FOLDED_MAX = 20_000

/** Letters that Unicode does not decompose, as people write them in ASCII. */
const spelled: Readonly<Record<string, string>> = {
  ...{ ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ħ: 'h', ı: 'i', ς: 'o' },
}

/** The Latin letter that a letter looks like as a capital, or else as a small letter. */
function lookAlike(letter: string): string | undefined {
  const [capital, small] = [letter.toUpperCase(), letter.toLowerCase()].map(
    (one) => one.codePointAt(0) ?? 0,
  )
  return (
    closeLookAlikes.get(capital ?? 0) ??
    closeLookAlikes.get(small ?? 0) ??
    looseLookAlikes.get(small ?? 0)
  )
}

/** The letters and digits that a character beyond ASCII stands for; none for a sign. */
function fold(point: number): Folded {
  const character = String.fromCodePoint(point)
  const bare = character.normalize('NFKD').replace(/\p{M}+/gu, '')
  const plain = [...bare]
    .map((one) =>
      /[\0-\x7f]/.test(one) ? one : (spelled[one.toLowerCase()] ?? lookAlike(one) ?? one),
    )
    .join('')
    .replace(/[^\p{L}\p{N}]+/gu, '')
    .toLowerCase()
    .normalize('NFC')
  // Scripts without capitals count as capitals.
  const result = { plain, isCapital: bare.toUpperCase() === bare }
  if (folded.size < FOLDED_MAX) folded.set(point, result)
  return result
}

/** Reads an escape sequence, or the sign that could begin one; returns its end. */
function readEscape(text: string, at: number, code: number): number {
  switch (code) {
    case 0x08:
      if (length > 0) length--
      return at + 1
    case 0x25:
      return text[at + 1] === 'u' ? readHex(text, at, at + 2, 4) : readPercent(text, at)
    case 0x26:
      return readReference(text, at)
    case 0x3d:
      return readHex(text, at, at + 1, 2, /^[\dA-F]{2}$/)
    default: {
      const kind = text[at + 1]
      if (kind === 'u') return readHex(text, at, at + 2, 4)
      return kind === 'x' ? readHex(text, at, at + 2, 2) : at + 1
    }
  }
}

function readHex(text: string, at: number, from: number, digits: number, shape = hexDigits) {
  const hex = text.slice(from, from + digits)
  if (hex.length < digits || !shape.test(hex)) return at + 1
  putText(String.fromCharCode(Number.parseInt(hex, 16)), at, from + digits)
  return from + digits
}

const hexDigits = /^[\da-f]+$/i

/** Decodes a run of percent-encoded bytes (RFC 3986 §2.1), whose signs may be encoded as well. */
function readPercent(text: string, at: number): number {
  const bytes: number[] = []
  const places: number[] = []
  let end = at
  while (text[end] === '%') {
    let from = end + 1
    while (text.startsWith('25', from) && isHexPair(text, from + 2)) from += 2
    if (!isHexPair(text, from)) break
    bytes.push(Number.parseInt(text.slice(from, from + 2), 16))
    places.push(end)
    end = from + 2
  }
  if (bytes.length === 0) return at + 1
  if (bytes.every((byte) => byte < 0x80)) {
    for (const [index, byte] of bytes.entries()) {
      putText(String.fromCharCode(byte), places[index] ?? at, places[index + 1] ?? end)
    }
  } else putText(Buffer.from(bytes).toString(), at, end)
  return end
}

/** Whether two hexadecimal digits are at a position. */
export function isHexPair(text: string, at: number): boolean {
  return isHexDigit(text.charCodeAt(at)) && isHexDigit(text.charCodeAt(at + 1))
}

const reference = /&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z]{2,24}\d{0,2});?/iy

function readReference(text: string, at: number): number {
  reference.lastIndex = at
  const found = reference.exec(text)?.[0]
  const decoded = found === undefined ? undefined : decodeHTML(found)
  if (found === undefined || decoded === undefined || decoded === found) return at + 1
  // `&copy=1` in a link is a parameter.
  if (!found.includes('#') && !found.endsWith(';')) return at + 1
  putText(decoded, at, at + found.length)
  return at + found.length
}

function putText(text: string, start: number, end: number): void {
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0
    if (point >= 0x80) putFolded(point, start, end)
    else {
      const plain = ascii[point] ?? 0
      if (plain > 1) put(plain, start, end, point !== plain)
    }
  }
}
