import { remembered } from '../../mail/text.ts'
import {
  endsChunk,
  isBlankInLine,
  isIdeograph,
  isInner,
  isLetter,
  isSmall,
  isUpperOrDigit,
  isWordCode,
  plainWord,
} from './plain-word.ts'

/**
 * Minimum number of spaced single letters that are joined to a word. Shorter runs are initials or
 * enumerations.
 */
const gappedLettersMin = 4
/** Maximum number of words on a line. */
export const lineWordsMax = 4000
/** Maximum length of a word in UTF-16 units. */
export const wordCharsMax = 100

/** A sequence of words separated by blanks, in reusable memory. */
class WordLine {
  /** The UTF-16 units of the words; a new word is written at `nextStart`. */
  readonly units = new Uint16Array((lineWordsMax + 1) * (wordCharsMax + 1))
  readonly #bytes = Buffer.from(this.units.buffer)
  readonly #narrow = Buffer.alloc(this.units.length)
  readonly #ends = new Int32Array(lineWordsMax + 1)
  readonly #hashes = new Int32Array(lineWordsMax + 1)
  count = 0
  #length = 0
  /** Number of consecutive single letters at the end. */
  #gapped = 0
  #isAscii = true

  clear(): void {
    this.count = 0
    this.#length = 0
    this.#gapped = 0
    this.#isAscii = true
  }

  text(): string {
    const length = this.#length
    if (!this.#isAscii) return this.#bytes.toString('utf16le', 0, length * 2)
    this.#narrow.set(this.units.subarray(0, length))
    return this.#narrow.toString('latin1', 0, length)
  }

  /** Returns the end of each word on the line. */
  ends(): Int32Array {
    return this.#ends.slice(0, this.count)
  }

  hashes(): Int32Array {
    return this.#hashes.slice(0, this.count)
  }

  /** Returns the position for the next word. */
  nextStart(): number {
    if (this.count === 0) return 0
    this.units[this.#length] = 0x20
    return this.#length + 1
  }

  add(word: string): void {
    const start = this.nextStart()
    let hash = hashBasis
    for (let at = 0; at < word.length; at++) {
      const code = word.charCodeAt(at)
      if (code > 0x7f) this.#isAscii = false
      this.units[start + at] = code
      hash = hashStep(hash, code)
    }
    this.keep(start, start + word.length, hash)
  }

  /**
   * Adds the ASCII word that was written to `units` from `start` to `end`. Skips a word `0` that
   * follows a word `0`. `hash` is computed with `hashStep`.
   */
  keep(start: number, end: number, hash: number): void {
    if (end === start) return
    const only = end - start === 1 ? (this.units[start] ?? 0) : 0
    if (only === 0x30 && this.#endsInZero()) return
    if (only >= 0x61 && only <= 0x7a) this.#gapped++
    else if (this.#gapped > 0) {
      this.joinGapped()
      const moved = this.nextStart()
      this.units.copyWithin(moved, start, end)
      this.#push(moved + end - start, hash)
      return
    }
    this.#push(end, hash)
  }

  /** Joins the single letters at the end to one word, if there are enough of them. */
  joinGapped(): void {
    const letters = this.#gapped
    this.#gapped = 0
    if (letters < gappedLettersMin) return
    this.count -= letters
    const start = this.#startOf(this.count)
    let hash = hashBasis
    for (let letter = 0; letter < letters; letter++) {
      const code = this.units[start + letter * 2] ?? 0
      this.units[start + letter] = code
      hash = hashStep(hash, code)
    }
    this.#push(start + letters, hash)
  }

  #push(end: number, hash: number): void {
    this.#ends[this.count] = end
    this.#hashes[this.count] = finished(hash)
    this.count++
    this.#length = end
  }

  #startOf(word: number): number {
    return word === 0 ? 0 : (this.#ends[word - 1] ?? 0) + 1
  }

  #endsInZero(): boolean {
    const last = this.#length - 1
    return this.count > 0 && this.units[last] === 0x30 && this.#startOf(this.count - 1) === last
  }
}

/** Initial value of the hash of a word (FNV-1a). */
const hashBasis = 0x811c9dc5

/** Returns the hash extended by one UTF-16 unit. */
function hashStep(hash: number, unit: number): number {
  return Math.imul(hash ^ unit, 0x01000193)
}

/** Applies the finalizer of MurmurHash3, which distributes entropy over all bits. */
function finished(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35)
  return twice ^ (twice >>> 16)
}

