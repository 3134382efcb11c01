import { isLookAlike, plainWord } from './plain-word.ts'

/** A text as its words, without disguise, and where its sentences and paragraphs end. */
export type PlainText = {
  words: string[]
  /** Index after the last word of each sentence; the last one may be missing. */
  sentenceEnds: number[]
  /** The same for paragraphs. */
  paragraphEnds: number[]
}

/**
 * The words of a text as a person reads them: compatibility forms, widths and case folded;
 * accents, zero-width and other invisible characters gone; look-alikes and leetspeak spelled out
 * (`plainWord`); every run of numbers one `0`; letters written with gaps (`V I A G R A`)
 * put together; web and mail addresses left out. Signs of Chinese and Japanese are words of their
 * own. At most `wordsMax` words of the first 65,536 characters; linear.
 */
export function plainText(text: string, wordsMax: number): PlainText {
  return wordsOf(withoutMarks(text.slice(0, textCharsMax)), wordsMax)
}

/** The same of a text that `withoutMarks` gave. */
export function wordsOf(text: string, wordsMax: number): PlainText {
  return new Scanner(text, wordsMax).scan()
}

/** The same as one line: the words with blanks between them. */
export function plainLine(text: string): string {
  return plainText(text.slice(0, lineCharsMax), lineWordsMax).words.join(' ')
}

const textCharsMax = 64 * 1024
const lineCharsMax = 1000
const lineWordsMax = 100
const wordCharsMax = 100
/** A chunk is searched no farther for what makes it an address. */
const addressCharsMax = 300
/** Shorter runs of single letters are initials and enumerations. */
const gappedLettersMin = 4

/** Characters that show nothing, selectors of variants and marks of direction among them. */
const invisibleOnes = [
  '\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e',
  '\\u2060-\\u206f\\u2800\\u3164\\ufe00-\\ufe0f\\ufeff\\ufff9-\\ufffb\\u{e0000}-\\u{e0fff}',
].join('')
const accents = '\\u0300-\\u036f\\u1ab0-\\u1aff\\u1dc0-\\u1dff\\u20d0-\\u20ff\\ufe20-\\ufe2f'
const invisible = new RegExp(`[${invisibleOnes}]+`, 'gu')
const marks = new RegExp(`[${invisibleOnes}${accents}]+`, 'gu')

/** Compatibility forms folded, and what shows nothing left out. */
export function withoutMarks(text: string): string {
  return /[^\0-\x7f]/.test(text) ? text.normalize('NFKD').replace(marks, '') : text
}

/** The same with accents, which tell names of hosts apart. */
export function withoutInvisible(text: string): string {
  return /[^\0-\x7f]/.test(text) ? text.normalize('NFKC').replace(invisible, '') : text
}

/** Walks once over a text. `start` is where the word begun now stands, or -1. */
class Scanner {
  readonly #text: string
  readonly #wordsMax: number
  readonly #plain: PlainText = { words: [], sentenceEnds: [], paragraphEnds: [] }
  #start = -1
  #isSimple = true
  /** How many single letters in a row end the list of words. */
  #gapped = 0

  constructor(text: string, wordsMax: number) {
    this.#text = text
    this.#wordsMax = wordsMax
  }

  scan(): PlainText {
    const text = this.#text
    let at = 0
    while (at < text.length && this.#plain.words.length < this.#wordsMax) {
      const code = text.charCodeAt(at)
      if (code >= 0x61 && code <= 0x7a) at = this.#smallLetters(at)
      else if (code === 0x20) {
        this.#endWord(at)
        at++
      } else if (isUpperOrDigit(code)) {
        if (this.#start < 0) this.#start = at
        this.#isSimple = false
        at++
      } else at = code > 0x7f ? this.#beyondAscii(at) : this.#sign(code, at)
    }
    this.#endWord(text.length)
    this.#joinGapped()
    return this.#plain
  }

  /** Most words are nothing but small letters with a blank after them. */
  #smallLetters(from: number): number {
    const text = this.#text
    let at = from + 1
    let code = text.charCodeAt(at)
    while (code >= 0x61 && code <= 0x7a) code = text.charCodeAt(++at)
    if (this.#start < 0) {
      if (code === 0x20 && at - from <= wordCharsMax) {
        this.#push(text.slice(from, at))
        return at + 1
      }
      this.#start = from
    }
    return at
  }

