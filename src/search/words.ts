import { plainWord } from '../pieces/disguise/plain-word.ts'

const unspaced = String.raw`\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}`
const WORDS = new RegExp(String.raw`[${unspaced}]|[[\p{L}\p{N}]--[${unspaced}]]+`, 'gv')
const WORD_CHARS_MAX = 40
/** Accents, and characters that are not shown, such as zero-width blanks and soft hyphens. */
const UNSEEN = /[\p{M}\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]+/gu

/**
 * Returns the words of a text in their order, at most `max`: in lower case, without accents and
 * invisible characters, cut at 40 characters. Each character of Chinese and Japanese is a word,
 * because they are written without blanks.
 */
export function wordsIn(text: string, max: number): string[] {
  return writtenWords(text, max).map((word) => word.toLowerCase())
}

/**
 * Returns the words of a text like `wordsIn`, each as it is written and as people read it: in words
 * like `v1agra`, letters stand for the digits and for the letters of other scripts that look like
 * them.
 */
export function wordPairsIn(text: string, max: number): { written: string; read: string }[] {
  return writtenWords(text, max).map((word) => {
    const written = word.toLowerCase()
    if (isReadAsWritten.test(word)) return { written, read: written }
    const read = plainWord(word)
    return { written, read: isSmall.test(read) ? read : written }
  })
}

/** Matches most words: those in which `plainWord` replaces nothing, and numbers. */
const isReadAsWritten = /^(?:[A-Z]?[a-z]+|\d+)$/
const isSmall = /^[a-z]+$/
const ASCII_WORDS = /[A-Za-z\d]+/g

function writtenWords(text: string, max: number): string[] {
  // Most texts are ASCII, in which nothing is decomposed and nothing is unseen.
  const isAscii = Buffer.byteLength(text) === text.length
  const words = isAscii
    ? text.match(ASCII_WORDS)
    : text.normalize('NFKD').replaceAll(UNSEEN, '').match(WORDS)
  return (words ?? []).slice(0, max).map((word) => word.slice(0, WORD_CHARS_MAX))
}
