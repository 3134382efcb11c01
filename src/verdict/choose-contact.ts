import type { Network } from '../analysis/network.ts'
import { domainOf } from '../mail/address.ts'
import type { Health } from './contact-health.ts'

/** What we know of an address that we may have written to before. */
export type KnownContact = {
  state: 'found' | 'enrolled' | 'paused' | 'stopped'
  health: Health
  /** Somebody complained of our mail there, or an administrator forbade it. */
  isMuted?: true
}

/** Ours and the reporter's: abuse desks of nobody else. All addresses of `domain` are. */
export type OwnAddresses = { addresses: readonly string[]; domain: string }

/** To whom to write, or why to nobody. */
export type ContactChoice = { to: string } | { nobody: string }

/**
 * Chooses among a network's contacts: the best one whose mail does not come back. A desk that asked
 * us to stop is not gone round by its next address. With `enrolled` only those count that enrolled.
 * Whatever a registry or a table says, we never write to ourselves nor to the reporter.
 */
export function chooseContact(
  { contacts }: Pick<Network, 'contacts'>,
  known: ReadonlyMap<string, KnownContact>,
  forwardTo: 'any' | 'enrolled',
  own: OwnAddresses,
): ContactChoice {
  const others = contacts.filter((address) => !isOwn(address, own))
  if (others.length === 0) {
    return { nobody: 'The abuse address of this network is our own, or the reporter’s.' }
  }
  const healthy = others.filter(
    (address) => (known.get(address)?.health ?? 'healthy') === 'healthy',
  )
  const [best] = healthy
  if (best === undefined) return { nobody: 'Every known abuse address of this network bounces.' }
  if (known.get(best)?.state === 'stopped') {
    return { nobody: 'The abuse desk asked us to stop.' }
  }
  if (known.get(best)?.isMuted) {
    return { nobody: 'The abuse address of this network is not to be written to.' }
  }
  if (known.get(best)?.state === 'paused') {
    return { nobody: 'The abuse desk asked us to stop for now.' }
  }
  if (forwardTo === 'any') return { to: best }
  const enrolled = healthy.find((address) => known.get(address)?.state === 'enrolled')
  if (enrolled !== undefined) return { to: enrolled }
  return { nobody: 'The abuse desk has not enrolled, and only enrolled ones are written to.' }
}

function isOwn(address: string, { addresses, domain }: OwnAddresses): boolean {
  const key = keyOf(address)
  return domainOf(address) === domainOf(`@${domain}`) || addresses.some((one) => keyOf(one) === key)
}

/** The same for all spellings of an address. */
function keyOf(address: string): string {
  return `${address.slice(0, address.lastIndexOf('@')).toLowerCase()}@${domainOf(address) ?? ''}`
}
