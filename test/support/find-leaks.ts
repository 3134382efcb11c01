import { foldText } from './identity-forms/folded-text.ts'
import type { Needle, Secret } from './identity-forms/needles.ts'
import { readingsOf } from './identity-forms/readings.ts'

/** A secret that was found, its place in the list of secrets, and the needle that was found. */
export type Leak = { secret: string; at: number; needle: string }

/**
 * Returns the secrets that a mail reveals: as it is, decoded in every way of `readingsOf`, without
 * accents and look-alikes, and without everything between letters. It shares no code with the
 * program.
 */
export function findLeaks(raw: Buffer, secrets: readonly Secret[]): Leak[] {
  const readings = readingsOf(raw)
  const text = readings.join('\n\n')
  const folded = readings.map(foldText).join('\n\n')
  const lower = folded.toLowerCase()
  const letters = lower.replace(/[^\p{L}\p{N}]+/gu, '')
  const isIn = (needle: Needle): boolean => {
    switch (needle.kind) {
      case 'squeezed':
        return letters.includes(needle.text)
      case 'exact':
        return text.includes(needle.text)
      case 'word':
        return hasWord(folded, needle.text)
      case 'number':
        return hasNumber(lower, needle.text)
      case 'near':
        return isNear(lower, needle.text, needle.rest)
    }
  }
  return secrets.flatMap(({ name, needles }, at) => {
    const found = needles.find(isIn)
    return found === undefined ? [] : [{ secret: name, at, needle: `${found.kind} ${found.text}` }]
  })
}

function hasWord(folded: string, word: string): boolean {
  // Only Latin letters next to a name can be a part of the word.
  const isLatin = /^[a-z]/i.test(word)
  return occurrences(folded, word).some(
    (at) =>
      !isLatin || !/[a-z0-9]/i.test(`${folded[at - 1] ?? ''}${folded[at + word.length] ?? ''}`),
  )
}

function hasNumber(lower: string, digits: string): boolean {
  return occurrences(lower, digits).some(
    (at) => !/[0-9]/.test(`${lower[at - 1] ?? ''}${lower[at + digits.length] ?? ''}`),
  )
}

function isNear(lower: string, first: string, rest: string): boolean {
  return occurrences(lower, first).some((at) => {
    const end = at + first.length
    return lower.slice(end, end + rest.length + 60).includes(rest)
  })
}

function occurrences(text: string, word: string): number[] {
  const found: number[] = []
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) found.push(at)
  return found
}