  #sign(code: number, at: number): number {
    const text = this.#text
    if (this.#start >= 0) {
      if (code === 0x3a && text.startsWith('://', at)) return this.#skipChunk(at)
      if (code === 0x40 && isAddress(text, at)) return this.#skipChunk(at)
      if (code === 0x2e && at - this.#start === 3 && isWww(text, this.#start)) {
        return this.#skipChunk(at)
      }
      const next = text.charCodeAt(at + 1)
      if (isInner(code) && (isWordCode(next) || next > 0x7f || next === 0x24)) {
        this.#isSimple = false
        return at + 1
      }
    }
    this.#endWord(at)
    if (code === 0x0a) this.#lineEnd(at)
    else if ((code === 0x2e || code === 0x21 || code === 0x3f) && isBlank(text.charCodeAt(at + 1)))
      this.#endSentence()
    return at + 1
  }

  #beyondAscii(at: number): number {
    const code = this.#text.codePointAt(at) ?? 0
    const width = code > 0xffff ? 2 : 1
    if (isIdeograph(code)) {
      this.#endWord(at)
      this.#push(this.#text.slice(at, at + width))
    } else if (isLetter(code) || (this.#start >= 0 && code === 0x2019)) {
      if (this.#start < 0) this.#start = at
      this.#isSimple = false
    } else {
      this.#endWord(at)
      if (code === 0x3002 || code === 0x2026) this.#endSentence()
    }
    return at + width
  }

  #endWord(end: number): void {
    if (this.#start < 0) return
    const written = this.#text.slice(this.#start, Math.min(end, this.#start + wordCharsMax))
    const word = this.#isSimple ? written : plainWord(written)
    this.#start = -1
    this.#isSimple = true
    this.#push(word)
  }

  #push(word: string): void {
    const { words } = this.#plain
    if (word === '' || (word === '0' && words.at(-1) === '0')) return
    if (word.length === 1 && word >= 'a' && word <= 'z') this.#gapped++
    else if (this.#gapped > 0) this.#joinGapped()
    words.push(word)
  }

  #joinGapped(): void {
    const { words } = this.#plain
    if (this.#gapped >= gappedLettersMin) {
      words.push(words.splice(words.length - this.#gapped).join(''))
    }
    this.#gapped = 0
  }

  #skipChunk(from: number): number {
    let at = from
    while (at < this.#text.length && !endsChunk(this.#text.charCodeAt(at))) at++
    this.#start = -1
    this.#isSimple = true
    return at
  }

  #lineEnd(at: number): void {
    let next = at + 1
    while (isBlankInLine(this.#text.charCodeAt(next))) next++
    if (this.#text.charCodeAt(next) !== 0x0a) return
    this.#endSentence()
    const { paragraphEnds, words } = this.#plain
    if (words.length > (paragraphEnds.at(-1) ?? 0)) paragraphEnds.push(words.length)
  }

  #endSentence(): void {
    this.#joinGapped()
    const { sentenceEnds, words } = this.#plain
    if (words.length > (sentenceEnds.at(-1) ?? 0)) sentenceEnds.push(words.length)
  }
}

function isUpperOrDigit(code: number): boolean {
  return (code >= 0x41 && code <= 0x5a) || (code >= 0x30 && code <= 0x39)
}

/** `'@$!|` may stand inside a word. */
function isInner(code: number): boolean {
  return code === 0x27 || code === 0x40 || code === 0x24 || code === 0x21 || code === 0x7c
}

function isWordCode(code: number): boolean {
  return isUpperOrDigit(code) || (code >= 0x61 && code <= 0x7a)
}

function isBlank(code: number): boolean {
  return Number.isNaN(code) || code <= 0x20
}

function isBlankInLine(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0d
}

function endsChunk(code: number): boolean {
  return code <= 0x20 || code === 0x3c || code === 0x3e || code === 0x22 || code === 0xa0
}

/** Whether an `@` stands in a mail address: a dot comes after it before the chunk ends. */
function isAddress(text: string, at: number): boolean {
  const end = Math.min(text.length, at + addressCharsMax)
  for (let next = at + 1; next < end; next++) {
    const code = text.charCodeAt(next)
    if (endsChunk(code)) return false
    if (code === 0x2e) return isWordCode(text.charCodeAt(next + 1))
  }
  return false
}

function isWww(text: string, start: number): boolean {
  return text.slice(start, start + 3).toLowerCase() === 'www'
}

function isIdeograph(code: number): boolean {
  return (
    (code >= 0x3040 && code <= 0x30ff) ||
    (code >= 0x3400 && code <= 0x9fff) ||
    (code >= 0x20000 && code <= 0x3ffff)
  )
}

/** Punctuation and pictures divide words; what is left is taken for letters. */
function isLetter(code: number): boolean {
  if (code < 0xc0) return code === 0xaa || code === 0xb5 || code === 0xba
  if (code === 0xd7 || code === 0xf7) return false
  if (code >= 0x2000 && code <= 0x2bff) return code === 0x20ac
  if (code >= 0x2e00 && code <= 0x303f) return false
  if (code >= 0xe000 && code <= 0xf8ff) return false
  if (code >= 0xfe10 && code <= 0xfe6f) return false
  if (code >= 0xfff0 && code <= 0xffff) return false
  return code < 0x1f000 || code > 0x1faff || isLookAlike(code)
}
