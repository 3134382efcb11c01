import { domainToASCII } from 'node:url'
import { isPublicName, registrableDomain } from '../../mail/domain.ts'
import { blocksOfRange, isWiderThanAnyHolding, parseBlock } from '../../mail/ip-blocks.ts'
import { readAsn } from '../../mail/ip-tables/reading.ts'
import type { ScopeMatch } from '../who-else.ts'

/** One thing that a consumer wants to be told of. */
export type Scope = Pick<ScopeMatch, 'kind' | 'value'>

/** So many of them one consumer may have. */
export const SCOPES_MAX = 100

const CHARS_MAX = 20_000

/**
 * Reads scopes as people write them, between commas, semicolons, blanks and line ends: CIDR blocks
 * and ranges (`192.0.2.0-192.0.2.255`), `AS64496`, domains. Gives the first words that are none, at
 * most three of them, when there are any.
 */
export function readScopes(text: string): Scope[] | { faults: string[] } {
  const words = text.slice(0, CHARS_MAX).split(/[\s,;]+/)
  const given = words.filter((word) => word !== '')
  const scopes = new Map<string, Scope>()
  const faults: string[] = []
  for (const word of given.slice(0, SCOPES_MAX + 1)) {
    const read = readScope(word)
    if (!read) faults.push(word)
    for (const scope of read ?? []) scopes.set(`${scope.kind} ${scope.value}`, scope)
  }
  if (faults.length > 0) return { faults: faults.slice(0, 3) }
  if (given.length > SCOPES_MAX || scopes.size > SCOPES_MAX) return { faults: ['…'] }
  return [...scopes.values()]
}

/** A scope as people write it. */
export function scopeText({ kind, value }: Scope): string {
  return kind === 'as' ? `AS${value}` : value
}

function readScope(word: string): Scope[] | undefined {
  const asn = /^as/i.test(word) ? readAsn(word) : undefined
  if (asn) return [{ kind: 'as', value: String(asn) }]
  const [first = '', last] = word.split('-')
  const range = last === undefined ? undefined : blocksOfRange(first, last)
  const block = parseBlock(word)
  const blocks = range ?? (block === undefined ? undefined : [block])
  if (blocks) {
    if (blocks.length > SCOPES_MAX || blocks.some(isWiderThanAnyHolding)) return undefined
    return blocks.map((value) => ({ kind: 'range', value }))
  }
  const domain = domainToASCII(word.toLowerCase())
  const isName = isPublicName(domain) || isReservedName(domain)
  return isName && registrableDomain(domain) !== undefined
    ? [{ kind: 'domain', value: domain }]
    : undefined
}

/** Names that nobody has, for examples and for networks of their own (RFC 2606). */
function isReservedName(domain: string): boolean {
  return /^(?:[a-z0-9-]{1,63}\.){1,8}(?:example|test|invalid)$/.test(domain)
}
