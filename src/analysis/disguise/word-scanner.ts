import {
  endsChunk,
  isBlankInLine,
  isIdeograph,
  isInner,
  isLetter,
  isSmall,
  isUpperOrDigit,
  isWordCode,
} from './letters.ts'
import { plainWord } from './plain-word.ts'
import { hashBasis, hashStep, lineWordsMax, wordCharsMax, WordLine } from './word-line.ts'

/** A text as its words, without disguise, and where its sentences and paragraphs end. */
export type PlainText = {
  /** The words with blanks between them. */
  line: string
  /** Where each word ends in the line. */
  wordEnds: Int32Array
  /**
   * A hash of each word: FNV-1a over its UTF-16 units, finished as in MurmurHash3. What is made of
   * it is stored for weeks, so it does not change.
   */
  hashes: Int32Array
  /** Index after the last word of each sentence; the last one may be missing. */
  sentenceEnds: number[]
  /** The same for paragraphs. */
  paragraphEnds: number[]
}

/** What is read of a text: Hangul takes three times its room when marks are taken off. */
const unitsMax = 3 * 64 * 1024
/** A chunk is searched no farther for what makes it an address. */
const addressCharsMax = 300

/** What the word begun is made of. */
const LETTERS = 1
const DIGITS = 2
const APOSTROPHES = 4
/** Signs and letters that `plainWord` is asked about. */
const OTHERS = 8

/**
 * Walks once over a text, unit by unit. One walks over all texts, for its memory is used again:
 * nothing of it is handed out.
 */
export class WordScanner {
  readonly #units = new Uint16Array(unitsMax + 2)
  readonly #bytes = Buffer.from(this.#units.buffer)
  readonly #line = new WordLine()
  #sentenceEnds: number[] = []
  #paragraphEnds: number[] = []
  #text = ''
  /** Where the word begun stands in the text, or -1. */
  #start = -1
  #made = 0

  /** The words of a text without marks: at most `wordsMax`. */
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

  /** The same as nothing but a line. */
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
    // Behind the text stands what ends everything.
    this.#units[length] = 0
    this.#units[length + 1] = 0
    this.#text = text
    this.#line.clear()
    this.#sentenceEnds = []
    this.#paragraphEnds = []
    this.#start = -1
    this.#made = 0
  }

  /** Most words are nothing but small letters with a blank after them. */
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

  /** What `plainWord` makes of Latin letters and apostrophes. */
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

  /** Whether an `@` stands in a mail address: a dot comes after it before the chunk ends. */
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