/** The hash of the word `0`, which replaces every number. */
export const NUMBER_HASH = finished(hashStep(hashBasis, 0x30))

/** The normalized words of a text, with the ends of sentences and paragraphs. */
export type PlainText = {
  /** The words separated by blanks. */
  line: string
  wordEnds: Int32Array
  /**
   * A hash of each word: FNV-1a over its UTF-16 units, with the finalizer of MurmurHash3. Values
   * derived from it are stored for weeks, so it must not change.
   */
  hashes: Int32Array
  /** Index after the last word of each sentence; the last sentence may be missing. */
  sentenceEnds: number[]
  /** Index after the last word of each paragraph; the last paragraph may be missing. */
  paragraphEnds: number[]
}

/** Maximum length of a text in UTF-16 units. Decomposed Hangul takes three times its length. */
const unitsMax = 3 * 64 * 1024
/** Maximum length of a chunk that is searched for signs of a mail or web address. */
const addressCharsMax = 300

/** Bits for the kinds of characters in the current word. */
const LETTERS = 1
const DIGITS = 2
const APOSTROPHES = 4
/** Characters that require `plainWord`. */
const OTHERS = 8

/**
 * Scans a text once, unit by unit. One instance is shared by all texts to reuse its memory, so
 * results are copies.
 */
class WordScanner {
  readonly #units = new Uint16Array(unitsMax + 2)
  readonly #bytes = Buffer.from(this.#units.buffer)
  readonly #line = new WordLine()
  #sentenceEnds: number[] = []
  #paragraphEnds: number[] = []
  #text = ''
  /** Start of the current word in the text, or -1. */
  #start = -1
  #made = 0

  /** Returns at most `wordsMax` words of a text, which must be without invisible characters. */
  plainText(text: string, wordsMax: number): PlainText {
    this.#scan(text, wordsMax)
    return {
      line: this.#line.text(),
      wordEnds: this.#line.ends(),
      hashes: this.#line.hashes(),
      sentenceEnds: this.#sentenceEnds,
      paragraphEnds: this.#paragraphEnds,
    }
  }

  /** Returns the words of `plainText` as one line, without their positions and hashes. */
  plainLine(text: string, wordsMax: number): string {
    this.#scan(text, wordsMax)
    return this.#line.text()
  }

  #scan(text: string, wordsMax: number): void {
    const units = this.#units
    const length = Math.min(text.length, unitsMax)
    const most = Math.min(wordsMax, lineWordsMax)
    this.#begin(text, length)
    let at = 0
    while (at < length && this.#line.count < most) {
      const code = units[at] ?? 0
      if (isSmall(code)) at = this.#smallLetters(at)
      else if (code === 0x20) {
        if (this.#start >= 0) this.#endWord(at)
        at++
      } else if (isUpperOrDigit(code)) {
        if (this.#start < 0) this.#start = at
        this.#made |= code <= 0x39 ? DIGITS : LETTERS
        at++
      } else at = code > 0x7f ? this.#beyondAscii(at) : this.#sign(code, at)
    }
    this.#endWord(length)
    this.#line.joinGapped()
  }

  #begin(text: string, length: number): void {
    this.#bytes.write(text, 0, 'utf16le')
    // Ends the text with sentinels.
    this.#units[length] = 0
    this.#units[length + 1] = 0
    this.#text = text
    this.#line.clear()
    this.#sentenceEnds = []
    this.#paragraphEnds = []
    this.#start = -1
    this.#made = 0
  }

