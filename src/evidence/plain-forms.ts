import { withoutInvisible } from '../pieces/disguise/plain-text.ts'

/** A text without invisible characters, with letters and digits in their usual forms. */
export function plainText(text: string): string {
  if (/^[\0-\x7f]*$/.test(text)) return text
  const read = text.replace(misread, (one) => utf8Of(one) ?? one)
  return withoutInvisible(read).replace(/[^\0-\x7f]/gu, (one) => digitOf(one) ?? one)
}

/** The characters of Windows-1252 for the bytes from 80 to 9F. */
const windows1252 = new TextDecoder('windows-1252')
const byteOf = new Map(
  Array.from({ length: 32 }, (_, at) => [windows1252.decode(Uint8Array.of(0x80 + at)), 0x80 + at]),
)
/** The bytes of one character in UTF-8, read as Windows-1252. */
const misread = new RegExp(`[\u00c2-\u00f4][\u0080-\u00bf${[...byteOf.keys()].join('')}]{1,3}`, 'g')

function utf8Of(text: string): string | undefined {
  const bytes = Array.from(text, (one) => byteOf.get(one) ?? one.charCodeAt(0))
  const read = Buffer.from(bytes).toString()
  return read.includes('\ufffd') ? undefined : read
}

function digitOf(character: string): string | undefined {
  if (!/\p{Nd}/u.test(character)) return undefined
  // The ten digits of a script follow one another, from a multiple of ten on in each block.
  let zero = character.codePointAt(0) ?? 0
  const point = zero
  while (zero > point - 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--
  return String((point - zero) % 10)
}

/** How many characters before a cut may be a part of an address or a name that was cut. */
const CUT_WORD_MAX = 300

/** The beginning of a text, without the words at its end that may be cut. */
export function withoutCutWord(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text
  const safe = text.lastIndexOf(' ', charsMax - CUT_WORD_MAX)
  return text.slice(0, safe < 0 ? charsMax - CUT_WORD_MAX : safe)
}

/** Changes what the sender wrote in the form of our codes. */
export function withoutCodes(text: string): string {
  return /redacted[-.]/i.test(text) ? text.replace(/redacted(?=[-.])/gi, 'redacted_') : text
}

/** Percent-decodes a text, also if it is encoded twice. */
export function decoded(text: string): string {
  let plain = text
  for (let round = 0; round < 3 && plain.includes('%'); round++) {
    try {
      plain = decodeURIComponent(plain)
    } catch {
      return plain
    }
  }
  return plain
}

export function withoutAccents(text: string): string {
  return /^[\0-\x7f]*$/.test(text) ? text : text.normalize('NFD').replace(/\p{M}+/gu, '')
}

/**
 * Decodes Chinese text in the encoding HZ (RFC 1843), and Latin letters as Chinese and Korean
 * charsets write them, which programs read under any charset.
 */
export function withoutHz(text: string): string {
  const bare = text.replace(/(?:#[!-~]){4,}/g, (pairs) => pairs.replace(/#([!-~])/g, '$1'))
  return bare.replace(/~\{((?:[!-}][!-~]){0,2000})~\}/g, (_, pairs: string) =>
    gb.decode(Buffer.from(pairs, 'latin1').map((byte) => byte | 0x80)),
  )
}

const gb = new TextDecoder('gb2312')
