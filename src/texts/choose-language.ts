import { en, type Words } from './en/words.ts'
import { fr } from './fr/words.ts'
import { ru } from './ru/words.ts'

/** The languages of the public pages. A new one is a catalog and a line here. */
export const catalogs = { en, fr, ru } as const satisfies Record<string, Words>

/** A language we speak. */
export type Language = keyof typeof catalogs

/** What is known of a visitor's languages; each may be absent or nonsense. */
export type LanguageWishes = {
  query: unknown
  /** What the account of who is signed in says. */
  account: string | null | undefined
  cookie: string | undefined
  acceptLanguage: string | undefined
}

const RANGES_MAX = 20

/**
 * The language for an answer: asked for in the address of the page, set in the account, remembered
 * by the browser since it was chosen there, or preferred by it (RFC 9110 §12.5.4). `isStated` is
 * false when the request itself said nothing, as with simple robots: an account says nothing of
 * what a program can read.
 */
export function chooseLanguage(wishes: LanguageWishes): { language: Language; isStated: boolean } {
  if (isLanguage(wishes.query)) return { language: wishes.query, isStated: true }
  const byRequest = ofBrowser(wishes)
  return isLanguage(wishes.account) ? { ...byRequest, language: wishes.account } : byRequest
}

function ofBrowser(wishes: Omit<LanguageWishes, 'query' | 'account'>) {
  if (isLanguage(wishes.cookie)) return { language: wishes.cookie, isStated: true }
  const header = wishes.acceptLanguage
  // A star alone is what libraries send by themselves.
  if (header === undefined || !/[a-z]/i.test(header)) {
    return { language: 'en', isStated: false } as const
  }
  return { language: preferred(header), isStated: true }
}

/** Whether it is a language we speak. */
export function isLanguage(value: unknown): value is Language {
  return typeof value === 'string' && Object.hasOwn(catalogs, value)
}

function preferred(header: string): Language {
  const ranges = header
    .slice(0, 500)
    .split(',', RANGES_MAX)
    .map((range) => {
      const [tag = '', ...parameters] = range.trim().toLowerCase().split(';')
      const quality = parameters.map((text) => /^\s*q=([\d.]+)/.exec(text)?.[1]).find(Boolean)
      return { language: tag.split('-')[0], quality: quality === undefined ? 1 : Number(quality) }
    })
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality)
  return ranges.map(({ language }) => language).find(isLanguage) ?? 'en'
}
