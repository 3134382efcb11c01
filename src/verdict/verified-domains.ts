import { domainToASCII } from 'node:url'
import type { PlainAnalysis } from '../analysis/analyze.ts'
import { domainOf } from '../mail/address.ts'
import { registrableDomain } from '../mail/domain.ts'

const DOMAINS_MAX = 16

/**
 * The domains that stand behind a message: of its valid signatures, and its author's when that is
 * verified too. Each with the domains above it, down to the registrable one, because who enrolled
 * for that is told of all below.
 */
export function verifiedDomains({
  headers,
  authentication,
}: Pick<PlainAnalysis, 'headers' | 'authentication'>): string[] {
  if (!authentication) return []
  const signers = authentication.dkim.filter(({ result }) => result === 'pass')
  const isAuthors = authentication.dmarc.result === 'pass' || signers.some(({ aligned }) => aligned)
  const author = isAuthors ? domainOf(headers.fromAddress ?? '') : undefined
  const domains = [...signers.map(({ domain }) => domain), ...(author ? [author] : [])]
  const all = new Set(domains.flatMap((domain) => withParents(domainToASCII(domain.toLowerCase()))))
  return [...all].slice(0, DOMAINS_MAX)
}

function withParents(domain: string): string[] {
  const top = registrableDomain(domain)
  if (top === undefined || !domain.endsWith(top)) return []
  const below = domain.slice(0, domain.length - top.length).split('.')
  const extra = below.filter((label) => label !== '')
  return extra.map((_, at) => [...extra.slice(at), top].join('.')).concat(top)
}
