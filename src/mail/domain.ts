import { getDomain } from 'tldts'

const hostCharsMax = 253
const domains = new Map<string, string | undefined>()
const domainsMax = 2000

/**
 * The domain its owner registered: what stands directly under a public suffix, private suffixes
 * not counted (publicsuffix.org, ICANN section). Undefined for addresses, single labels and what
 * is no host name. `host` in any case, a final dot forgiven.
 */
export function registrableDomain(host: string): string | undefined {
  if (host.length > hostCharsMax || !host.includes('.')) return undefined
  const known = domains.get(host)
  if (known !== undefined || domains.has(host)) return known
  const domain = getDomain(host, { allowPrivateDomains: false }) ?? undefined
  if (domains.size >= domainsMax) domains.clear()
  domains.set(host, domain)
  return domain
}
