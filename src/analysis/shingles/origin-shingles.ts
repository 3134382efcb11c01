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
}

/** Adds where the message came from. What strangers wrote below that is only a claim. */
export function addOrigin(list: ShingleList, { hops, origin, submitter }: Way): void {
  if (origin) {
    addIp(list, 'origin', origin.ip)
    const from = hops[origin.hop]?.from
    addName(list, 'origin-rdns', from?.rdns)
    addName(list, 'origin-helo', from?.helo)
  }
  if (submitter) {
    addIp(list, 'submitter', submitter.ip)
    const line = hops.find(({ from, trust }) => from.ip === submitter.ip && trust === 'believed')
    list.add('submitter-helo', line?.from.helo?.toLowerCase())
  }
  const lowest = hops.findLast(({ from }) => from.ip !== null)
  if (lowest?.trust === 'claimed' || lowest?.trust === 'forged') {
    list.add('claimed-ip', lowest.from.ip)
    const address = parseIp(lowest.from.ip ?? '')
    list.add('claimed-ip-network', address && networkOf(address))
  }
}

function addIp(list: ShingleList, whose: 'origin' | 'submitter', ip: string): void {
  const address = parseIp(ip)
  if (!address) return
  list.add(`${whose}-ip`, address.text)
  list.add(`${whose}-network`, networkOf(address))
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
