import type { MessageBody } from '../mail/message-body.ts'
import { plainLine, type PlainText, withoutMarks, wordsOf } from './disguise/plain-text.ts'
import { htmlView, type HtmlView } from './html-view.ts'

/**
 * The body of a message as its reader sees it. Parsed once, for the shingles, the fingerprints and
 * the features.
 */
export type BodyView = {
  html: HtmlView
  /** The visible text, unchanged. */
  written: string
  /** The visible text without invisible characters, and with compatibility forms replaced. */
  text: string
  shown: PlainText
  /** The words of the text/plain part on one line, if the HTML part is the visible one. */
  hidden: string
}

const textCharsMax = 64 * 1024
const wordsMax = 4000
const hiddenWordsMax = 300
const hiddenCharsMax = 4096
/**
 * Minimum number of words of a visible HTML part. With fewer words it is mainly a picture, and the
 * plain text is used.
 */
const shownWordsMin = 4

/** Views a body: the HTML part is the visible one, unless it has too few words. */
export function viewBody(
  { text, html }: Pick<MessageBody, 'text' | 'html'>,
  view: HtmlView = htmlView(html),
): BodyView {
  const ofHtml = viewText(view.text)
  if (html !== '' && (ofHtml.shown.wordEnds.length >= shownWordsMin || text.trim() === '')) {
    const hidden = text === '' ? '' : plainLine(text, hiddenWordsMax, hiddenCharsMax)
    return { html: view, ...ofHtml, hidden }
  }
  return { html: view, ...viewText(text), hidden: '' }
}

function viewText(whole: string) {
  const written = whole.slice(0, textCharsMax)
  const text = withoutMarks(written)
  return { written, text, shown: wordsOf(text, wordsMax) }
}

/**
 * Returns the mail addresses in a text, in lower case, without duplicates, at most 20; also
 * obfuscated ones such as `user (at) host [dot] example`. Linear time. `text` must be without
 * invisible characters.
 */
export function findMailAddresses(text: string): string[] {
  const plain = /[[({]\s{0,3}(?:at|@|dot)\s{0,3}[\])}]/i.test(text) ? undisguised(text) : text
  const found = new Set<string>()
  let at = plain.indexOf('@')
  for (let count = 0; at >= 0 && count < CONTACT_CANDIDATES_MAX; count++) {
    const start = localStart(plain, at)
    const end = domainEnd(plain, at)
    if (start < at && end > at) found.add(plain.slice(start, end).toLowerCase())
    if (found.size >= contactsMax) break
    at = plain.indexOf('@', at + 1)
  }
  return [...found]
}

/**
 * Returns the telephone numbers in a text as digits, with country code if written with it or in the
 * North American format; without duplicates, at most 20. Excludes dates, IP addresses and amounts.
 * An O or l among the digits counts as the digit. Linear time. `text` must be without invisible
 * characters.
 */
export function findTelephones(text: string): string[] {
  const found = new Set<string>()
  let count = 0
  for (const { 0: written, index } of text.matchAll(telephone)) {
    if (++count > CONTACT_CANDIDATES_MAX || found.size >= contactsMax) break
    if (isPartOfMore(text, index, index + written.length)) continue
    const number = readTelephone(written)
    if (number !== undefined) found.add(number)
  }
  return [...found]
}

/** Returns the bank accounts (IBAN, ISO 13616) in a text with valid check digits, at most 20. */
export function findBankAccounts(text: string): string[] {
  const found = new Set<string>()
  let count = 0
  for (const [written] of text.matchAll(iban)) {
    if (++count > CONTACT_CANDIDATES_MAX || found.size >= contactsMax) break
    const account = written.replaceAll(' ', '').toUpperCase()
    if (isIban(account)) found.add(account)
  }
  return [...found]
}

const contactsMax = 20
const CONTACT_CANDIDATES_MAX = 500
const localCharsMax = 64
const domainCharsMax = 253

function undisguised(text: string): string {
  return text
    .replaceAll(/\s{0,3}[[({]\s{0,3}(?:at|@)\s{0,3}[\])}]\s{0,3}/gi, '@')
    .replaceAll(/\s{0,3}[[({]\s{0,3}(?:dot|\.)\s{0,3}[\])}]\s{0,3}/gi, '.')
}

function localStart(text: string, at: number): number {
  let start = at
  while (start > at - localCharsMax && /[\w.+%=-]/.test(text[start - 1] ?? '')) start--
  while (text[start] === '.' && start < at) start++
  return start
}

/**
 * Returns the position after the domain that follows the `@` at `at`. The domain must contain a
 * dot; otherwise returns `at`.
 */
function domainEnd(text: string, at: number): number {
  let end = at + 1
  while (end < at + domainCharsMax && /[a-z0-9.-]/i.test(text[end] ?? '')) end++
  while (end > at && /[.-]/.test(text[end - 1] ?? '')) end--
  return /^[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z][a-z0-9-]*$/i.test(text.slice(at + 1, end)) ? end : at
}

/** A run of digits and separators, no longer than a telephone number. */
const telephone = /(?:\+\s?|\()?\d[\dOol()\u2010-\u2015 \t./\u00a0-]{6,24}[\dOol]/g

function isPartOfMore(text: string, start: number, end: number): boolean {
  return /[\w@.,$€£-]/.test(text[start - 1] ?? '') || /[\w@%]/.test(text[end] ?? '')
}

function readTelephone(written: string): string | undefined {
  if (/[a-z]/i.test(written) && !/\d[Ool]|[Ool]\d/.test(written)) return undefined
  const plain = written.replace(/[Oo]/g, '0').replace(/l/g, '1').trim()
  if (isDateOrAddress(plain)) return undefined
  const isInternational = /^(?:\+|00[1-9])/.test(plain)
  const digits = plain.replace(/\(0\)/, '').replace(/\D+/g, '')
  if (digits.length < 7 || digits.length > 15) return undefined
  if (isInternational) return digits.replace(/^00/, '')
  const isNorthAmerican = /^1?[2-9]\d{2}[2-9]\d{6}$/.test(digits)
  const parts = plain.split(/\D+/).filter((part) => part !== '').length
  if (parts < 2 && !isNorthAmerican) return undefined
  if (isNorthAmerican) return parts < 2 ? undefined : digits.padStart(11, '1')
  return digits.startsWith('0') && digits.length >= 9 && parts <= 6 ? digits : undefined
}

function isDateOrAddress(plain: string): boolean {
  return (
    /^\d{1,3}(?:\.\d{1,3}){3}$/.test(plain) ||
    /^(?:\d{1,2}[./-]){2}(?:19|20)?\d{2}\b/.test(plain) ||
    /^(?:19|20)\d{2}[./-]\d{1,2}[./-]\d{1,2}/.test(plain) ||
    /^\d{1,3}(?:[.\s]\d{3})+$/.test(plain) ||
    /^\d{4}(?:[ -]\d{4}){3}$/.test(plain)
  )
}

const iban =
  /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])/g

/** Checks the check digits by ISO 7064 MOD 97-10. */
function isIban(account: string): boolean {
  let rest = 0
  for (const char of account.slice(4) + account.slice(0, 4)) {
    for (const digit of Number.parseInt(char, 36).toString())
      rest = (rest * 10 + Number(digit)) % 97
  }
  return account.length >= 15 && account.length <= 34 && rest === 1
}
