import { type BlacklistZone, readZoneAnswer, testEntries, type TestEntry } from '../mail/dnsbl.ts'
import type { Resolve } from '../world.ts'

/** Why a zone may not be asked. `isSilent`: nobody answered, so it may be sound all the same. */
export type ZoneFault = { why: string; isSilent: boolean }

/** How a zone stood its test. */
export type TestedZone = { isSound: true; hasIpv6: boolean } | ({ isSound: false } & ZoneFault)

/**
 * Asks a zone for what every list must and must not list (RFC 5782 §5): a list that is gone answers
 * no to everything, or yes. One without entries for IPv6 is good for IPv4 alone.
 */
export async function testZone(zone: BlacklistZone, resolve: Resolve): Promise<TestedZone> {
  const { ipv4, ipv6, domains } = testEntries(zone)
  const faultOf = async (pair: { listed: TestEntry; unlisted: TestEntry } | undefined) => {
    if (!pair) return undefined
    const [unlisted, listed] = await Promise.all([
      faultOfEntry(zone, pair.unlisted, 'clean', resolve),
      faultOfEntry(zone, pair.listed, 'listed', resolve),
    ])
    return unlisted ?? listed
  }
  const [fault4, fault6, faultDomains] = await Promise.all([ipv4, ipv6, domains].map(faultOf))
  const fault = fault4 ?? faultDomains
  if (fault) return { isSound: false, ...fault }
  return { isSound: true, hasIpv6: ipv6 !== undefined && fault6 === undefined }
}

async function faultOfEntry(
  zone: BlacklistZone,
  { name, shown }: TestEntry,
  expected: 'listed' | 'clean',
  resolve: Resolve,
): Promise<ZoneFault | undefined> {
  const answer = await resolve(name, 'A')
  if (answer.is === 'unknown') return { why: answer.why, isSilent: true }
  const records = answer.is === 'found' ? answer.records : []
  const reading = readZoneAnswer(zone, shown, records)
  if (reading.is === expected) return undefined
  if (reading.is === 'refused') return { why: reading.why, isSilent: false }
  const why =
    expected === 'listed'
      ? `It does not list its test entry ${shown}.`
      : `It lists ${shown}, which no list may.`
  return { why, isSilent: false }
}
