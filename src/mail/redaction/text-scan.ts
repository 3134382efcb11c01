import { invisibleAt } from '../invisible-characters.ts'
import type { Latin1 } from './latin1.ts'
import { hexDigits } from './prefilter.ts'
import { isLead, markAt, tagsIn } from './text-views.ts'

/**
 * A fast search for texts that certainly contain none of the patterns. It returns true if a text
 * may contain one, which only the exact search can decide.
 */
export type TextScan = {
  /** Whether any view of the text (see `textViews`) may contain a pattern. */
  mayShow(text: Latin1): boolean
}

/** A pattern in lower case. */
export type Pattern = {
  text: string
  /**
   * Whether the text may say what is sought at `start`; only the bytes from `from` on are as
   * written. Undefined bytes are beyond the end.
   */
  mayCount(bytes: Buffer, at: { start: number; end: number; from: number }): boolean
}

/** Characters of a pattern that are compared first near marks; shorter patterns need fewer. */
const GRAM_CHARS = 4
const PLACE_BITS = 13
/** More patterns with the same beginning are not told apart. */
const SAME_MAX = 8
/** The length of `<wbr />`. */
const WBR_CHARS_MAX = 7
/** Bits of a pair of bytes: it may begin a mark; it is in a pattern. */
const LEAD = 1
const SOUGHT = 2

/** The lower case of each byte of a Latin-1 text. */
export const lowerOf = new Uint8Array(256)
/** Set to 1 for each byte that may begin a mark. */
export const mayLead = new Uint8Array(256)
/** `LEAD` at the index of each pair of bytes that may begin a mark, or that needs a closer look. */
const leads = new Uint8Array(1 << 16)
for (let byte = 0; byte < 256; byte++) {
  lowerOf[byte] = String.fromCharCode(byte).toLowerCase().charCodeAt(0)
  for (let next = 0; next < 256; next++) {
    if (byte !== 0x01 && !isLead(String.fromCharCode(byte, next))) continue
    leads[(byte << 8) | next] = LEAD
    mayLead[byte] = 1
  }
}
/** Letters of a gram from the most frequent in mail to the rarest. */
const frequencies = ' etaoinsrhldcumfpgwybvk.jx-q0123456789z_'
const rarity = new Uint8Array(256).fill(frequencies.length)
for (const [rank, letter] of [...frequencies].entries()) rarity[letter.charCodeAt(0)] = rank

/** A pattern as bytes, and where the gram and the pair that are searched for end in it. */
type Sought = {
  bytes: Buffer
  gramEnd: number
  pairEnd: number
  mayCount: Pattern['mayCount']
}

/** Characters that begin marks; a pattern may not contain them. */
const markStarts = /[\0-\x20<>=%&\\]|\+a/

/**
 * Creates a scan for patterns. Reads a text once, with all marks decoded and without tags; the text
 * of tags is read separately. Where the text is as written, looks up each pair of characters: it
 * may begin a mark, or be the rarest pair of a pattern, which is then compared. After a mark or tag
 * compares the last characters with one gram of each pattern, until these are as written again.
 * The views also show marks as written. No pattern contains the beginning of a mark, so such a
 * pattern begins inside the mark, and is compared there. Linear in the text.
 */
export function createTextScan(patterns: readonly Pattern[]): TextScan {
  const shortest = Math.min(...patterns.map(({ text }) => text.length))
  // No useful scan is possible: single letters are everywhere.
  if (shortest < 2 || patterns.some(({ text }) => markStarts.test(text))) {
    return { mayShow: () => true }
  }
  return new Scanner(patterns, Math.min(GRAM_CHARS, shortest))
}

/** The table of all pairs for one scanner at a time: allocating it takes longer than a scan. */
const kinds = new Uint8Array(leads)
let usedIndexes: readonly number[] = []

function useIndexes(indexes: readonly number[]): void {
  if (usedIndexes === indexes) return
  for (const index of usedIndexes) kinds[index] = leads[index] ?? 0
  for (const index of indexes) kinds[index] = (leads[index] ?? 0) | SOUGHT
  usedIndexes = indexes
}

