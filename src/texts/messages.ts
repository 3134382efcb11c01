import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { type Formatters, IntlMessageFormat } from 'intl-messageformat'
import type account from './en/account.json'
import type actions from './en/admin-actions.json'
import type activity from './en/admin-activity.json'
import type counting from './en/admin-counting.json'
import type dashboard from './en/admin-dashboard.json'
import type adminHealth from './en/admin-health.json'
import type judging from './en/admin-judging.json'
import type marketers from './en/admin-marketers.json'
import type menu from './en/admin-menu.json'
import type names from './en/admin-names.json'
import type adminReport from './en/admin-report.json'
import type outbox from './en/admin-outbox.json'
import type outgoing from './en/admin-outgoing.json'
import type pages from './en/admin-pages.json'
import type people from './en/admin-people.json'
import type queues from './en/admin-queues.json'
import type reputations from './en/admin-reputations.json'
import type search from './en/admin-search.json'
import type secret from './en/admin-secret.json'
import type conditions from './en/conditions.json'
import type done from './en/done.json'
import type feedback from './en/feedback.json'
import type figures from './en/figures.json'
import type help from './en/help.json'
import type letters from './en/letters.json'
import type lists from './en/lists.json'
import type refused from './en/refused.json'
import type reports from './en/reports.json'
import type settings from './en/settings.json'
import type story from './en/story.json'
import type sure from './en/sure.json'
import type words from './en/words.json'

/**
 * The texts of every language: the files `texts/<language>/<subject>.json` map codes to messages in
 * the ICU format, or to lists of messages, such as the steps of a guide. English has every code.
 */
type English = typeof account &
  typeof actions &
  typeof activity &
  typeof adminHealth &
  typeof adminReport &
  typeof conditions &
  typeof counting &
  typeof dashboard &
  typeof done &
  typeof feedback &
  typeof figures &
  typeof help &
  typeof judging &
  typeof letters &
  typeof lists &
  typeof marketers &
  typeof menu &
  typeof names &
  typeof outbox &
  typeof outgoing &
  typeof pages &
  typeof people &
  typeof queues &
  typeof refused &
  typeof reports &
  typeof reputations &
  typeof search &
  typeof secret &
  typeof settings &
  typeof story &
  typeof sure &
  typeof words

/** The locale of each language, for numbers and dates. */
export const locales = { en: 'en-GB', fr: 'fr', ru: 'ru' } as const

/** A language of pages and letters. */
export type Language = keyof typeof locales

/** The code of the result of an action of operators. */
export type DoneKey = keyof typeof done

/** The code of a list of messages. */
export type ListCode = {
  [C in keyof English]: English[C] extends string ? never : C
}[keyof English]

/** The code of a single message. */
export type Code = Exclude<keyof English, ListCode>

/**
 * Values for the placeholders of a message. They are inserted unchanged, so a page must escape the
 * result. A `Date` is formatted in UTC, with `{day, date, long}`.
 */
export type Params = Readonly<Record<string, string | number | Date>>

/** A text for a reader; `lang` is set if it is in English because its translation is missing. */
export type TranslatedText = { text: string; lang: 'en' | undefined }

/**
 * Returns the texts of one language by their codes; texts without a translation are returned in
 * English.
 */
export type Texts = {
  (code: Code, params?: Params): string
  (code: ListCode, params?: Params): string[]
}

/** Codes, each with a message or a list of messages. */
export type Catalog = Readonly<Record<string, string | readonly string[]>>

export type Catalogs = Readonly<Record<Language, Catalog>>

type Format = (params?: Params) => string
/** A compiled message or list, and the language it is in. */
type Found = { format: Format | Format[]; from: Language }

/** Whether a catalog has a text. Translation programs write an empty text for a missing one. */
export function hasText(catalog: Catalog, code: string): boolean {
  if (!Object.hasOwn(catalog, code)) return false
  const texts = [catalog[code] ?? []].flat()
  return texts.length > 0 && texts.every((text) => text.trim() !== '')
}

/** The functions that look up texts in catalogs. A message is compiled when it is first used. */
export function createMessages(catalogs: Catalogs) {
  const known: Record<Language, Map<string, Found>> = {
    en: new Map(),
    fr: new Map(),
    ru: new Map(),
  }
  const find = (language: Language, code: string): Found | undefined => {
    const before = known[language].get(code)
    if (before) return before
    const from = hasText(catalogs[language], code) ? language : 'en'
    const pattern = Object.hasOwn(catalogs[from], code) ? catalogs[from][code] : undefined
    if (pattern === undefined) return undefined
    const format =
      typeof pattern === 'string'
        ? compile(from, pattern)
        : pattern.map((one) => compile(from, one))
    const found = { format, from }
    known[language].set(code, found)
    return found
  }

  const textsIn = (language: Language): Texts =>
    ((code: string, params?: Params) => {
      const found = find(language, code)
      if (!found) throw new Error(`No message has the code "${code}".`)
      const { format } = found
      return typeof format === 'function' ? format(params) : format.map((one) => one(params))
    }) as Texts

  /**
   * The message with a code that may be unknown, such as a code in a stored row. Undefined if no
   * language has it, or if it is a list.
   */
  const message = (
    language: Language,
    code: string,
    params?: Params,
  ): TranslatedText | undefined => {
    const found = find(language, code)
    if (typeof found?.format !== 'function') return undefined
    return { text: found.format(params), lang: found.from === language ? undefined : 'en' }
  }

  return { textsIn, message }
}

