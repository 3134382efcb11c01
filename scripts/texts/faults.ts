import type { Catalogs } from '../../src/texts/messages.ts'
import { basisOf, symbolsOfMessage } from '../../src/verdict/verdict.ts'
import { shippedRules } from '../../test/support/shipped-rules.ts'
import { readAddOn, readCatalogs, translations } from './catalogs.ts'
import { disorderIn, gapsIn, pluralFaults } from './gaps.ts'
import { glossaryFaults } from './glossary.ts'
import { leftInEnglish, typographyFaults } from './style.ts'

/** The texts of the site, and those of the add-on for Thunderbird. */
export type AllTexts = { site: Catalogs; addOn: Catalogs }

/** Reads the texts of this checkout. */
export function readTexts(): AllTexts {
  return { site: readCatalogs(), addOn: readAddOn() }
}

/** Returns the names of the shipped symbols that reporters see; the rules have the English. */
function symbolNames(): string[] {
  const symbols = shippedRules().rules.map(({ symbol, weight, meaning, facts }) => {
    const basis = basisOf(facts.map((fact) => fact.split('.')[0] ?? ''))
    return { name: symbol, weight, meaning, basis }
  })
  return symbolsOfMessage(symbols).map(({ name }) => name)
}

/** Lists words that the glossaries avoid, what the translations lack, and their faults of style. */
export function faultsIn({ site, addOn }: AllTexts): string[] {
  const lists = [Object.keys(site.en), symbolNames()]
  const english = glossaryFaults(site, 'en').map((fault) => `en: ${fault}`)
  const translated = translations.flatMap((language) =>
    [
      ...gapsIn(lists.flat(), site[language]),
      ...lists.flatMap((list) => disorderIn(list, site[language])),
      ...gapsIn(Object.keys(addOn.en), addOn[language]).map((gap) => `add-on: ${gap}`),
      ...pluralFaults(site, language),
      ...leftInEnglish(site, language),
      ...typographyFaults(site, language),
      ...glossaryFaults(site, language),
    ].map((fault) => `${language}: ${fault}`),
  )
  return [...english, ...translated]
}

/** Throws if the translations are not ready for a release. */
export function requireTranslations(texts: AllTexts): void {
  const faults = faultsIn(texts)
  if (faults.length === 0) return
  throw new Error(`The translations are not ready:\n${faults.join('\n')}`)
}
