import { registrableDomain } from '../mail/address.ts'
import { plainLine } from '../pieces/disguise/plain-text.ts'
import data from './brands.json' with { type: 'json' }

/** A brand that phishers often imitate, with its registrable domains. */
export type Brand = { name: string; domains: readonly string[] }

const brands = data.map((brand) => ({ brand, words: ` ${plainLine(brand.name)} ` }))
const sites: ReadonlySet<string> = new Set(data.flatMap(({ domains }) => domains))
const WORDS_MAX = 60

/** Returns the brand that a text names, also in look-alike letters. */
export function brandIn(text: string): Brand | undefined {
  const line = ` ${plainLine(text, WORDS_MAX)} `
  return brands.find(({ words }) => line.includes(words))?.brand
}

/** Whether a host belongs to a brand. */
export function isBrandSite(host: string): boolean {
  return sites.has(registrableDomain(host) ?? host)
}

/** The registrable domains of all brands. */
export function brandDomains(): Iterable<string> {
  return sites
}
