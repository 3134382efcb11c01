/** The part of a link or an address to which a text belongs: each may reveal a different amount. */
export type PartKind = 'path' | 'query' | 'label' | 'mailbox'

/** How many digits a part may have in all: a path numbers pages, a host machines. */
const digitsMax = { path: 4, query: 3, label: 6, mailbox: 4 } as const
const PART_CHARS_MAX = 100
/** A word that is spelled letter by letter has more runs of a single character. */
const SINGLES_MAX = 3

/**
 * Whether a decoded part of a link, a host name or an address consists of words, as people write
 * them to be read, and of short numbers. Everything else may be an identifier of the recipient.
 */
export function isReadable(text: string, kind: PartKind): boolean {
  if (text.length > PART_CHARS_MAX || !signs.test(text)) return false
  let digits = 0
  let singles = 0
  for (const run of text.match(runs) ?? []) {
    if (run.length === 1) singles++
    if (date.test(run)) continue
    if (run.length >= MIXED_MIN && isHex(run)) return false
    const its = run.replace(/\D+/g, '').length
    digits += its
    if (its === run.length) continue
    if (its > 0 ? !numberedWord.test(run) : !isWord(run)) return false
  }
  return digits <= digitsMax[kind] && singles <= SINGLES_MAX
}

const signs = /^[\p{L}\p{M}\p{N}\s._~+,'!()*:$-]*$/u
const runs = /[\p{L}\p{M}\p{N}]+/gu
const date = /^20[0-4]\d(?:(?:0\d|1[012])(?:[012]\d|3[01])?)?$/
/** A word in one case with a short number or a year: `winter2026`, `3rd`, `page12`, `mp4video`. */
const numberedWord = new RegExp(
  '^(?=.{1,16}$)(?:(?:[A-Z]?[a-z]*|[A-Z]{0,6})(?:\\d{1,2}|(?:19|20)\\d\\d)' +
    '(?:[A-Z]?[a-z]{0,2}|[A-Z]{0,3})|(?:[A-Z]?[a-z]{0,2}|[A-Z]{0,3})\\d{1,2}' +
    '(?:[A-Z]?[a-z]{0,8}|[A-Z]{0,8}))$',
)
const WORD_MAX = 24
const CAPITALS_MAX = 14
const VOWELS_FROM = 10

/** Whether letters are a word, or a few words without blanks between them. */
function isWord(letters: string): boolean {
  if (!/^[A-Za-z]+$/.test(letters)) return letters.length <= 2 * WORD_MAX
  if (letters.length > WORD_MAX) return false
  if (/^[A-Z]+$/.test(letters) ? letters.length > CAPITALS_MAX : !usualCase.test(letters))
    return false
  return letters.length < VOWELS_FROM || isPronounceable(letters)
}

/** Whether letters have enough vowels, and few of the rarest letters. */
function isPronounceable(letters: string): boolean {
  const count = (shape: RegExp) => letters.match(shape)?.length ?? 0
  return (
    count(/[aeiouy]/gi) >= letters.length / 5 && count(/[jqxz]/gi) <= 2 && !/q[^u]/i.test(letters)
  )
}

/** One word, or several of which each begins with a capital. */
const usualCase = /^(?:[A-Z]?[a-z]+|[A-Za-z]?[a-z]*(?:[A-Z][a-z]{2,}){1,4})$/

/** The minimum number of characters from which mixed letters and digits in a text are no word. */
const MIXED_MIN = 8
const DIGITS_MIN = 7
const LETTERS_MIN = 24

/**
 * Whether letters and digits in a text for people look machine-made: a long number that is no date,
 * hexadecimal digits, mixed letters and digits, or letters in an order that no words have.
 */
export function isMachineMade(run: string): boolean {
  const { length } = run
  if (/^\d+$/.test(run)) return length >= DIGITS_MIN && !date.test(run)
  if (!/\d/.test(run)) {
    if (/^[A-Z]{10,}$/.test(run)) return !isPronounceable(run)
    const rises = run.match(/[a-z](?=[A-Z])/g)?.length ?? 0
    return (
      (length >= MIXED_MIN && rises >= 3 && rises > length / 6) ||
      (length >= LETTERS_MIN && isScrambled(run))
    )
  }
  return length >= MIXED_MIN && (isHex(run) || !numberedWord.test(run))
}

/** Whether letters and digits are in an order that no words have: hexadecimal, or in mixed case. */
export function isScrambled(run: string): boolean {
  if (isHex(run)) return true
  const turns = run.match(/[a-z](?=[A-Z])|[A-Z](?=[a-z])/g)?.length ?? 0
  return turns > run.length / 4
}

function isHex(run: string): boolean {
  return /^(?=.*\d)(?=.*[a-f])[\da-f]+$|^(?=.*\d)(?=.*[A-F])[\dA-F]+$/.test(run)
}

/** How many digits of a mailbox name may be shown. */
const MAILBOX_DIGITS_MAX = 8

/** Whether a piece of a mailbox name is shown: a word, and numbers unless there are many. */
export function mailboxPieces(local: string): (piece: string) => boolean {
  const hasMany = local.replace(/\D+/g, '').length > MAILBOX_DIGITS_MAX
  return (piece) => (hasMany ? /^\D+$/.test(piece) : true) && isReadable(piece, 'mailbox')
}
