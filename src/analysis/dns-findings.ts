import type { Listing } from '../mail/dnsbl.ts'
import type { DnsAnswer } from '../world.ts'

/** How SPF (RFC 7208) judged the host that handed the message to the receiver. */
export type SpfFinding = {
  /** The address that was judged. */
  ip: string
  result: 'pass' | 'fail' | 'softfail' | 'neutral' | 'none' | 'temperror' | 'permerror'
  /** The domain whose record was used, in lower case. */
  domain: string
}

/** What the DNS told about one message, asked before its analysis. Plain data. */
export type DnsFindings = {
  /** Answers by question: `TXT s1._domainkey.example.net`, the name in lower case. */
  answers: Readonly<Record<string, DnsAnswer>>
  /** Undefined when there was no address to check. */
  spf: SpfFinding | undefined
  listings: readonly Listing[]
}
