import { type Catalog, type Catalogs, hasText, type Language } from '../../src/texts/messages.ts'
import { elementsOf, messagesOf, PLURAL } from './catalogs.ts'

/** Returns the codes that a translation lacks, and those that it should not have. */
export function gapsIn(codes: readonly string[], catalog: Catalog): string[] {
  const known = new Set(codes)
  return [
    ...codes.filter((code) => !hasText(catalog, code)).map((code) => `${code} is missing`),
    ...Object.keys(catalog)
      .filter((code) => !known.has(code))
      .map((code) => `${code} is not a text of English`),
  ]
}

/** Returns the first text of a translation that is elsewhere than in English. */
export function disorderIn(codes: readonly string[], catalog: Catalog): string[] {
  const known = new Set(codes)
  const expected = codes.filter((code) => Object.hasOwn(catalog, code))
  const own = Object.keys(catalog).filter((code) => known.has(code))
  const first = own.find((code, place) => code !== expected[place])
  return first === undefined ? [] : [`${first} is not where it is in English`]
}

/** Returns the messages of a language with a plural that lacks a form, or has one too many. */
export function pluralFaults(catalogs: Catalogs, language: Language): string[] {
  const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions()
  const needed = pluralCategories.toSorted().join(', ')
  return messagesOf(catalogs[language]).flatMap(([code, messages]) =>
    messages.flatMap(elementsOf).flatMap((element) => {
      if (element.type !== PLURAL || !('options' in element)) return []
      const forms = Object.keys(element.options).filter((form) => !form.startsWith('='))
      const has = forms.toSorted().join(', ')
      return has === needed ? [] : [`${code} has a plural with ${has} instead of ${needed}`]
    }),
  )
}
