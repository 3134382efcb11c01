import { registrableDomain } from '../mail/address.ts'
import { brandDomains } from './brands.ts'
import data from './known-sites.json' with { type: 'json' }

/** Popular sites, banks, and often imitated brands: their own pages are never accused. */
const names: ReadonlySet<string> = new Set([
  ...[...data.popular.names, ...data.banks.names].flatMap((line) => line.split(' ')),
  ...brandDomains(),
])

/** Whether a host belongs to a well-known site, whose owner does not publish phishing pages. */
export function isKnownSite(host: string): boolean {
  const domain = registrableDomain(host)
  return names.has(host) || (domain !== undefined && names.has(domain))
}
