import { characterSet } from './stretches.ts'

/** Where a text stands decides how much it may say: a path names a page, a query what is asked. */
export type TokenPlace = 'path' | 'query' | 'mailbox' | 'field'

/** From how many characters on letters and digits together are taken for a token. */
const mixedMin = { path: 10, query: 6, mailbox: 8, field: 10 } as const
const digitsMin = { path: 5, query: 5, mailbox: 5, field: 7 } as const
const hexMin = 8
const lettersMin = 16
const wholeMax = 40
/** What is shorter is no token anywhere. */
export const tokenCharsMin = 5

/**
 * Whether a piece of a link, an address or a field looks as if a machine had drawn it, so that it
 * may stand for one recipient: a long number that is no date, hexadecimal digits, letters and
 * digits through each other, letters in an order that no word has. Words, words with a number
 * (`winter2026`), dates and short names do not. It errs on the side of the reporter: a path that
 * looks like a token is one. Short paths such as those of link shorteners are none, because the
 * desk could not act without them.
 */
export function looksOpaque(text: string, place: TokenPlace): boolean {
  if (place === 'query' && text.length > wholeMax && !/[\s+]|%20/.test(text)) return true
  let start = 0
  for (let at = 0; at <= text.length; at++) {
    if (lettersAndDigits[text.charCodeAt(at)] === 1) continue
    if (at - start >= tokenCharsMin && isDrawn(text.slice(start, at), place)) return true
    start = at + 1
  }
  return false
}

const lettersAndDigits = characterSet(
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789',
)

function isDrawn(run: string, place: TokenPlace): boolean {
  const hasDigit = /\d/.test(run)
  if (!hasDigit && run.length < lettersMin) return false
  if (/^\d+$/.test(run)) return run.length >= digitsMin[place] && !/^(?:19|20)\d{6}$/.test(run)
  if (hasDigit && run.length >= hexMin && /^(?:[0-9a-f]+|[0-9A-F]+)$/.test(run)) return true
  if (hasDigit) return run.length >= mixedMin[place] && !isNumberedWord(run)
  return run.length >= lettersMin && isUnspeakable(run)
}

/** `winter2026`, `3rd`, `page12`, `mp4video`: a word, and at most one short number. */
function isNumberedWord(run: string): boolean {
  return run.length < 20 && /^[A-Za-z]*\d{1,4}[A-Za-z]*$/.test(run) && !hasMixedCase(run)
}

function isUnspeakable(run: string): boolean {
  const vowels = run.match(/[aeiouyAEIOUY]/g)?.length ?? 0
  return hasMixedCase(run) || vowels < run.length / 6
}

/** Whether upper and lower case change as often as by chance; `aNewPageOfOurShop` does not. */
function hasMixedCase(run: string): boolean {
  const changes = run.match(/[a-z](?=[A-Z])|[A-Z](?=[A-Z][a-z])|[A-Z]{2}/g)?.length ?? 0
  return changes > run.length / 4
}
