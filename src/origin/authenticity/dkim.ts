import { domainToASCII } from 'node:url'
import type { LibraryResult } from 'mailauth/lib/dkim/dkim-verifier.js'
import { domainOf, registrableDomainOf } from '../../mail/address.ts'
import { parseCfblAddress } from '../../mail/cfbl.ts'
import { parseTagList, type TagList } from '../../mail/dkim-signature.ts'
import { fieldValue, fieldValues, type HeaderField } from '../../mail/header.ts'
import { authorAddress } from '../../mail/message.ts'
import type { DnsAnswer } from '../../world.ts'
import type { DnsFindings } from './dns-findings.ts'

/** An answer in the form of Node's `dns.resolve`, which the library requires. */
export type LibraryAnswer = string[][] | string[]

/** A resolver in the form that the library requires: rejects with the error codes of Node's DNS. */
export type LibraryResolver = (name: string, type: string) => Promise<LibraryAnswer>

/** The answer to a TXT query; unknown if the query was not sent. */
export function textAnswer({ answers }: DnsFindings, name: string): DnsAnswer {
  const key = `TXT ${name.toLowerCase()}`
  if (Object.hasOwn(answers, key)) return answers[key] ?? notAsked
  return notAsked
}

const notAsked: DnsAnswer = { is: 'unknown', why: 'The signature was not checked.' }

/**
 * Presents the answers as a resolver. Of several records, it returns the key or the policy, even if
 * another record comes first. Policies of public suffixes are not queried, so they count as absent.
 * The library queries addresses only to check that a domain exists, which is assumed.
 */
export function answersAsResolver(findings: DnsFindings): LibraryResolver {
  return async (name, type) => {
    if (type !== 'TXT') return []
    const policyOf = /^_dmarc\.(.*)$/.exec(name)?.[1]
    if (policyOf !== undefined && registrableDomainOf(policyOf) === undefined)
      throw dnsError('ENOTFOUND')
    const answer = textAnswer(findings, name)
    if (answer.is === 'none') throw dnsError('ENOTFOUND')
    if (answer.is === 'unknown') throw dnsError('ETIMEOUT')
    if (policyOf !== undefined) return answer.records.map((record) => [record])
    const key = answer.records.find((record) => /(^|;)\s*p\s*=/.test(record))
    return [[key ?? answer.records[0] ?? '']]
  }
}

/** An error with a code of Node's DNS. */
export function dnsError(code: 'ENOTFOUND' | 'ETIMEOUT'): Error {
  return Object.assign(new Error(code), { code })
}

/** A DKIM signature (RFC 6376 §3.5), parsed as far as needed to know who signed. */
export type Signature = {
  field: HeaderField
  /** In lower case. */
  domain: string
  selector: string
  keyName: string
  /** Whether the domain and the author's domain have the same owner. */
  isAligned: boolean
  /** The names of the fields that the signature covers, in lower case, with repetitions. */
  covered: readonly string[]
  /** Why every verifier would reject the signature; undefined when its form is valid. */
  fault: DkimReason | undefined
}

const fieldsReadMax = 50
/**
 * Maximum length of a signature in characters. Real ones have about 1,000; a very long one makes
 * verifiers compare names for seconds.
 */
export const signatureCharsMax = 8 * 1024
/**
 * Maximum numbers of signatures to verify. The author's own matter most: one for each algorithm.
 */
const alignedMax = 2
const othersMax = 2

/**
 * Chooses the signatures worth verifying, from the top and the author's own first: at most two of
 * the author's registrable domain, and two others, preferably of domains to which the message
 * requests complaints (RFC 9477). `passedOver` counts the rest.
 */
export function chooseSignatures(fields: readonly HeaderField[]): {
  chosen: Signature[]
  passedOver: number
} {
  const all = fields.filter(({ key }) => key === 'dkim-signature')
  const registrable = registrableDomainOf(authorDomain(fields))
  const read = all
    .slice(0, fieldsReadMax)
    .map((field) => readSignature(field, registrable))
    .filter((signature) => signature !== undefined)
  const others = read.filter(({ isAligned }) => !isAligned)
  const requested = fieldValues(fields, 'cfbl-address')
    .slice(0, fieldsReadMax)
    .flatMap(complaintDomain)
  const rank = ({ domain }: Signature) =>
    Number(requested.includes(registrableDomainOf(domain) ?? ''))
  const chosen = [
    ...read.filter(({ isAligned }) => isAligned).slice(0, alignedMax),
    ...others.toSorted((one, other) => rank(other) - rank(one)).slice(0, othersMax),
  ]
  return { chosen, passedOver: all.length - chosen.length }
}

function complaintDomain(value: string): string[] {
  const asked = parseCfblAddress(value)
  return asked === undefined ? [] : [registrableDomainOf(domainOf(asked.address)) ?? '']
}

/** The domain of the first author in lower case, in ASCII; undefined when there is none. */
export function authorDomain(fields: readonly HeaderField[]): string | undefined {
  const address = authorAddress(fieldValue(fields, 'from')?.slice(0, signatureCharsMax) ?? '')
  const domain = address === null ? undefined : domainOf(address)
  return domain === undefined ? undefined : domainToASCII(domain) || undefined
}

