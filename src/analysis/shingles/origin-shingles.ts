import { registrableDomain } from '../../mail/domain.ts'
import { parseIp } from '../../mail/ip.ts'
import type { Origin } from '../whence/origin.ts'
import type { Submitter } from '../whence/submitter.ts'
import type { TracedHop } from '../whence/trace.ts'
import { plainHost } from '../disguise/plain-link.ts'
import { networkOf, withoutTokens } from './shapes.ts'
import type { ShingleList } from './shingle-list.ts'

/** What is known of the way of a message. */
export type Way = {
  hops: readonly TracedHop[]
  origin: Origin | null
  submitter: Submitter | null
  /** What is less sure than this is only a claim; nothing is without it. */
  originConfidenceMin?: number
}

/**
 * Adds where the message came from. What strangers wrote below that is only a claim; and so is an
 * origin that is not sure, because counting against it would be an accusation.
 */
export function addOrigin(list: ShingleList, way: Way): void {
  const { hops, origin, submitter, originConfidenceMin = 0 } = way
  const isSure = (one: { confidence: number }) => one.confidence >= originConfidenceMin
  if (origin && isSure(origin)) {
    addIp(list, 'origin', origin.ip)
    const from = hops[origin.hop]?.from
    addName(list, 'origin-rdns', from?.rdns)
    addName(list, 'origin-helo', from?.helo)
  } else if (origin) addIp(list, 'claimed', origin.ip)
  if (submitter && isSure(submitter)) {
    addIp(list, 'submitter', submitter.ip)
    const line = hops.find(({ from, trust }) => from.ip === submitter.ip && trust === 'believed')
    list.add('submitter-helo', line?.from.helo?.toLowerCase())
  }
  const lowest = hops.findLast(({ from }) => from.ip !== null)
  const isClaim = lowest?.trust === 'claimed' || lowest?.trust === 'forged'
  if (isClaim && lowest.from.ip !== null) addIp(list, 'claimed', lowest.from.ip)
}

function addIp(list: ShingleList, whose: 'origin' | 'submitter' | 'claimed', ip: string): void {
  const address = parseIp(ip)
  if (!address) return
  list.add(`${whose}-ip`, address.text)
  list.add(whose === 'claimed' ? 'claimed-ip-network' : `${whose}-network`, networkOf(address))
}

function addName(
  list: ShingleList,
  whose: 'origin-rdns' | 'origin-helo',
  written: string | null | undefined,
): void {
  if (written === null || written === undefined) return
  const name = plainHost(written)
  list.add(whose, name)
  list.add(`${whose}-organization`, registrableDomain(name))
  list.add(`${whose}-shape`, withoutTokens(name))
}
