import { arc } from 'mailauth/lib/arc/index.js'
import type { DkimVerifier } from 'mailauth/lib/dkim/dkim-verifier.js'
import { registrableDomainOf } from '../../mail/address.ts'
import { parseTagList } from '../../mail/dkim-signature.ts'
import type { HeaderField } from '../../mail/header.ts'
import { parseIp } from '../../mail/ip.ts'
import { storableText } from '../../mail/text.ts'
import type { Hop } from '../hop.ts'
import type { DnsFindings } from './dns-findings.ts'
import { type LibraryResolver, readSigner, signatureCharsMax, textAnswer } from './dkim.ts'

/** One set of a chain: the domain that sealed, and the DNS name of its key. */
type Seal = {
  /** From 1; the highest is the newest. */
  instance: number
  domain: string
  keyName: string
}

/**
 * The ARC chain (RFC 8617) of a message, parsed as far as needed to decide whether to verify it.
 * `broken`: the sets are incomplete or not numbered from 1. `undue`: there are more sets or longer
 * fields than in legitimate mail. `own`: see `findChain`.
 */
export type ArcChain =
  | { is: 'none' }
  | { is: 'broken' | 'undue' | 'own' }
  | { is: 'whole'; seals: Seal[]; messageKeyName: string }

const kinds = ['arc-seal', 'arc-message-signature', 'arc-authentication-results']
const instancesMax = 10

/**
 * Finds the chain, and decides whether verifying it can add any information. If all seals are from
 * the registrable domain that wrote the topmost Received lines, the chain only repeats the
 * receiver's own statements: it is `own`, and is not verified, which saves time.
 */
export function findChain(fields: readonly HeaderField[], hops: readonly Hop[]): ArcChain {
  const sets = arcFields(fields)
  if (sets.length === 0) return { is: 'none' }
  const isUndue = sets.some(({ value }) => value.length > signatureCharsMax)
  if (isUndue || sets.length > kinds.length * instancesMax) return { is: 'undue' }
  const count = sets.length / kinds.length
  const byPlace = new Map(sets.map((field) => [`${field.key} ${instanceOf(field)}`, field]))
  const seals: Seal[] = []
  let messageKeyName = ''
  for (let instance = 1; instance <= count; instance++) {
    const [seal, signature, results] = kinds.map((kind) => byPlace.get(`${kind} ${instance}`))
    const sealer = seal && readSigner(seal)
    const signer = signature && readSigner(signature)
    if (!sealer || !signer || !results) return { is: 'broken' }
    seals.push({ instance, domain: sealer.domain, keyName: sealer.keyName })
    messageKeyName = signer.keyName
  }
  if (!Number.isInteger(count)) return { is: 'broken' }
  const home = hops
    .map(({ byHost }) => registrableDomainOf(byHost))
    .find((registrable) => registrable !== undefined)
  const isOwn =
    home !== undefined && seals.every(({ domain }) => registrableDomainOf(domain) === home)
  if (isOwn) return { is: 'own' }
  return { is: 'whole', seals, messageKeyName }
}

/** The fields of all sets, in the order of the header. */
export function arcFields(fields: readonly HeaderField[]): HeaderField[] {
  return fields.filter(({ key }) => kinds.includes(key))
}

/**
 * The instance number. `i=1` is one of the tags, or comes first before the results
 * (RFC 8617 §4.1.1).
 */
function instanceOf({ key, value }: HeaderField): string {
  if (key === 'arc-authentication-results') return /^\s*i\s*=\s*(\d+)/.exec(value)?.[1] ?? ''
  return parseTagList(value)?.get('i') ?? ''
}

type ArcReason =
  | 'no-seal'
  | 'gaps'
  | 'too-long'
  | 'only-own-seal'
  | 'key-missing'
  | 'key-not-looked-up'
  | 'mismatch'
  | 'match'
  | 'unreadable'

/**
 * The result for an ARC chain (RFC 8617). `temperror`: a key could not be queried. `unchecked`: the
 * chain adds no information to what the receiver says, or is longer than legitimate chains.
 */
export type ArcFinding = {
  result: 'pass' | 'fail' | 'none' | 'temperror' | 'unchecked'
  why: ArcReason
  /** The seals, the oldest first; empty unless the chain verifies. */
  seals: SealFinding[]
}

/**
 * The results that one sealer recorded when it received the message. Only as reliable as the
 * sealer.
 */
