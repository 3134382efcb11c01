import { isLookAlike } from './plain-word.ts'

/** Whether a UTF-16 unit is one of a to z. */
export function isSmall(code: number): boolean {
  return code >= 0x61 && code <= 0x7a
}

/** Whether it is one of A to Z or 0 to 9. */
export function isUpperOrDigit(code: number): boolean {
  return (code >= 0x41 && code <= 0x5a) || (code >= 0x30 && code <= 0x39)
}

/** Whether it is one of `'@$!|`, which may stand inside a word. */
export function isInner(code: number): boolean {
  return code === 0x27 || code === 0x40 || code === 0x24 || code === 0x21 || code === 0x7c
}

/** Whether it is a letter or digit of ASCII. */
export function isWordCode(code: number): boolean {
  return isUpperOrDigit(code) || isSmall(code)
}

/** Whether it is a blank that ends no line. */
export function isBlankInLine(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0d
}

/** Whether a web or mail address ends before it. */
export function endsChunk(code: number): boolean {
  return code <= 0x20 || code === 0x3c || code === 0x3e || code === 0x22 || code === 0xa0
}

/** Whether a code point is a sign of Chinese or Japanese: a word of its own. */
export function isIdeograph(code: number): boolean {
  return (
    (code >= 0x3040 && code <= 0x30ff) ||
    (code >= 0x3400 && code <= 0x9fff) ||
    (code >= 0x20000 && code <= 0x3ffff)
  )
}

/** Whether a code point beyond ASCII is taken for a letter: punctuation and pictures are not. */
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
