import type { BlacklistEntry } from '../../mail/dnsbl.ts'
import type { DnsAnswer } from '../../world.ts'

/** The result of SPF (RFC 7208) for the host that handed the message to the receiver. */
export type SpfFinding = {
  /** The address that was checked. */
  ip: string
  result: 'pass' | 'fail' | 'softfail' | 'neutral' | 'none' | 'temperror' | 'permerror'
  /** The domain whose record was used, in lower case. */
  domain: string
}

/** The DNS answers about one message, queried before its analysis. Plain data. */
export type DnsFindings = {
  /**
   * Answers by question: `TXT s1._domainkey.example.net`, the name in lower case. A `PTR` question
   * is about the machine that posted to a mailing list.
   */
  answers: Readonly<Record<string, DnsAnswer>>
  /** Undefined when there was no address to check by SPF. */
  spf: SpfFinding | undefined
  listings: readonly BlacklistEntry[]
}