  /** Fast path: most words are lower-case ASCII letters followed by a blank. */
  #smallLetters(from: number): number {
    const units = this.#units
    const line = this.#line
    let at = from
    let code = units[at] ?? 0
    if (this.#start >= 0) {
      while (isSmall(code)) code = units[++at] ?? 0
      this.#made |= LETTERS
      return at
    }
    const start = line.nextStart()
    let end = start
    let hash = hashBasis
    while (isSmall(code)) {
      line.units[end++] = code
      hash = hashStep(hash, code)
      code = units[++at] ?? 0
    }
    if (code === 0x20 && at - from <= wordCharsMax) {
      line.keep(start, end, hash)
      return at + 1
    }
    this.#start = from
    this.#made = LETTERS
    return at
  }

  #sign(code: number, at: number): number {
    const units = this.#units
    const next = units[at + 1] ?? 0
    if (this.#start >= 0) {
      if (code === 0x3a && next === 0x2f && units[at + 2] === 0x2f) return this.#skipChunk(at)
      if (code === 0x40 && this.#isAddress(at)) return this.#skipChunk(at)
      if (code === 0x2e && at - this.#start === 3 && this.#isWww()) return this.#skipChunk(at)
      if (isInner(code) && (isWordCode(next) || next > 0x7f || next === 0x24)) {
        this.#made |= code === 0x27 ? APOSTROPHES : OTHERS
        return at + 1
      }
      this.#endWord(at)
    }
    if (code === 0x0a) this.#lineEnd(at)
    else if ((code === 0x2e || code === 0x21 || code === 0x3f) && next <= 0x20) this.#endSentence()
    return at + 1
  }

  #beyondAscii(at: number): number {
    const first = this.#units[at] ?? 0
    const code = first >= 0xd800 && first < 0xdc00 ? (this.#text.codePointAt(at) ?? 0) : first
    const width = code > 0xffff ? 2 : 1
    if (isIdeograph(code)) {
      this.#endWord(at)
      this.#line.add(this.#text.slice(at, at + width))
    } else if (this.#start >= 0 && code === 0x2019) this.#made |= APOSTROPHES
    else if (isLetter(code)) {
      if (this.#start < 0) this.#start = at
      this.#made |= OTHERS
    } else {
      this.#endWord(at)
      if (code === 0x3002 || code === 0x2026) this.#endSentence()
    }
    return at + width
  }

  #endWord(end: number): void {
    const start = this.#start
    if (start < 0) return
    const made = this.#made
    const last = Math.min(end, start + wordCharsMax)
    this.#start = -1
    this.#made = 0
    if (made === DIGITS) this.#line.add('0')
    else if ((made & (DIGITS | OTHERS)) === 0) this.#keepLetters(start, last)
    else this.#line.add(plainWord(this.#text.slice(start, last)))
  }

  /** Fast path for Latin letters and apostrophes; same result as `plainWord`. */
  #keepLetters(from: number, to: number): void {
    const units = this.#units
    const line = this.#line
    const start = line.nextStart()
    let end = start
    let hash = hashBasis
    for (let at = from; at < to; at++) {
      let code = units[at] ?? 0
      if (code === 0x27 || code === 0x2019) continue
      if (code < 0x61) {
        const isL = code === 0x49 && at === to - 1 && at > from && isSmall(units[at - 1] ?? 0)
        code = isL ? 0x6c : code + 0x20
      }
      line.units[end++] = code
      hash = hashStep(hash, code)
    }
    line.keep(start, end, hash)
  }

  #skipChunk(from: number): number {
    let at = from
    while (!endsChunk(this.#units[at] ?? 0)) at++
    this.#start = -1
    this.#made = 0
    return at
  }

  #lineEnd(at: number): void {
    let next = at + 1
    while (isBlankInLine(this.#units[next] ?? 0)) next++
    if (this.#units[next] !== 0x0a) return
    this.#endSentence()
    const ends = this.#paragraphEnds
    if (this.#line.count > (ends.at(-1) ?? 0)) ends.push(this.#line.count)
  }

  #endSentence(): void {
    this.#line.joinGapped()
    const ends = this.#sentenceEnds
    if (this.#line.count > (ends.at(-1) ?? 0)) ends.push(this.#line.count)
  }

  /** Whether an `@` is part of a mail address: a dot follows before the chunk ends. */
  #isAddress(at: number): boolean {
    const units = this.#units
    for (let next = at + 1; next < at + addressCharsMax; next++) {
      const code = units[next] ?? 0
      if (endsChunk(code)) return false
      if (code === 0x2e) return isWordCode(units[next + 1] ?? 0)
    }
    return false
  }

  #isWww(): boolean {
    const [one = 0, two = 0, three = 0] = this.#units.subarray(this.#start, this.#start + 3)
    return (one | 0x20) === 0x77 && (two | 0x20) === 0x77 && (three | 0x20) === 0x77
  }
}

/**
 * Returns the words of a text as a person reads them: compatibility forms, widths and case folded;
 * accents and invisible characters removed; look-alikes and leetspeak replaced (`plainWord`); every
 * run of numbers one `0`; spaced letters (`V I A G R A`) joined; web and mail addresses removed.
 * Each Chinese or Japanese character is a word. At most `wordsMax` words; linear time. `text` must
 * be without invisible characters.
 */
export function wordsOf(text: string, wordsMax: number): PlainText {
  return scanner.plainText(text, wordsMax)
}

/** Returns the words from index `from` to before `to`, separated by blanks. */
export function wordsBetween({ line, wordEnds }: PlainText, from: number, to: number): string {
  const start = from === 0 ? 0 : (wordEnds[from - 1] ?? 0) + 1
  return line.slice(start, wordEnds[to - 1] ?? 0)
}

/** Returns the words of a text as one line, separated by blanks. */
export function plainLine(text: string, wordsMax = 100, charsMax = 1000): string {
  return scanner.plainLine(withoutMarks(text.slice(0, charsMax)), wordsMax)
}

const scanner = new WordScanner()

/** Invisible characters, including variation selectors and direction marks. */
const invisibleOnes = [
  '\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e',
  '\\u2060-\\u206f\\u2800\\u3164\\ufe00-\\ufe0f\\ufeff\\ufff9-\\ufffb\\u{e0000}-\\u{e0fff}',
].join('')
const accents = '\\u0300-\\u036f\\u1ab0-\\u1aff\\u1dc0-\\u1dff\\u20d0-\\u20ff\\ufe20-\\ufe2f'
const invisible = new RegExp(`[${invisibleOnes}]+`, 'gu')
const marks = new RegExp(`[${invisibleOnes}${accents}]+`, 'gu')

/** Folds compatibility forms, and removes accents and invisible characters. */
export function withoutMarks(text: string): string {
  const foreign = foreignUnits(text)
  if (foreign === 0) return text
  if (foreign > text.length / 8) return decomposed(withoutHeaps(text))
  const hasHeaps = text.length >= heapCharsMin
  return text.replace(foreignRun, (run) =>
    hasHeaps && run.length > 30 ? decomposed(run.replace(heaps, '$1')) : decomposedRun(run),
  )
}

/** Removes invisible characters but keeps accents, which distinguish host names. */
export function withoutInvisible(text: string): string {
  const isAscii = foreignUnits(text) === 0
  return isAscii ? text : withoutHeaps(text).normalize('NFKC').replace(invisible, '')
}

function decomposed(text: string): string {
  return text.normalize('NFKD').replace(marks, '')
}

/**
 * Characters beyond ASCII. Most texts have few. When a text is decomposed, an ASCII character
 * neither changes nor combines with others (UAX #15), so each run is decomposed alone.
 */
const foreignRun = /[^\0-\x7f]+/g
const decomposedRun = remembered(decomposed, { max: 500, charsMax: 4 })

/**
 * Minimum length of a text whose combining marks are limited. Normalization sorts the marks of one
 * letter in quadratic time: a second for 64 KB.
 */
const heapCharsMin = 1000
/**
 * Maximum number of combining marks per letter; no language uses more (UAX #15 §13, Stream-Safe
 * Text Format).
 */
const heaps = /(\p{M}{30})\p{M}+/gu

function withoutHeaps(text: string): string {
  return text.length < heapCharsMin ? text : text.replace(heaps, '$1')
}

/**
 * The number of additional bytes in UTF-8: 0 for ASCII. Far faster than a regular expression.
 */
function foreignUnits(text: string): number {
  return Buffer.byteLength(text) - text.length
}
