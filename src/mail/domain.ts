import { getDomain, parse } from 'tldts'

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

/** A host's house: its registrable domain, where there is a host and it has one. */
export function houseOf(host: string | undefined): string | undefined {
  return host === undefined ? undefined : registrableDomain(host)
}

/**
 * Whether a host name, in lower case, is one that anybody on the Internet may have: its last label
 * is a public top level domain, and something is registered below the public suffix. A final dot
 * makes it none.
 */
export function isPublicName(host: string): boolean {
  return publicDomain(host) !== undefined
}

/** What is registered in such a name. */
export function publicDomain(host: string): string | undefined {
  if (host.length > hostCharsMax || host.endsWith('.')) return undefined
  const { domain, isIcann } = parse(host, { allowPrivateDomains: false })
  return isIcann === true ? (domain ?? undefined) : undefined
}

/**
 * Whether a host name, in lower case, is one below which strangers to each other have theirs: a
 * public suffix, private ones counted (publicsuffix.org, both sections).
 */
export function isSharedSuffix(host: string): boolean {
  return host.length <= hostCharsMax && parse(host, { allowPrivateDomains: true }).domain === null
}