class Scanner implements TextScan {
  private readonly gramChars: number
  private readonly mask: number
  /** Whether a pattern has characters that only an escape can write in a Latin-1 text. */
  private readonly isWide: boolean
  private readonly grams = new Map<number, Sought[]>()
  private readonly places = new Uint8Array(1 << PLACE_BITS)
  private readonly pairs = new Map<number, Sought[]>()
  /** The pairs of the patterns, in all cases. */
  private readonly indexes: number[] = []
  /** The patterns by their first character. */
  private readonly beginnings = new Map<number, Buffer[]>()
  private text = ''
  private bytes: Buffer = Buffer.alloc(0)
  private length = 0
  /** The last characters shown. */
  private held = 0
  /** Where the text begins to be as written, up to the current character. */
  private plainFrom = 0
  /** The number of characters for which grams are compared. */
  private near = 0
  private isFound = false

  constructor(patterns: readonly Pattern[], gramChars: number) {
    this.gramChars = gramChars
    this.mask = gramChars === 4 ? -1 : (1 << (gramChars * 8)) - 1
    this.isWide = patterns.some(({ text }) => /[^\0-\xff]/.test(text))
    for (const { text, mayCount } of patterns) {
      if (/[^\0-\xff]/.test(text)) continue
      const bytes = Buffer.from(text, 'latin1')
      const pairEnd = rarestEnd(bytes, { chars: 2, first: 2, last: bytes.length })
      // A mark that splits the pair also splits the gram, which is found after the mark.
      const gramEnd = rarestEnd(bytes, {
        chars: gramChars,
        first: Math.max(pairEnd, gramChars),
        last: Math.min(pairEnd - 2 + gramChars, bytes.length),
      })
      const sought = { bytes, gramEnd, pairEnd, mayCount }
      const gram = lettersBefore(bytes, gramEnd, gramChars)
      this.places[placeOf(gram)] = 1
      for (const first of casesOf(bytes[0] ?? 0)) add(this.beginnings, first, bytes)
      add(this.grams, gram, sought)
      const pair = lettersBefore(bytes, pairEnd, 2)
      add(this.pairs, pair, sought)
      for (const one of casesOf(pair >> 8)) {
        for (const two of casesOf(pair & 0xff)) {
          this.indexes.push((one << 8) | two)
        }
      }
    }
  }

  mayShow({ text, bytes, length }: Latin1): boolean {
    useIndexes(this.indexes)
    this.text = text
    this.bytes = bytes
    this.length = length
    this.held = 0
    this.plainFrom = 0
    this.near = 0
    this.isFound = false
    let at = 0
    if (text.includes('<')) {
      for (const { start, end } of tagsIn(text)) {
        this.read(at, start)
        const { held } = this
        this.near = 0
        this.plainFrom = start
        this.read(start, end)
        // Its end is a `<wbr>`, which no view shows: its text continues after it.
        if (this.plainFrom === end && end - start > WBR_CHARS_MAX) this.isFound = true
        if (this.isFound) return true
        this.held = held
        at = this.skip(end)
      }
    }
    this.read(at, length)
    return this.isFound
  }

  /** Reads a part of the text that is one tag, or is between two. */
  private read(from: number, to: number): void {
    let at = from
    while (at < to && !this.isFound) {
      if (this.near === 0) at = this.readPlain(at, to)
      if (at >= to || this.isFound) return
      const byte = this.bytes[at] ?? 0
      if (mayLead[byte] === 1 && leads[(byte << 8) | (this.bytes[at + 1] ?? 0)] === LEAD) {
        at = this.readLead(at, byte)
        // No mark crosses the beginning or the end of a tag.
        if (at > to) this.isFound = true
      } else {
        this.show(at, byte)
        at += 1
      }
    }
  }

  /** Reads while the characters are as written; returns where it stops. */
  private readPlain(from: number, to: number): number {
    const { bytes, plainFrom } = this
    // Pairs among the characters before were not looked up, only grams.
    const first = Math.max(plainFrom, from - GRAM_CHARS)
    let before = bytes[first] ?? 0
    let stop = to
    for (let at = first + 1; at <= to; at++) {
      const byte = bytes[at] ?? 0
      const kind = kinds[(before << 8) | byte] ?? 0
      if (kind !== 0) {
        if ((kind & LEAD) !== 0 && at > from && !isLineEnd(bytes, at - 1)) {
          stop = at - 1
          break
        }
        if ((kind & SOUGHT) !== 0 && at < to && this.isPair(at, plainFrom)) this.isFound = true
      }
      before = byte
    }
    let { held } = this
    for (let at = Math.max(from, stop - GRAM_CHARS); at < stop; at++) {
      held = (held << 8) | (lowerOf[bytes[at] ?? 0] ?? 0)
    }
    this.held = held
    return stop
  }

