import { spf } from 'mailauth/lib/spf/index.js'
import type { Resolve } from '../../world.ts'
import type { SpfFinding } from '../dns-findings.ts'
import { dnsError } from './answers.ts'
import type { LibraryAnswer } from './answers.ts'
import { spfDomain } from './questions.ts'
import type { SpfQuestion } from './questions.ts'

const dnsTypes = ['A', 'AAAA', 'MX', 'PTR', 'TXT'] as const

/**
 * Judges by SPF (RFC 7208 §4), with its limits: ten terms that ask the DNS, two answers that are
 * void. What the DNS does not tell is `temperror`. Undefined when there is no name to judge.
 */
export async function checkSpf(
  question: SpfQuestion,
  resolve: Resolve,
): Promise<SpfFinding | undefined> {
  const domain = spfDomain(question)
  if (domain === undefined) return undefined
  const { status } = await spf({
    sender: question.mailFrom,
    ip: question.ip,
    helo: question.helo ?? domain,
    // Otherwise the library would ask the operating system for the name of this machine.
    mta: 'signalpost.invalid',
    resolver: (name, type) => ask(resolve, name, type) as Promise<string[][]>,
    strict: true,
  })
  return { ip: question.ip, result: resultOf(status.result), domain }
}

async function ask(resolve: Resolve, name: string, type: string): Promise<LibraryAnswer | Mx[]> {
  const dnsType = dnsTypes.find((known) => known === type)
  if (!dnsType) throw dnsError('ENOTFOUND')
  const answer = await resolve(name, dnsType)
  if (answer.is === 'none') throw dnsError('ENOTFOUND')
  if (answer.is === 'unknown') throw dnsError('ETIMEOUT')
  if (dnsType === 'TXT') return answer.records.map((record) => [record])
  if (dnsType === 'MX') return answer.records.map((exchange, priority) => ({ exchange, priority }))
  return [...answer.records]
}

type Mx = { exchange: string; priority: number }

const results: readonly SpfFinding['result'][] = [
  'pass',
  'fail',
  'softfail',
  'neutral',
  'none',
  'temperror',
  'permerror',
]

function resultOf(word: string): SpfFinding['result'] {
  return results.find((known) => known === word) ?? 'permerror'
}
