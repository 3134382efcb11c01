import { WordScanner } from './word-scanner.ts'
import type { PlainText } from './word-scanner.ts'

/**
 * The words of a text as a person reads them: compatibility forms, widths and case folded;
 * accents, zero-width and other invisible characters gone; look-alikes and leetspeak spelled out
 * (`plainWord`); every run of numbers one `0`; letters written with gaps (`V I A G R A`)
 * put together; web and mail addresses left out. Signs of Chinese and Japanese are words of their
 * own. At most `wordsMax` words; linear. `text` without marks.
 */
export function wordsOf(text: string, wordsMax: number): PlainText {
  return scanner.plainText(text, wordsMax)
}

/** The words of a text from one index to before another, with blanks between them. */
export function wordsBetween({ line, wordEnds }: PlainText, from: number, to: number): string {
  const start = from === 0 ? 0 : (wordEnds[from - 1] ?? 0) + 1
  return line.slice(start, wordEnds[to - 1] ?? 0)
}

/** The words of a text as one line, with blanks between them. */
export function plainLine(text: string, wordsMax = 100, charsMax = 1000): string {
  return scanner.plainLine(withoutMarks(text.slice(0, charsMax)), wordsMax)
}

const scanner = new WordScanner()

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
  return isAscii(text) ? text : withoutHeaps(text).normalize('NFKD').replace(marks, '')
}

/** The same with accents, which tell names of hosts apart. */
export function withoutInvisible(text: string): string {
  return isAscii(text) ? text : withoutHeaps(text).normalize('NFKC').replace(invisible, '')
}

/** The time to put marks on one letter in their order is quadratic: of 64 KB of them, a second. */
const heapCharsMin = 1000
/** No language puts more on a letter (UAX #15 §13, Stream-Safe Text Format). */
const heaps = /(\p{M}{30})\p{M}+/gu

function withoutHeaps(text: string): string {
  return text.length < heapCharsMin ? text : text.replace(heaps, '$1')
}

/** Counting bytes is native and looks at many at a time: far faster than an expression. */
function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length
}