const catalogs = { en: readCatalog('en'), fr: readCatalog('fr'), ru: readCatalog('ru') }

export const { textsIn, message } = createMessages(catalogs)

/**
 * Returns the codes that begin with `start`, in order, each with its remainder split at the dots.
 */
export function codesBelow(start: string): { code: string; rest: string[] }[] {
  return Object.keys(catalogs.en)
    .filter((code) => code.startsWith(start))
    .map((code) => ({ code, rest: code.slice(start.length).split('.') }))
}

function readCatalog(language: Language): Record<string, string | string[]> {
  const folder = path.join(import.meta.dirname, language)
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'))
  const subjects = files.map((file) => readFileSync(path.join(folder, file), 'utf8'))
  return Object.assign({}, ...subjects.map((text) => JSON.parse(text) as object))
}

const BEGINS = '_begins'

function compile(language: Language, pattern: string): Format {
  if (!/[{}']/.test(pattern)) return () => pattern
  const options = { ignoreTag: true, formatters }
  const message = new IntlMessageFormat(pattern, locales[language], undefined, options)
  if (!pattern.includes(BEGINS)) return (params) => String(message.format(params))
  return (params = {}) => String(message.format({ ...params, ...beginningsOf(params) }))
}

/**
 * For each parameter `name`, adds a parameter `name_begins`, which is `vowel` or `consonant`, so
 * that French can elide: `{name_begins, select, vowel {d’} other {de }}{name}`.
 */
function beginningsOf(params: Params): Params {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => {
      const isVowel = /^[aeiouàâäéèêëîïôöùûüœæ]/i.test(String(value))
      return [`${name}${BEGINS}`, isVowel ? 'vowel' : 'consonant']
    }),
  )
}

export function number(language: Language, n: number): string {
  return formatters.getNumberFormat(locales[language]).format(n)
}

/** Formats a number with exactly so many digits after the decimal mark. */
export function fixed(language: Language, n: number, digits: number): string {
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits }
  return formatters.getNumberFormat(locales[language], options).format(n)
}

/** Formats a share, 0 to 1, as a percentage. */
export function percent(language: Language, share: number, digits = 1): string {
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits }
  return formatters
    .getNumberFormat(locales[language], { style: 'percent', ...options })
    .format(share)
}

/** Returns the name of a country by its code (ISO 3166). */
export function countryName(language: Language, country: string): string {
  if (!/^[A-Z]{2}$/.test(country)) return country
  return new Intl.DisplayNames([language], { type: 'region' }).of(country) ?? country
}

/** The short names of days, hours, minutes and seconds. */
export const timeUnits: Record<Language, readonly [string, string, string, string]> = {
  en: ['d', 'h', 'min', 's'],
  fr: ['j', 'h', 'min', 's'],
  ru: ['сут', 'ч', 'мин', 'с'],
}
const UNIT_SECONDS = [86_400, 3_600, 60, 1] as const

/** Formats seconds in the two largest units that fit: `3 h 5 min`, `0 s`. */
export function duration(language: Language, seconds: number): string {
  let rest = Math.max(0, Math.floor(seconds))
  const first = UNIT_SECONDS.findIndex((length) => rest >= length)
  if (first < 0) return `0 ${timeUnits[language][3]}`
  const pieces = UNIT_SECONDS.slice(first, first + 2).map((length, index) => {
    const count = Math.floor(rest / length)
    rest -= count * length
    return count > 0 ? `${count} ${timeUnits[language][first + index]}` : ''
  })
  return pieces.filter(Boolean).join(' ')
}

/** Formats with a minus sign, where CLDR has a hyphen, which is too short beside digits. */
class NumberFormat extends Intl.NumberFormat {
  override format = (n: number | bigint | Intl.StringNumericLiteral): string => {
    return super.format(n).replace('-', '−')
  }
}

/**
 * Formats of numbers, of instants in UTC, and of plurals. Each is made once, because that takes
 * long. Groups the digits of all numbers; by default, Russian groups only numbers of five digits or
 * more.
 */
export const formatters: Formatters = {
  getNumberFormat: remembering(
    (locale, options) =>
      new NumberFormat(locale, {
        ...{ useGrouping: true, signDisplay: 'negative' },
        ...options,
      } as Intl.NumberFormatOptions),
  ),
  getDateTimeFormat: remembering(
    (locale, options) => new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...options }),
  ),
  getPluralRules: remembering((locale, options) => new Intl.PluralRules(locale, options)),
}

function remembering<Args extends unknown[], Made>(make: (...args: Args) => Made) {
  const made = new Map<string, Made>()
  return (...args: Args): Made => {
    const key = JSON.stringify(args)
    const known = made.get(key) ?? make(...args)
    made.set(key, known)
    return known
  }
}
