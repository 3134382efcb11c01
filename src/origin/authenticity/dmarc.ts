import { domainToASCII } from 'node:url'
import { dmarc } from 'mailauth/lib/dmarc/index.js'
import { domainOf, parseMailboxes, registrableDomainOf } from '../../mail/address.ts'
import { decodeHeaderText } from '../../mail/encoded-word.ts'
import { fieldValues, type HeaderField } from '../../mail/header.ts'
import type { DnsFindings, SpfFinding } from './dns-findings.ts'
import type { DkimFinding, LibraryResolver } from './dkim.ts'

const labelsMax = 8

/**
 * The names at which a DMARC policy may be published (RFC 9989 §4.10): `_dmarc.` before the
 * author's domain and its parents, and before the identities that belong to the same owner. Ends at
 * the registrable domain: policies of public suffixes are not queried.
 */
export function policyNames(
  author: string | undefined,
  identities: readonly (string | undefined)[],
): string[] {
  const registrable = registrableDomainOf(author)
  if (registrable === undefined) return []
  const related = identities.filter(
    (domain) => domain !== undefined && registrableDomainOf(domain) === registrable,
  )
  return [...new Set(related.flatMap((domain) => lineage(domain ?? '', registrable)))].map(
    (domain) => `_dmarc.${domain}`,
  )
}

/**
 * A domain and its parents down to the registrable one; skips parents of more than seven labels.
 */
function lineage(domain: string, registrable: string): string[] {
  const labels = domain.split('.')
  const least = registrable.split('.').length
  const all = labels.map((_, index) => labels.slice(index).join('.'))
  return all.filter((name, index) => {
    const count = labels.length - index
    return count >= least && (name === domain || count < labelsMax)
  })
}

/**
 * Whether the message is authenticated for the author's domain (DMARC, RFC 9989). `none`: the
 * domain publishes no policy, or the message does not name exactly one author domain. `unknown`:
 * the result depends on missing information: a DNS answer, the return path, or the host that handed
 * the message over.
 */
export type DmarcFinding = {
  result: 'pass' | 'fail' | 'none' | 'unknown'
  /** The action that the domain requests from receivers for a message that fails. */
  policy: 'none' | 'quarantine' | 'reject' | null
  /** Where the policy is published, in lower case. */
  domain: string | null
  /** The checks that passed for the author's domain. */
  alignedBy: ('dkim' | 'spf')[]
}

type Evidence = {
  fields: readonly HeaderField[]
  dkim: readonly DkimFinding[]
  dns: DnsFindings
  resolver: LibraryResolver
}

const noPolicy: DmarcFinding = { result: 'none', policy: null, domain: null, alignedBy: [] }

/**
 * Evaluates DMARC from the results of SPF and of the signatures, and the policies that were found.
 */
export async function checkDmarc({ fields, dkim, dns, resolver }: Evidence): Promise<DmarcFinding> {
  const from = fieldValues(fields, 'from')
  const authors = parseMailboxes(from[0] ?? '').flatMap(({ address }) => asciiDomain(address) ?? [])
  const found = await dmarc({
    headerFrom: authors,
    fromFields: from.length,
    spfDomains: dns.spf?.result === 'pass' ? [dns.spf.domain] : [],
    dkimDomains: dkim.filter(({ result }) => result === 'pass').map(({ domain }) => ({ domain })),
    resolver: resolver as never,
  })
  if (!found) return noPolicy
  const { status, alignment } = found
  if (status.result === 'none') return noPolicy
  // When no policy could be queried, neither the alignment nor the policy is known.
  const alignedBy: DmarcFinding['alignedBy'] = []
  if (alignment?.dkim.result !== undefined) alignedBy.push('dkim')
  if (alignment?.spf.result !== undefined) alignedBy.push('spf')
  const policy = policies.find((known) => known === found.policy) ?? null
  const domain = found.policyDomain ?? null
  if (status.result === 'pass') return { result: 'pass', policy, domain, alignedBy }
  const isFail = status.result === 'fail' && !mightPass(authors[0], dkim, dns.spf, fields)
  return { result: isFail ? 'fail' : 'unknown', policy, domain, alignedBy }
}

const policies = ['none', 'quarantine', 'reject'] as const

/** Whether missing information could have made the message pass. */
function mightPass(
  author: string | undefined,
  dkim: readonly DkimFinding[],
  spf: SpfFinding | undefined,
  fields: readonly HeaderField[],
): boolean {
  if (dkim.some(({ result, aligned }) => aligned && result === 'temperror')) return true
  if (!spf || fieldValues(fields, 'return-path').length === 0) return true
  return (
    spf.result === 'temperror' && registrableDomainOf(spf.domain) === registrableDomainOf(author)
  )
}

function asciiDomain(address: string): string | undefined {
  const domain = domainOf(address)
  return domain === undefined ? undefined : domainToASCII(decodeHeaderText(domain)) || undefined
}
