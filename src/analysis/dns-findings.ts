import type { DnsAnswer } from '../world.ts'

/** What a DNS blacklist says of an address or a domain (RFC 5782). */
export type Listing = {
  /** The list's zone, in lower case. */
  zone: string
  /** The address or domain that was asked for. */
  subject: string
  /** The answered addresses (127.0.0.0/8), sorted. */
  codes: readonly string[]
  /** What that list means by the answer. */
  category: 'spam' | 'compromised' | 'dynamic' | 'phishing' | 'malware' | 'welcome' | 'other'
  /** A sentence for a person. */
  meaning: string
}

/** How SPF (RFC 7208) judged the host that handed the message to the receiver. */
export type SpfFinding = {
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
