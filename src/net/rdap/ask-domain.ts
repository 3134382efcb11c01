import { HOUR_MS } from '../../durations.ts'
import { type AskTools, baseOf } from './ask-registry.ts'
import { arrayOf, objectOf, textsOf } from './contacts.ts'
import { type DomainAnswer, readDomain } from './domain-answer.ts'

/** The RDAP server of each top-level domain, or of a domain below it. */
export type DomainServices = ReadonlyMap<string, URL>

const DOMAINS_MAX = 20_000
const UNUSABLE_MS = HOUR_MS

/**
 * Parses a bootstrap file for domains (RFC 9224 §4). Skips a service without an allowed URL.
 * Undefined for any other JSON.
 */
export function readDomainServices(
  json: unknown,
  mayOpen: (url: URL) => boolean,
): DomainServices | undefined {
  const file = objectOf(json)
  if (!file || !Array.isArray(file['services'])) return undefined
  const pairs = arrayOf(file['services']).flatMap((service) => {
    const [domains, urls] = arrayOf(service)
    const base = baseOf(textsOf(urls), mayOpen)
    if (!base) return []
    return textsOf(domains).map((domain): [string, URL] => [domain.toLowerCase(), base])
  })
  return new Map(pairs.slice(0, DOMAINS_MAX))
}

/** Returns the base URL of the registry of a domain; the longest match counts. */
export function findDomainService(services: DomainServices, domain: string): URL | undefined {
  for (let rest = domain; rest !== ''; rest = rest.slice(rest.indexOf('.') + 1)) {
    const base = services.get(rest)
    if (base || !rest.includes('.')) return base
  }
  return undefined
}

/**
 * Queries the registry at `base` about a domain, and the registrar if the registry refers to it and
 * has no contact.
 */
export async function askDomainRegistry(
  domain: string,
  base: URL,
  deadline: Date,
  { follow, clock }: AskTools,
): Promise<DomainAnswer> {
  const registry = base.hostname
  const answer = await follow(new URL(`domain/${domain}`, base), deadline)
  if (answer.is === 'absent') {
    return { is: 'absent', why: `${registry} does not know the domain ${domain}.` }
  }
  if (answer.is === 'later') {
    const why = `${registry} is not available: ${answer.why}.`
    return { is: 'later', retryAt: answer.retryAt, why }
  }
  const read = answer.is === 'json' ? readDomain(objectOf(answer.json), domain) : undefined
  if (!read) {
    const why = answer.is === 'unusable' ? answer.why : 'the answer is about another domain'
    const retryAt = new Date(clock().getTime() + UNUSABLE_MS)
    return { is: 'later', retryAt, why: `The answer of ${registry} cannot be used: ${why}.` }
  }
  const url = read.contacts.length === 0 ? URL.parse(read.related ?? '') : null
  const more = url ? await follow(url, deadline) : undefined
  const own = more?.is === 'json' ? readDomain(objectOf(more.json), domain) : undefined
  const contacts = own?.contacts ?? read.contacts
  return { is: 'found', domain: { ...read.domain, registry }, contacts }
}