  /** Reads a mark, or a character that begins none; returns where it ends. */
  private readLead(at: number, byte: number): number {
    const { bytes } = this
    const next = bytes[at + 1] ?? 0
    if (byte === 0x0d || byte === 0x0a) {
      const after = byte === 0x0d ? (bytes[at + 2] ?? 0) : next
      if (isBlank(after)) return this.skip(at + (byte === 0x0d ? 3 : 2))
    } else if (byte <= 0x01) {
      // The exact search takes U+0001 for a cut in a name.
      return this.skip(at + 1)
    } else if (byte >= 0x80) {
      const { length, shows } = invisibleAt(this.text, at)
      if (length > 0) {
        if (shows !== '') this.held = 0
        return this.skip(at + length)
      }
    } else if (mayBeMark(bytes, at)) {
      const mark = markAt(this.text, at)
      if (mark) return this.readMark(mark)
    }
    this.show(at, byte)
    return at + 1
  }

  private readMark({ start, end, kind, character }: NonNullable<ReturnType<typeof markAt>>) {
    if (kind !== 'filler' && this.beginsInMark(start, end)) this.isFound = true
    for (let at = 0; at < character.length; at++) {
      this.held = (this.held << 8) | this.codeAt(character, at)
      if (this.isGram(this.held)) this.isFound = true
    }
    return this.skip(end)
  }

  /** Whether a pattern may begin inside a mark as written. */
  private beginsInMark(start: number, end: number): boolean {
    for (let at = start + 1; at < end; at++) {
      const beginning = this.beginnings.get(this.bytes[at] ?? 0)
      if (beginning?.some((pattern) => this.continuesAt(pattern, at, end)) === true) return true
    }
    return false
  }

  /** Whether the text at `start` is the pattern, perhaps with marks from `markEnd` on. */
  private continuesAt(pattern: Buffer, start: number, markEnd: number): boolean {
    for (let at = 0; at < pattern.length; at++) {
      const place = start + at
      if (place >= this.length) return false
      const byte = this.bytes[place] ?? 0
      if (place >= markEnd && mayLead[byte] === 1) return true
      if (lowerOf[byte] !== pattern[at]) return false
    }
    return true
  }

  /** Continues after a mark or tag; a pattern may continue across it if no blank is before. */
  private skip(end: number): number {
    this.plainFrom = end
    this.near = (this.held & 0xff) > 0x20 ? this.gramChars - 1 : 0
    return end
  }

  /** Shows a character that is as written. */
  private show(at: number, byte: number): void {
    this.held = (this.held << 8) | (lowerOf[byte] ?? 0)
    // No pattern contains a blank.
    if (byte <= 0x20) this.near = 0
    else if (this.near > 0) this.near -= 1
    if (this.isGramAt(this.held, at)) this.isFound = true
  }

  /** Returns the lower case of a character as a byte; 0 if it has none. */
  private codeAt(character: string, at: number): number {
    const code = character.charCodeAt(at)
    if (code < 0x100) return lowerOf[code] ?? 0
    const lower = String.fromCharCode(code).toLowerCase()
    if (lower.length === 1 && lower < '\u0100') return lower.charCodeAt(0)
    if (this.isWide) this.isFound = true
    return 0
  }

  private isGram(held: number): boolean {
    const gram = held & this.mask
    return this.places[placeOf(gram)] === 1 && this.grams.has(gram)
  }

  /** Whether a gram whose last character is at `at` may be a part of a pattern. */
  private isGramAt(held: number, at: number): boolean {
    const gram = held & this.mask
    if (this.places[placeOf(gram)] !== 1) return false
    const sought = this.grams.get(gram)
    if (sought === undefined) return false
    if (sought.length > SAME_MAX) return true
    return sought.some((one) => this.isAt(one, { at, end: one.gramEnd, from: this.plainFrom }))
  }

  /** Whether the pair whose last character is at `at` is a part of a pattern. */
  private isPair(at: number, from: number): boolean {
    const pair =
      ((lowerOf[this.bytes[at - 1] ?? 0] ?? 0) << 8) | (lowerOf[this.bytes[at] ?? 0] ?? 0)
    const sought = this.pairs.get(pair)
    if (sought === undefined) return false
    if (sought.length > SAME_MAX) return true
    return sought.some((one) => this.isAt(one, { at, end: one.pairEnd, from }))
  }

