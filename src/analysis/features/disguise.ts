import { isLookAlike } from '../disguise/plain-word.ts'

/** What a text does to be read by people but not by programs. */
export type Disguise = {
  /** Characters that show nothing, and marks that turn the direction. */
  hidden: number
  /** Letters of other alphabets beside Latin ones that look like those. */
  lookAlikes: number
}

const none: Disguise = { hidden: 0, lookAlikes: 0 }
/** Accented letters come before; no letter of another alphabet does. */
const FOREIGN_MIN = 0x250

/** Looks for disguise in a text, in one pass. */
export function disguiseOf(text: string): Disguise {
  if (Buffer.byteLength(text) === text.length) return none
  let hidden = 0
  let lookAlikes = 0
  let isBesideLatin = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < FOREIGN_MIN) {
      isBesideLatin = isLatin(code)
      if (code === 0xad) hidden++
      continue
    }
    if (isUnseen(code)) {
      hidden++
      continue
    }
    const point = text.codePointAt(at) ?? code
    if (point > 0xffff) at++
    const isPosing: boolean =
      isLookAlike(point) && (isBesideLatin || isLatin(text.charCodeAt(at + 1)))
    if (isPosing) lookAlikes++
    isBesideLatin = isPosing
  }
  return { hidden, lookAlikes }
}

function isLatin(code: number): boolean {
  const small = code | 0x20
  return small >= 0x61 && small <= 0x7a
}

/** Joiners (U+200C, U+200D) belong to writing in other alphabets, and to pictures. */
function isUnseen(code: number): boolean {
  if (code === 0x200b || code === 0xfeff || code === 0x34f || code === 0x180e) return true
  const isDirection = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069)
  return isDirection || (code >= 0x2060 && code <= 0x2064)
}
