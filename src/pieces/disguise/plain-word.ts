import table from './look-alikes.json' with { type: 'json' }

/**
 * Characters of other scripts that look like a Latin letter, by code point. Omits characters that
 * Unicode itself maps to the letter (NFKD).
 */
export const closeLookAlikes = mapOf(table.close)
/** Characters that people read as a Latin letter only next to Latin letters. */
export const looseLookAlikes = mapOf(table.loose)

/** Whether people read a character of another script as a Latin letter. */
export function isLookAlike(codePoint: number): boolean {
  return closeLookAlikes.has(codePoint)
}

/**
 * Normalizes a word to lower case. `word` must be in NFKD without marks. Letters of other scripts
 * that do not look Latin stay unchanged, and remaining signs are removed. Replaces:
 *
 * - look-alikes of Latin letters, if the word also has Latin letters or only look-alikes;
 * - digits and signs that stand for a letter between letters (`v1agra`, `p@yp@l`);
 * - a final capital I in a lower-case word by an l (`PayPaI`);
 * - all other numbers by one 0.
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
/**
 * Signs and digits that stand for a letter. Digits are replaced only in words with more letters
 * than `w3c` and `mp3s`.
 */
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
  return lower.length > 2 &&
    [...lower].every((char) => closeLookAlikes.has(char.codePointAt(0) ?? 0))
    ? inLatin(lower)
    : lower
}

function inLatin(word: string): string {
  let latin = ''
  for (const char of word) {
    const code = char.codePointAt(0) ?? 0
    latin += closeLookAlikes.get(code) ?? looseLookAlikes.get(code) ?? char
  }
  return latin
}

function mapOf(letters: Readonly<Record<string, string>>): Map<number, string> {
  return new Map(
    Object.entries(letters).flatMap(([letter, codes]) =>
      codes.split(' ').map((code): [number, string] => [Number.parseInt(code, 16), letter]),
    ),
  )
}

/** Whether a UTF-16 unit is one of a to z. */
export function isSmall(code: number): boolean {
  return code >= 0x61 && code <= 0x7a
}

/** Whether a UTF-16 unit is one of A to Z or 0 to 9. */
export function isUpperOrDigit(code: number): boolean {
  return (code >= 0x41 && code <= 0x5a) || (code >= 0x30 && code <= 0x39)
}

/** Whether a UTF-16 unit is one of `'@$!|`, which may occur inside a word. */
export function isInner(code: number): boolean {
  return code === 0x27 || code === 0x40 || code === 0x24 || code === 0x21 || code === 0x7c
}

/** Whether a UTF-16 unit is an ASCII letter or digit. */
export function isWordCode(code: number): boolean {
  return isUpperOrDigit(code) || isSmall(code)
}

/** Whether a UTF-16 unit is white space but not a line break. */
export function isBlankInLine(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0d
}

/** Whether a UTF-16 unit ends a web or mail address. */
export function endsChunk(code: number): boolean {
  return code <= 0x20 || code === 0x3c || code === 0x3e || code === 0x22 || code === 0xa0
}

/** Whether a code point is a Chinese or Japanese character, which is a word of its own. */
export function isIdeograph(code: number): boolean {
  return (
    (code >= 0x3040 && code <= 0x30ff) ||
    (code >= 0x3400 && code <= 0x9fff) ||
    (code >= 0x20000 && code <= 0x3ffff)
  )
}

/** Whether a code point beyond ASCII counts as a letter. Punctuation and pictographs do not. */
export function isLetter(code: number): boolean {
  if (code < 0xc0) return code === 0xaa || code === 0xb5 || code === 0xba
  if (code === 0xd7 || code === 0xf7) return false
  if (code >= 0x2000 && code <= 0x2bff) return code === 0x20ac
  if (code >= 0x2e00 && code <= 0x303f) return false
  if (code >= 0xe000 && code <= 0xf8ff) return false
  if (code >= 0xfe10 && code <= 0xfe6f) return false
  if (code >= 0xfff0 && code <= 0xffff) return false
  return code < 0x1f000 || code > 0x1faff || isLookAlike(code)
}