  /**
   * Whether a pattern may be here, of which the character before `end` is at `at`. Only the
   * characters from `from` on are known to be as written.
   */
  private isAt(
    { bytes, gramEnd, mayCount }: Sought,
    { at, end, from }: { at: number; end: number; from: number },
  ): boolean {
    const start = at + 1 - end
    for (let before = at - 1; before >= start && before >= from; before--) {
      if (lowerOf[this.bytes[before] ?? 0] !== bytes[before - start]) return false
    }
    for (let after = end; after < bytes.length; after++) {
      if (start + after >= this.length) return false
      const byte = this.bytes[start + after] ?? 0
      // A mark inside the gram is followed by the rest of the gram, which is compared there.
      if (mayLead[byte] === 1 && after >= gramEnd) return true
      if (lowerOf[byte] !== bytes[after]) return false
    }
    // The same if a mark is before the end of the gram.
    if (start + gramEnd - this.gramChars < from && end !== gramEnd) return false
    return start < from || mayCount(this.bytes, { start, end: start + bytes.length, from })
  }
}

/** Whether a line ends at a position, and no fold follows. */
export function isLineEnd(bytes: Buffer, at: number): boolean {
  return bytes[at] === 0x0d && bytes[at + 1] === 0x0a && !isBlank(bytes[at + 2])
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09
}

function add<T>(map: Map<number, T[]>, key: number, sought: T): void {
  const same = map.get(key)
  if (same) same.push(sought)
  else map.set(key, [sought])
}

/** Returns the bytes whose lower case is the given one. */
function casesOf(lower: number): number[] {
  return lowerOf[lower - 0x20] === lower ? [lower, lower - 0x20] : [lower]
}

/** Returns the last characters before a position as one number. */
function lettersBefore(bytes: Buffer, end: number, chars: number): number {
  let letters = 0
  for (let at = end - chars; at < end; at++) letters = (letters << 8) | (bytes[at] ?? 0)
  return letters
}

function placeOf(gram: number): number {
  return Math.imul(gram, 0x9e3779b1) >>> (32 - PLACE_BITS)
}

/** Returns the end, from `first` to `last`, of the characters of a pattern that are the rarest. */
function rarestEnd(
  bytes: Buffer,
  { chars, first, last }: { chars: number; first: number; last: number },
): number {
  let best = first
  let rarest = -1
  for (let end = first; end <= last; end++) {
    let sum = 0
    for (let at = end - chars; at < end; at++) sum += rarity[bytes[at] ?? 0] ?? 0
    if (sum > rarest) {
      rarest = sum
      best = end
    }
  }
  return best
}

/** Whether a mark may begin at a lead: most signs in links begin none. */
function mayBeMark(bytes: Buffer, at: number): boolean {
  const byte = bytes[at] ?? 0
  const next = bytes[at + 1] ?? 0
  if (byte === 0x26) return mayBeReference(bytes, at + 1)
  if (byte !== 0x3d && byte !== 0x25) return true
  return isHex(next) ? isHex(bytes[at + 2] ?? 0) : byte === 0x3d
}

function isHex(byte: number): boolean {
  return hexDigits[byte] === 1
}

/** Whether an HTML character reference may follow an ampersand; most in links do not. */
function mayBeReference(bytes: Buffer, from: number): boolean {
  if (bytes[from] === 0x23) return true
  const isTwice =
    bytes[from + 3] === 0x3b &&
    lowerOf[bytes[from] ?? 0] === 0x61 &&
    lowerOf[bytes[from + 1] ?? 0] === 0x6d &&
    lowerOf[bytes[from + 2] ?? 0] === 0x70
  // `&amp;` alone is no mark.
  const start = isTwice ? from + 4 : from
  if (isTwice && bytes[start] === 0x23) return true
  let at = start
  while (isLetter(bytes[at] ?? 0)) at++
  if (at - start >= 4 && isSpace(bytes, start)) return true
  while (isDigit(bytes[at] ?? 0)) at++
  return bytes[at] === 0x3b
}

/** Whether `nbsp` begins here, which needs no semicolon. */
function isSpace(bytes: Buffer, at: number): boolean {
  return (
    lowerOf[bytes[at] ?? 0] === 0x6e &&
    lowerOf[bytes[at + 1] ?? 0] === 0x62 &&
    lowerOf[bytes[at + 2] ?? 0] === 0x73 &&
    lowerOf[bytes[at + 3] ?? 0] === 0x70
  )
}

function isLetter(byte: number): boolean {
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x7a
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39
}
