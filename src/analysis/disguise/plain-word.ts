import { closeLookAlikes, looseLookAlikes } from './look-alikes.ts'

const close = mapOf(closeLookAlikes)
const loose = mapOf(looseLookAlikes)

/** Whether people read the character as a Latin letter, though it is of another alphabet. */
export function isLookAlike(codePoint: number): boolean {
  return close.has(codePoint)
}

/**
 * A word without its disguise, in lower case: look-alikes of Latin letters where the word has
 * Latin ones too, or has nothing else; digits and signs that stand for a letter between letters
 * (`v1agra`, `p@yp@l`); a capital I that ends a small word for an l (`PayPaI`); all other numbers
 * as one 0. A word of another alphabet stays what it is. `word` as NFKD gives it, without marks.
 */
export function plainWord(word: string): string {
  const latin = isAscii(word) ? word : withoutLookAlikes(word)
  const spelled = hasSigns.test(latin) ? withoutLeet(latin) : latin
  const lower = spelled.endsWith('I') ? spelled.replace(/(?<=[a-z])I$/, 'l') : spelled
  const small = lower.toLowerCase()
  return /^[a-z]+$/.test(small)
    ? small
    : small.replace(/[\p{Nd}\p{No}]+/gu, '0').replace(/['’@$!|]+/g, '')
}

const hasSigns = /[013457@$!|]/
const leetLetters: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
  '|': 'l',
}

const leetLettersMin = 3
/** Between letters; digits only where there are more letters than `w3c` and `mp3s` have. */
const leetSigns = /(?<=[a-z])[@$!|]{1,3}(?=[a-z])/gi
const leetDigits = /(?<=[a-z])[013457]{1,2}(?=[a-z])/gi

function withoutLeet(word: string): string {
  const read = (signs: string) => {
    let spelled = ''
    for (const sign of signs) spelled += leetLetters[sign] ?? sign
    return spelled
  }
  const signed = word.replace(leetSigns, read)
  const letters = signed.replace(/[^a-z]+/gi, '').length
  const isShort =
    letters < leetLettersMin || (letters === leetLettersMin && !/[a-z]{2}$/i.test(signed))
  return isShort ? signed : signed.replace(leetDigits, read)
}

function isAscii(word: string): boolean {
  for (let at = 0; at < word.length; at++) if (word.charCodeAt(at) > 0x7f) return false
  return true
}

function withoutLookAlikes(word: string): string {
  if (/[a-z]/i.test(word)) return inLatin(word)
  const lower = word.toLowerCase()
  return lower.length > 2 && [...lower].every((char) => close.has(char.codePointAt(0) ?? 0))
    ? inLatin(lower)
    : lower
}

function inLatin(word: string): string {
  let latin = ''
  for (const char of word) {
    const code = char.codePointAt(0) ?? 0
    latin += close.get(code) ?? loose.get(code) ?? char
  }
  return latin
}

function mapOf(table: readonly (readonly [string, string])[]): Map<number, string> {
  return new Map(
    table.flatMap(([letter, codes]) =>
      codes.split(' ').map((code): [number, string] => [Number.parseInt(code, 16), letter]),
    ),
  )
}
