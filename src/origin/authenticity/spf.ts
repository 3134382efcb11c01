import { spf } from 'mailauth/lib/spf/index.js'
import { domainOf, registrableDomainOf } from '../../mail/address.ts'
import { pointerQuestion } from '../../mail/dnsbl.ts'
import { fieldValue, type Header, parseHeader } from '../../mail/header.ts'
import { storableText } from '../../mail/text.ts'
import type { Resolve } from '../../world.ts'
import { listHandOver, withoutStamps } from '../forwarders.ts'
import { type OriginClues, walkThrough } from '../origin.ts'
import { type Hop, readHops } from '../hop.ts'
import { findChain } from './arc.ts'
import type { SpfFinding } from './dns-findings.ts'
import { authorDomain, chooseSignatures, dnsError, type LibraryAnswer } from './dkim.ts'
import { policyNames } from './dmarc.ts'

/** The host that handed the message over, and the names it used: the input of SPF (RFC 7208). */
export type SpfQuestion = {
  ip: string
  helo: string | undefined
  /** The return path. Empty when it is null or unknown: then SPF checks the HELO name. */
  mailFrom: string
}

/** The DNS queries to send before a message is analyzed. Bounded: at most about thirty names. */
export type DnsQuestions = {
  /** Names whose TXT records are needed, without duplicates, in lower case. */
  texts: string[]
  /** Undefined when the host that handed the message over is unknown. */
  spf: SpfQuestion | undefined
  /**
   * The name whose PTR record is needed: of the machine that posted to a mailing list, if the
   * message has a signature of the author's domain.
   */
  pointer: string | undefined
  /** For the blacklists: the origin's address. */
  addresses: string[]
  /** For the blacklists: the registrable domains of the author, the return path and the origin. */
  domains: string[]
}

/** Maximum size of the header that is read for names to query: 256 KB are more than enough. */
const headerBytesMax = 256 * 1024
const domainCharsMax = 253

/**
 * The information about the receiving side, and whether to ignore the verdicts that it recorded.
 */
export type DnsOptions = OriginClues & { ignoreStamps: boolean }

/** The DNS queries that a message needs before its analysis. Cheap: reads only the header. */
export function questionsOf(raw: Buffer, options: DnsOptions): DnsQuestions {
  return questionsOfHeader(parseHeader(raw.subarray(0, headerBytesMax)), options)
}

function questionsOfHeader({ fields }: Header, options: DnsOptions): DnsQuestions {
  const walked = options.ignoreStamps ? withoutStamps(fields) : fields
  const hops = readHops(walked)
  const { entry } = walkThrough(walked, hops, options)
  const author = authorDomain(fields)
  const spf = entry && spfQuestion(entry, returnPathOf(fieldValue(fields, 'return-path')))
  const signers = chooseSignatures(fields).chosen.filter(({ fault }) => fault === undefined)
  const chain = findChain(fields, hops)
  const identities = [author, spf && spfDomain(spf), ...signers.map(({ domain }) => domain)]
  const texts = [
    ...signers.map(({ keyName }) => keyName),
    ...(chain.is === 'whole' ? chain.seals.map(({ keyName }) => keyName) : []),
    ...(chain.is === 'whole' ? [chain.messageKeyName] : []),
    ...policyNames(author, identities),
  ]
  const peers = [author, spf && domainOf(spf.mailFrom), entry?.rdns, entry?.helo].map(
    registrableDomainOf,
  )
  return {
    texts: [...new Set(texts)],
    spf,
    pointer: entry && pointerName(listHandOver(entry, hops, walked), author, signers),
    addresses: entry?.fromIp ? [entry.fromIp.text] : [],
    domains: [...new Set(peers.filter((domain) => domain !== undefined))],
  }
}

function pointerName(
  list: ReturnType<typeof listHandOver>,
  author: string | undefined,
  signers: readonly { domain: string }[],
): string | undefined {
  const ip = list?.to.fromIp
  const organization = registrableDomainOf(author)
  const isSigned = signers.some(({ domain }) => registrableDomainOf(domain) === organization)
  if (!ip || organization === undefined || !isSigned) return undefined
  return pointerQuestion(ip)
}

/** The domain that SPF checks, in lower case: that of the return path, else the HELO name. */
export function spfDomain({ mailFrom, helo }: SpfQuestion): string | undefined {
  const domain = domainOf(mailFrom) ?? helo
  return domain === undefined ? undefined : storableText(domain.toLowerCase(), domainCharsMax)
}

function spfQuestion(entry: Hop, mailFrom: string): SpfQuestion | undefined {
  return entry.fromIp && { ip: entry.fromIp.text, helo: entry.helo, mailFrom }
}

/** The address without its angle brackets; empty for `<>`, and for text that is not an address. */
function returnPathOf(value = ''): string {
  const address = /<([^<>]*)>/.exec(value)?.[1] ?? value
  return address.length <= 320 && address.includes('@') ? address.trim() : ''
}

/**
 * Maximum numbers of records that are used from one answer: SPF policies, and records of other
 * types.
 */
const policiesMax = 10
const recordsMax = 100
/**
 * Maximum length of a policy in characters; legitimate policies are shorter. A hostile policy of 60
 * KB would block the thread that sends the queries for 10 to 25 ms.
 */
const policyCharsMax = 4_096

const dnsTypes = ['A', 'AAAA', 'MX', 'PTR', 'TXT'] as const

/**
 * Evaluates SPF (RFC 7208 §4) with its limits: ten terms that query the DNS, two void answers. A
 * missing DNS answer gives `temperror`; a policy of more than 4,096 characters gives `permerror`.
 * Undefined when there is no name to check.
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
    // Without this, the library would request the name of this machine from the operating system.
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
  if (dnsType === 'TXT') return policiesOf(answer.records).map((record) => [record])
  const records = answer.records.slice(0, recordsMax)
  if (dnsType === 'MX') return records.map((exchange, priority) => ({ exchange, priority }))
  return records
}

/** The records that the library evaluates (RFC 7208 §4.5). Throws when one is too long. */
function policiesOf(records: readonly string[]): string[] {
  const policies = records.filter((record) => /^v=spf1(?: |$)/i.test(record)).slice(0, policiesMax)
  if (policies.every(({ length }) => length <= policyCharsMax)) return policies
  const text = 'The SPF record requires too many look-ups.'
  throw Object.assign(new Error(text), { spfResult: { error: 'permerror', text } })
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
