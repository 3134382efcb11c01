import { isLookAlike } from '../disguise/plain-word.ts'

/** What a text does to be read by people but not by programs. */
export type Disguise = {
  /** Characters that show nothing, and marks that turn the direction. */
  hidden: number
  /** Letters of other alphabets inside words of Latin ones that look like those. */
  lookAlikes: number
}

const none: Disguise = { hidden: 0, lookAlikes: 0 }
const unseen = /[\u00ad\u034f\u180e\u200b\u2060-\u2064\u202a-\u202e\u2066-\u2069\ufeff]/g
const mixedWords = /[a-z]+[^\x00-\x7f][\p{L}\p{M}]*|[^\x00-\x7f][\p{L}\p{M}]*[a-z][\p{L}\p{M}]*/giu

/** Looks for disguise in a text; of look-alikes only those beside Latin letters count. */
export function disguiseOf(text: string): Disguise {
  if (Buffer.byteLength(text) === text.length) return none
  const hidden = text.match(unseen)?.length ?? 0
  let lookAlikes = 0
  for (const [word] of text.matchAll(mixedWords)) {
    for (const char of word) if (isLookAlike(char.codePointAt(0) ?? 0)) lookAlikes++
  }
  return { hidden, lookAlikes }
}
