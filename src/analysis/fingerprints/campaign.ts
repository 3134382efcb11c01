import { hexOf, textHash } from '../shingles/hash.ts'
import type { Fingerprints } from './fingerprints-of.ts'
import { agreement } from './min-hash.ts'

const bands = 8
const bandBytes = 5

/**
 * So much of the runs of words two texts share, at least. Measured: texts of one campaign share
 * 0.9 and more, sister campaigns of the same author up to 0.72.
 */
const agreementMin = 0.84
/** Greetings, names and amounts stand at the beginning. */
const headAgreementMin = 0.25
/** The shorter text has at least this share of the words of the longer. */
const lengthRatioMin = 0.6
/** Shorter texts (`Please see attached.`) are the same in many campaigns. */
const telltaleWordsMin = 8

/**
 * Under which keys a message is found by its like, and finds them: messages of one campaign share
 * at least one (of texts that share 0.95 of their runs of words, all but one of 100,000 do; of
 * those that share 0.84, 99 of 100). 16 hexadecimal digits each, at most 8. None for messages
 * that have nothing of their own: no text to speak of, and no file or picture.
 */
export function campaignKeys(fingerprints: Fingerprints): string[] {
  const { near } = fingerprints
  if (near === undefined) {
    const key = wholeKey(fingerprints)
    return key === undefined ? [] : [key]
  }
  return Array.from({ length: bands }, (_, band) => {
    const start = band * bandBytes * 2
    const number = (band + 1).toString(16).padStart(6, '0')
    return number + near.slice(start, start + bandBytes * 2)
  })
}

/**
 * Whether two messages are of one campaign. Decided between a message and the one that began the
 * campaign, so that a campaign does not wander. Symmetrical.
 */
export function isSameCampaign(a: Fingerprints, b: Fingerprints): boolean {
  if (a.near === undefined || b.near === undefined) {
    const key = wholeKey(a)
    return a.near === b.near && key !== undefined && key === wholeKey(b)
  }
  const [shorter = 0, longer = 0] = [Number(a.words), Number(b.words)].sort((x, y) => x - y)
  return (
    shorter >= longer * lengthRatioMin &&
    agreement(a.near, b.near) >= agreementMin &&
    agreement(a.head ?? '', b.head ?? '') >= headAgreementMin
  )
}

/** Short messages are of one campaign only if they are the same. */
function wholeKey({ words, text, files }: Fingerprints): string | undefined {
  const isTelling = Number(words) >= telltaleWordsMin
  if (text !== undefined && isTelling) return hexOf(textHash(`text ${text}`))
  return files === undefined ? undefined : hexOf(textHash(`files ${text ?? ''} ${files}`))
}
