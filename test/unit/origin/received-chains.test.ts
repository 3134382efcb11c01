import { describe, expect, test } from 'vitest'
import { analyzeMessage } from '../../../src/pieces/analyze.ts'
import { type Hop, readHops } from '../../../src/origin/hop.ts'
import { parseHeader } from '../../../src/mail/header.ts'
import { compareRelay } from '../../support/received-agreement.ts'
import {
  canonical,
  type ReceivedCase,
  receivedCases,
  type SpamAssassinRelay,
} from '../../support/received-cases.ts'

/** Conditions of cases that our configuration cannot express, with the reason. */
const unsupportedCases: Record<string, string> = {
  'spamassassin-trust_path-93397edf': 'We know no submission relays that vouch for their clients.',
  'spamassassin-trust_path-3d16588c': 'We know no submission relays that vouch for their clients.',
  'spamassassin-trust_path-7605e83e': 'Our ranges know no exceptions from a range.',
  'spamassassin-trust_path-b97b5669': 'Our ranges know no exceptions from a range.',
  'spamassassin-trust_path-2dba3cd2': 'A header field for the client is no line of the walk.',
  'rspamd-external-relay-2dbcbc63': 'We do not know as whom a message was handed to the filter.',
  'rspamd-external-relay-14dc813e': 'Relays are trusted by their addresses, not by their names.',
  'spamassassin-originating_ip_hdr-3a72c207':
    'Which field tells the client depends on the provider.',
  'spamassassin-originating_ip_hdr-5ac07151':
    'Which field tells the client depends on the provider.',
}

const cases = receivedCases('trust', 'relay-walk', 'chain', 'originating-header')
const sayable = (kind: string) =>
  (cases ?? []).filter((one) => one.kind === kind && !(one.id in unsupportedCases))

describe.skipIf(!cases)('chains of the public test suites, if the corpus is present', () => {
  test.for(sayable('chain').map((one) => [one.id, one] as const))('a chain: %s', ([, one]) => {
    const hops = readHops(parseHeader(Buffer.from(one.headers ?? '', 'latin1')).fields)
    const relays = one.expected['relays'] as SpamAssassinRelay[] | undefined
    if (relays) {
      const walked = withoutHandOvers(hops)
      expect(walked.map(({ fromIp }) => fromIp?.text)).toEqual(relays.map(({ ip }) => ip))
      const compared = relays.map((relay, index) => compareRelay(relay, walked[index]?.field))
      expect(compared.flatMap(({ differing }) => differing)).toEqual([])
    } else {
      const symbols = one.expected['symbols'] as Record<string, boolean>
      const proved = hops.filter(({ field }) => field?.auth !== undefined).length
      expect(proved === 1).toBe(symbols['RCVD_AUTHED_ONE'])
      expect(proved > 1).toBe(symbols['RCVD_AUTHED_TWO'])
    }
  })

  test.for(sayable('trust').map((one) => [one.id, one] as const))('trust: %s', async ([, one]) => {
    const { hops, origin } = await analysisOf(one)
    const trusted = one.expected['trusted'] as SpamAssassinRelay[]
    const untrusted = one.expected['untrusted'] as SpamAssassinRelay[]
    const believed = hops.filter(({ trust }) => trust === 'trusted')
    expect(believed.map(({ from }) => from.ip)).toEqual(trusted.map(({ ip }) => canonical(ip)))
    expect(origin?.ip).toBe(canonical(untrusted[0]?.ip))
  })

  test.for(sayable('relay-walk').map((one) => [one.id, one] as const))(
    'the walk to the first untrusted host: %s',
    async ([, one]) => {
      const { hops, origin } = await analysisOf(one)
      expect(origin?.ip).toBe(one.expected['ip'])
      const entry = hops[origin?.hop ?? -1]
      expect([entry?.from.helo, entry?.from.rdns]).toContain(one.expected['hostname'])
    },
  )

  test('every case listed as inexpressible exists', () => {
    const ids = (cases ?? []).map(({ id }) => id)
    expect(Object.keys(unsupportedCases).filter((id) => !ids.includes(id))).toEqual([])
  })
})

/**
 * Removes the hops that SpamAssassin omits: lines above the fetching of mail, lines without an
 * address, and the line of a scanner on the receiving machine, whose return path it assigns to the
 * line below.
 */
function withoutHandOvers(hops: readonly Hop[]): Hop[] {
  const fetched = hops.findLastIndex(({ field }) => /^(imap|pop3)/i.test(field?.with ?? ''))
  const scanned = hops.find(({ field }) => field?.with?.startsWith('qmail-scanner'))
  return hops
    .slice(fetched + 1)
    .filter((hop) => hop.fromIp && hop !== scanned)
    .map((hop) => {
      const envelopeFrom = hop.field?.envelopeFrom ?? scanned?.field?.envelopeFrom
      return hop.field && envelopeFrom ? { ...hop, field: { ...hop.field, envelopeFrom } } : hop
    })
}

async function analysisOf({ headers = '', config }: ReceivedCase) {
  const networks = config?.['trusted_networks']
  return analyzeMessage(Buffer.from(`${headers.trimEnd()}\n\n`, 'latin1'), {
    trustedRelays: Array.isArray(networks) ? networks.map(fullCidr) : [],
    ignoreStamps: true,
  })
}

/**
 * Completes an IPv4 network whose zeros at the end are omitted, which SpamAssassin allows: `10/8`.
 */
function fullCidr(network: string): string {
  const [address = '', length] = network.split('/')
  if (address.includes(':') || length === undefined) return network
  const octets = [...address.split('.'), '0', '0', '0'].slice(0, 4)
  return `${octets.join('.')}/${length}`
}
