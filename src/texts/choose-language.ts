import { type Language, locales } from './messages.ts'

/** Language preferences of a visitor; each may be absent or invalid. */
export type LanguageWishes = {
  query: unknown
  /** Setting in the account of the signed-in user. */
  account: string | null | undefined
  cookie: string | undefined
  acceptLanguage: string | undefined
}

const RANGES_MAX = 20

/**
 * Chooses the language of a response: from the query of the URL, the account, the cookie that
 * stores an earlier choice, or the browser's preferences (RFC 9110 §12.5.4), in this order.
 * `isStated` is false when the request itself states no language, as with simple robots. The
 * account does not count as a statement of the request, because it does not show whether a program
 * can read the language.
 */
export function chooseLanguage(wishes: LanguageWishes): { language: Language; isStated: boolean } {
  if (isLanguage(wishes.query)) return { language: wishes.query, isStated: true }
  const byRequest = ofBrowser(wishes)
  return isLanguage(wishes.account) ? { ...byRequest, language: wishes.account } : byRequest
}

function ofBrowser(wishes: Omit<LanguageWishes, 'query' | 'account'>) {
  if (isLanguage(wishes.cookie)) return { language: wishes.cookie, isStated: true }
  const header = wishes.acceptLanguage
  // HTTP libraries send a single `*` by default.
  if (header === undefined || !/[a-z]/i.test(header)) {
    return { language: 'en', isStated: false } as const
  }
  return { language: preferred(header), isStated: true }
}

export function isLanguage(value: unknown): value is Language {
  return typeof value === 'string' && Object.hasOwn(locales, value)
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
