import type { DnsAnswer, Resolve } from '../world.ts'
import { isPublicAddress } from './public-address.ts'

/** What looking for a host takes. */
export type HostOptions = {
  /** Asks the DNS: its answer is looked at, and that very answer is to be connected to. */
  resolve: Resolve
  /** Handed in by tests alone, whose servers are on their own machine. */
  mayConnect?: ((address: string) => boolean) | undefined
}

/**
 * An address of a host on the Internet, to connect to as it is: a name that is looked up a second
 * time may lead elsewhere. One answer of the DNS that is not public makes us refuse all. Else why
 * not, in words.
 */
export async function findPublicHost(
  host: string,
  { resolve, mayConnect = isPublicAddress }: HostOptions,
): Promise<string | { outcome: string }> {
  const answers = await Promise.all([resolve(host, 'A'), resolve(host, 'AAAA')])
  const unknown = answers.find((answer) => answer.is === 'unknown')
  // An answer that is missing might be the one that leads to our own machines.
  if (unknown) return { outcome: `${host} could not be looked up: ${unknown.why}` }
  const addresses = answers.flatMap(recordsOf)
  const [first] = addresses
  if (first === undefined) return { outcome: `${host} has no address.` }
  if (!addresses.every((address) => mayConnect(address))) {
    return { outcome: `${host} leads to an address that is not on the Internet.` }
  }
  return first
}

function recordsOf(answer: DnsAnswer): readonly string[] {
  return answer.is === 'found' ? answer.records : []
}
