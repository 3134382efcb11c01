import type { Network } from '../analysis/network.ts'
import type { Health } from './contact-health.ts'

/** What we know of an address that we may have written to before. */
export type KnownContact = { state: 'found' | 'enrolled' | 'paused'; health: Health }

/** To whom to write, or why to nobody. */
export type ContactChoice = { to: string } | { nobody: string }

/**
 * Chooses among a network's contacts: the best one whose mail does not come back. A desk that asked
 * us to stop is not gone round by its next address. With `enrolled` only those count that enrolled.
 */
export function chooseContact(
  { contacts }: Pick<Network, 'contacts'>,
  known: ReadonlyMap<string, KnownContact>,
  forwardTo: 'any' | 'enrolled',
): ContactChoice {
  const healthy = contacts.filter(
    (address) => (known.get(address)?.health ?? 'healthy') === 'healthy',
  )
  const [best] = healthy
  if (best === undefined) return { nobody: 'Every known abuse address of this network bounces.' }
  if (known.get(best)?.state === 'paused') {
    return { nobody: 'The abuse desk asked us to stop for now.' }
  }
  if (forwardTo === 'any') return { to: best }
  const enrolled = healthy.find((address) => known.get(address)?.state === 'enrolled')
  if (enrolled !== undefined) return { to: enrolled }
  return { nobody: 'The abuse desk has not enrolled, and only enrolled ones are written to.' }
}