type SealFinding = {
  instance: number
  /** In lower case. */
  domain: string
  /** The address that handed the message to the sealer, in canonical text. */
  clientIp: string | null
  /** Results in the terms of RFC 8601: `pass`, `fail`, `none` … */
  spf: string | null
  dkim: { result: string; domain: string | null }[]
}

const dkimMax = 4
const wordCharsMax = 20
const domainCharsMax = 253

/** The result that is known without verifying the chain; undefined when it must be verified. */
export function judgeChain(chain: ArcChain, dns: DnsFindings): ArcFinding | undefined {
  switch (chain.is) {
    case 'none':
      return unsealed('none', 'no-seal')
    case 'broken':
      return unsealed('fail', 'gaps')
    case 'undue':
      return unsealed('unchecked', 'too-long')
    case 'own':
      return unsealed('unchecked', 'only-own-seal')
    case 'whole': {
      const names = [chain.messageKeyName, ...chain.seals.map(({ keyName }) => keyName)]
      const answers = names.map((name) => textAnswer(dns, name))
      if (answers.some((answer) => answer.is === 'none')) {
        return unsealed('fail', 'key-missing')
      }
      if (answers.every((answer) => answer.is === 'found')) return undefined
      return unsealed('temperror', 'key-not-looked-up')
    }
  }
}

/** Verifies all seals of the chain that the verifier has read. */
export async function verifyChain(
  chain: ArcChain & { is: 'whole' },
  verifier: DkimVerifier,
  resolver: LibraryResolver,
): Promise<ArcFinding> {
  // Read before the verification, because during it the library rewrites the newest results.
  const seals = chain.seals.map(({ instance, domain }) => ({
    instance,
    domain,
    ...resultsBy(verifier.arc.chain[instance - 1]?.['arc-authentication-results']?.parsed),
  }))
  const { status } = await arc(verifier.arc, { resolver: resolver as never })
  if (status.result !== 'pass') return unsealed('fail', 'mismatch')
  return { result: 'pass', why: 'match', seals }
}

type SealerResults = Pick<SealFinding, 'clientIp' | 'spf' | 'dkim'>

/** The content of a sealer's ARC-Authentication-Results, as the library parsed them. */
function resultsBy(parsed: unknown): SealerResults {
  const dkim = at(parsed, 'dkim')
  return {
    clientIp: clientIpOf(parsed),
    spf: word(at(parsed, 'spf', 'value')),
    dkim: (Array.isArray(dkim) ? dkim.slice(0, dkimMax) : []).flatMap((entry: unknown) => {
      const result = word(at(entry, 'value'))
      const identity = at(entry, 'header', 'd') ?? at(entry, 'header', 'i')
      return result === null ? [] : [{ result, domain: domainOfIdentity(identity) }]
    }),
  }
}

/**
 * The client address that the sealer recorded: `smtp.remote-ip` (RFC 8617 §6), or the comment on
 * SPF in the words of Microsoft, Google and this library. The patterns match these words at the
 * ends of the comment, so that a return path in the middle cannot imitate them.
 */
function clientIpOf(parsed: unknown): string | null {
  const comment = at(parsed, 'spf', 'comment')
  const phrases = typeof comment === 'string' && comment.length < 1000 ? comment : ''
  const candidates = [
    at(parsed, 'arc', 'smtp', 'remote-ip'),
    at(parsed, 'spf', 'smtp', 'remote-ip'),
    at(parsed, 'spf', 'smtp', 'client-ip'),
    at(parsed, 'iprev', 'policy', 'iprev'),
    /^sender ip is (\S+)$/.exec(phrases)?.[1],
    / designates? (\S+) as permitted sender$/.exec(phrases)?.[1],
    /^[^\s:]+: (\S+) is neither permitted nor denied by /.exec(phrases)?.[1],
  ]
  for (const candidate of candidates) {
    const ip = typeof candidate === 'string' ? parseIp(candidate) : undefined
    if (ip) return ip.text
  }
  return null
}

function at(value: unknown, ...path: readonly string[]): unknown {
  let found = value
  for (const key of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined
    found = (found as Record<string, unknown>)[key]
  }
  return found
}

function word(value: unknown): string | null {
  return typeof value === 'string' ? storableText(value.toLowerCase(), wordCharsMax) : null
}

function domainOfIdentity(value: unknown): string | null {
  if (typeof value !== 'string') return null
  return storableText(value.slice(value.lastIndexOf('@') + 1).toLowerCase(), domainCharsMax)
}

function unsealed(result: ArcFinding['result'], why: ArcReason): ArcFinding {
  return { result, why, seals: [] }
}