/** The tags, domain and key of a signature or seal; undefined when they cannot be parsed. */
export function readSigner(
  field: HeaderField,
): { tags: TagList; domain: string; selector: string; keyName: string } | undefined {
  if (field.value.length > signatureCharsMax) return undefined
  const tags = parseTagList(field.value)
  const domain = tags?.get('d')?.toLowerCase()
  const selector = tags?.get('s')?.toLowerCase()
  if (!tags || domain === undefined || selector === undefined) return undefined
  const keyName = `${selector}._domainkey.${domain}`
  if (!isHostName(domain) || !isHostName(`${selector}.x`) || keyName.length > 253) return undefined
  return { tags, domain, selector, keyName }
}

function readSignature(field: HeaderField, registrable: string | undefined): Signature | undefined {
  const signer = readSigner(field)
  if (!signer) return undefined
  const { tags, domain, selector, keyName } = signer
  const isAligned = registrable !== undefined && registrableDomainOf(domain) === registrable
  const covered = coveredBy(tags)
  return { field, domain, selector, keyName, isAligned, covered, fault: faultOf(tags, covered) }
}

function coveredBy(tags: TagList): string[] {
  const names = (tags.get('h') ?? '').toLowerCase().split(':')
  return names.map((name) => name.trim())
}

function faultOf(tags: TagList, covered: readonly string[]): DkimReason | undefined {
  const algorithm = (tags.get('a') ?? '').toLowerCase()
  if (algorithm === 'rsa-sha1') return 'sha1'
  if (!['rsa-sha256', 'ed25519-sha256'].includes(algorithm)) return 'unknown-algorithm'
  if (tags.get('v') !== '1') return 'unknown-version'
  const canons = (tags.get('c') ?? 'simple/simple').toLowerCase().split('/')
  if (!canons.every((canon) => canon === 'relaxed' || canon === 'simple')) {
    return 'unknown-canonicalization'
  }
  if (!covered.includes('from')) return 'from-not-covered'
  return undefined
}

const label = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?'
const hostName = new RegExp(`^${label}(?:\\.${label})+$`)

/** Whether a name can be queried in the DNS; underscores occur in selectors. */
function isHostName(name: string): boolean {
  return name.length <= 253 && hostName.test(name)
}

/**
 * The result for a signature (RFC 6376) in the terms of RFC 8601 §2.7.1. `fail` does not prove a
 * forgery: a mail program or mailing list may have changed the message. `permerror`: the key is
 * missing or unusable. `policy`: the signature covers too little, or its key is too weak.
 * `neutral`: it cannot be evaluated.
 */
type DkimResult = 'pass' | 'fail' | 'neutral' | 'policy' | 'temperror' | 'permerror'

type DkimReason =
  | 'sha1'
  | 'unknown-algorithm'
  | 'unknown-version'
  | 'unknown-canonicalization'
  | 'from-not-covered'
  | 'key-missing'
  | 'key-not-looked-up'
  | 'key-revoked'
  | 'malformed'
  | 'unchanged'
  | 'body-partly-covered'
  | 'key-weak'
  | 'not-verifiable'
  | 'body-changed'
  | 'header-changed'
  | 'expired'
  | 'expires-before-creation'
  | 'key-malformed'
  | 'key-of-other-algorithm'
  | 'key-not-for-mail'

/** The result for one signature. */
export type DkimFinding = {
  /** In lower case. */
  domain: string
  selector: string
  result: DkimResult
  /** Whether the domain and the author's domain have the same owner. */
  aligned: boolean
  why: DkimReason
}

/** The result that is known without reading the message; undefined when it must be read. */
export function judgeUnread(signature: Signature, dns: DnsFindings): DkimFinding | undefined {
  const { fault, keyName } = signature
  if (fault !== undefined) return finding(signature, 'neutral', fault)
  const answer = textAnswer(dns, keyName)
  if (answer.is === 'none') return finding(signature, 'permerror', 'key-missing')
  if (answer.is === 'unknown') {
    return finding(signature, 'temperror', 'key-not-looked-up')
  }
  if (!answer.records.some((record) => /(^|;)\s*p\s*=\s*[^;\s]/.test(record))) {
    return finding(signature, 'permerror', 'key-revoked')
  }
  return undefined
}

/**
 * The result for a signature that was read. `read` is undefined when the library did not evaluate
 * it.
 */
export function judgeRead(signature: Signature, read: LibraryResult | undefined): DkimFinding {
  if (!read) return finding(signature, 'neutral', 'malformed')
  const { result, comment, underSized } = read.status
  if (result === 'pass') {
    return underSized === undefined
      ? finding(signature, 'pass', 'unchanged')
      : finding(signature, 'policy', 'body-partly-covered')
  }
  if (result === 'policy') return finding(signature, 'policy', 'key-weak')
  const [known, why] = reasons.get(comment ?? '') ?? ['neutral', 'not-verifiable']
  return finding(signature, known, why)
}

/** The comments of the library, and the results that they mean. */
const reasons: ReadonlyMap<string, readonly [DkimResult, DkimReason]> = new Map([
  ['body hash did not verify', ['fail', 'body-changed']],
  ['bad signature', ['fail', 'header-changed']],
  ['expired', ['neutral', 'expired']],
  ['invalid expiration', ['neutral', 'expires-before-creation']],
  ['invalid public key', ['permerror', 'key-malformed']],
  ['unknown key version', ['permerror', 'key-malformed']],
  ['unknown key type', ['permerror', 'key-malformed']],
  ['inappropriate hash algorithm', ['permerror', 'key-of-other-algorithm']],
  ['key not for email', ['permerror', 'key-not-for-mail']],
])

function finding(
  { domain, selector, isAligned }: Signature,
  result: DkimResult,
  why: DkimReason,
): DkimFinding {
  return { domain, selector, result, aligned: isAligned, why }
}
