import { houseOf } from '../../mail/domain.ts'
import { domainOf } from '../../mail/address.ts'
import { fieldValue, parseHeader } from '../../mail/header.ts'
import type { Header } from '../../mail/header.ts'
import { storableText } from '../../mail/storable-text.ts'
import type { AnalysisOptions } from '../analyze.ts'
import { readHops } from '../whence/hops.ts'
import type { Hop } from '../whence/hops.ts'
import { withoutStamps } from '../stamps.ts'
import { walkThrough } from '../whence/whence.ts'
import { findChain } from './arc-chain.ts'
import { policyNames } from './dmarc-names.ts'
import { authorDomain, chooseSignatures } from './signatures.ts'

/** Who handed the message over, and in whose name: what SPF (RFC 7208) judges. */
export type SpfQuestion = {
  ip: string
  helo: string | undefined
  /** The return path; empty when it is null or not told: then SPF judges the HELO name. */
  mailFrom: string
}

/** What to ask the DNS before a message is analyzed. Bounded: at most some thirty names. */
export type DnsQuestions = {
  /** Names whose TXT records will matter, each once, in lower case. */
  texts: string[]
  /** Undefined when nobody is known to have handed the message over. */
  spf: SpfQuestion | undefined
  /** For the blacklists: the origin's address. */
  addresses: string[]
  /** For the blacklists: the registered domains of the author, the return path and the origin. */
  domains: string[]
}

/** Whatever stands further down is not asked for: the names of 256 KB are more than enough. */
const headerBytesMax = 256 * 1024
const domainCharsMax = 253

/** What must be known of a message before it is analyzed. Cheap: it reads the header only. */
export function questionsOf(raw: Buffer, options: AnalysisOptions): DnsQuestions {
  return questionsOfHeader(parseHeader(raw.subarray(0, headerBytesMax)), options)
}

function questionsOfHeader({ fields }: Header, options: AnalysisOptions): DnsQuestions {
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
  const peers = [author, spf && domainOf(spf.mailFrom), entry?.rdns, entry?.helo].map(houseOf)
  return {
    texts: [...new Set(texts)],
    spf,
    addresses: entry?.fromIp ? [entry.fromIp.text] : [],
    domains: [...new Set(peers.filter((domain) => domain !== undefined))],
  }
}

/** The domain SPF judges, in lower case: that of the return path, or the HELO name. */
export function spfDomain({ mailFrom, helo }: SpfQuestion): string | undefined {
  const domain = domainOf(mailFrom) ?? helo
  return domain === undefined ? undefined : storableText(domain.toLowerCase(), domainCharsMax)
}

function spfQuestion(entry: Hop, mailFrom: string): SpfQuestion | undefined {
  return entry.fromIp && { ip: entry.fromIp.text, helo: entry.helo, mailFrom }
}

/** The address without its angle brackets; empty for `<>`, and for what is no address. */
function returnPathOf(value = ''): string {
  const address = /<([^<>]*)>/.exec(value)?.[1] ?? value
  return address.length <= 320 && address.includes('@') ? address.trim() : ''
}
