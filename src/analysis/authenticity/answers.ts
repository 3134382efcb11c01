import { houseOf } from '../../mail/domain.ts'
import type { DnsFindings } from '../dns-findings.ts'
import type { DnsAnswer } from '../../world.ts'

/** An answer in the way of Node's `dns.resolve`, as the library wants it. */
export type LibraryAnswer = string[][] | string[]

/** A resolver as the library wants it: rejects with the codes of Node's DNS. */
export type LibraryResolver = (name: string, type: string) => Promise<LibraryAnswer>

/** What was answered to a TXT question; what was not asked is unknown. */
export function textAnswer({ answers }: DnsFindings, name: string): DnsAnswer {
  const key = `TXT ${name.toLowerCase()}`
  if (Object.hasOwn(answers, key)) return answers[key] ?? notAsked
  return notAsked
}

const notAsked: DnsAnswer = { is: 'unknown', why: 'It was not asked for.' }

/**
 * The answers as a resolver. Of several records the key or policy is chosen, not whichever comes
 * first. Policies of public suffixes are not asked for, so they count as absent; addresses are
 * asked for only to know whether a domain exists, and that is assumed.
 */
export function answersAsResolver(findings: DnsFindings): LibraryResolver {
  return async (name, type) => {
    if (type !== 'TXT') return []
    const policyOf = /^_dmarc\.(.*)$/.exec(name)?.[1]
    if (policyOf !== undefined && houseOf(policyOf) === undefined) throw dnsError('ENOTFOUND')
    const answer = textAnswer(findings, name)
    if (answer.is === 'none') throw dnsError('ENOTFOUND')
    if (answer.is === 'unknown') throw dnsError('ETIMEOUT')
    if (policyOf !== undefined) return answer.records.map((record) => [record])
    const key = answer.records.find((record) => /(^|;)\s*p\s*=/.test(record))
    return [[key ?? answer.records[0] ?? '']]
  }
}

/** A failure as Node's DNS names it. */
export function dnsError(code: 'ENOTFOUND' | 'ETIMEOUT'): Error {
  return Object.assign(new Error(code), { code })
}
