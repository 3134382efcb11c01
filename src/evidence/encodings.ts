import { codeShape } from './codes.ts'
import { isScrambled } from './readable.ts'

/** Letters that are written as their codes, with the same sign around each. */
const byCodes =
  /(?:(?:\\(?:x|u00|u\{)?|%u?|=|0x|&#x?)[\da-f]{2,5}[;}]?[\s,]?){5,}|(?:[\\/]x[\da-f]{2}){5,}/gi
const byNumbers = /\b\d{2,3}(?<a>[ ,;:.-])\d{2,3}(?:\k<a>\d{2,3}){5,}\b/g
const byHex =
  /\b(?=[\da-f .,:;-]{0,40}[a-f])[\da-f]{2}(?<b>[ .,:;-])[\da-f]{2}(?:\k<b>[\da-f]{2}){4,}\b/gi
const bySlashes = /(?:[\\/][\p{L}\p{N}]){6,}(?![\p{L}\p{N}])/gu
/** Words in the encodings of header fields (RFC 2047) and of UTF-7 (RFC 2152, RFC 3501). */
const byWords =
  /=\?[\w-]{2,40}\?[bq]\?[^?\s]{0,500}\?=|(?:\+[a-z\d/]{6,3000}|&[a-z\d+,]{5,3000})-(?![a-z\d])/gi

/** Replaces letters that are written as their codes or in an encoding of their own. */
export function withoutSpelling(text: string, token: (text: string) => string): string {
  let plain = text
  if (/[%\\=&+]|0x|\/x[\da-f]{2}\/x/i.test(plain))
    plain = plain.replace(byCodes, token).replace(byWords, token)
  if (/\d\d[ ,;:.-]\d\d/.test(plain)) plain = plain.replace(byNumbers, token)
  if (/[\da-f]{2}[ .,:;-][\da-f]{2}[ .,:;-][\da-f]{2}[ .,:;-]/i.test(plain))
    plain = plain.replace(byHex, token)
  if (/[\\/].[\\/]/.test(plain)) plain = plain.replace(bySlashes, token)
  return plain
}

/** Letters and digits one by one, with the same signs or blanks between them. */
export const lettered =
  /(?<![a-z\d])[a-z\d](?<c>[ .,_·\xa0-]|\s{1,9})[a-z\d](?:\k<c>[a-z\d]){5,}(?![a-z\d])/gi
/** The minimum length of a word that is taken for an encoding without one of its signs. */
export const DENSE_MIN = 16

/**
 * Whether a word without blanks is an encoding: letters in mixed case and digits, broken by signs,
 * as in base64 with dots, uuencoded and Base85 text.
 */
export function isDense(text: string): boolean {
  if (text.length < SHORT_MIN || (text.includes('redacted-') && codeShape.test(text))) return false
  if (/[+=]/.test(text) && shortBase64.test(text)) return true
  if (text.includes('.') && isInFours(text)) return true
  if (text.length < DENSE_MIN) return false
  const letters = text.replace(/[^A-Za-z\d]+/g, '')
  const signs = new Set(text.replace(/[A-Za-z\d\s\x80-\uffff]+/g, ''))
  const isMuchBroken = signs.size >= 5 && letters.length >= 6 && letters.length < text.length * 0.8
  if (isMuchBroken) return true
  return letters.length >= DENSE_MIN - 2 && !usualCase.test(text) && isScrambled(letters)
}

/** The minimum length of an encoding. */
const SHORT_MIN = 7

/** A short text in base64 with one of its signs. */
const shortBase64 =
  /^(?=.*[a-z])(?=.*[A-Z])(?:(?=.*\d)(?=.*\+)[A-Za-z\d+/]{7,}|[A-Za-z\d+/]{6,}={1,2})$/
/** Whether a text has base64 with a dot after every four letters. */
function isInFours(text: string): boolean {
  if (text.length < FOURS_MIN || !inFours.test(text) || usualCase.test(text)) return false
  return /[a-z]/.test(text) && /[A-Z]/.test(text)
}

const FOURS_MIN = 11
const inFours = /(?<![A-Za-z\d+-])(?:[\w+/-]{4}\.){2,}[\w+/=-]/
/** Words, each in small letters, in capitals, or with a capital first. */
const usualCase = /^(?:(?:[A-Z]?[a-z]+|[A-Z]+)(?:[^A-Za-z\d]+|$))+$/

/** A file that is written into a text: its first line, the lines in it, and its last line. */
const encodedBlocks: readonly (readonly [first: RegExp, inside: RegExp, last: RegExp])[] = [
  [/^begin [0-7]{3,4} /, /^[\x20-\x60]{1,62}$/, /^end\s*$/],
  [/^=ybegin /, /[^\x20-\x7e]|^[^ ]{60,}$/, /^=yend\b/],
  [
    /^-----BEGIN [A-Z ]{3,40}-----/,
    /^(?:[\w+/=]{1,80}|[\w-]{1,30}: .*|)$/,
    /^-----END [A-Z ]{3,40}-----/,
  ],
]

/** Replaces files that are written into a text, also where they are quoted. */
export function withoutEncodedBlocks(text: string): string {
  if (!/^[> ]{0,20}(?:begin [0-7]|=ybegin |-----BEGIN )/m.test(text)) return text
  const kept: string[] = []
  let block: (typeof encodedBlocks)[number] | undefined
  for (const line of text.split('\n')) {
    const bare = line.replace(/^[> ]{1,20}/, '').trimEnd()
    if (block?.[1].test(bare)) continue
    const isLast = block?.[2].test(bare) === true
    block = isLast ? undefined : encodedBlocks.find(([first]) => first.test(bare))
    if (isLast) continue
    kept.push(block === undefined ? line : '[encoded file]')
  }
  return kept.join('\n')
}
