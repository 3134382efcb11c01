import { isInternal } from '../../mail/ip.ts'
import type { Hop } from './hops.ts'
import type { ProviderProfile } from './provider-profiles.ts'
import { isByUser, isHandedIn, isWrittenBy } from './providers.ts'

/** A message's way through the machines of one provider, from the machine it left by. */
export type Custody = {
  provider: ProviderProfile
  /** How many lines below the first are its own, the border's included. */
  lines: number
  /** The line in which it saw a machine that is not its own: undefined where none is left. */
  border: Hop | undefined
  /** How sure the way is, 0 to 1. */
  certainty: number
}

/**
 * Below the line of a user who handed the message in. Mostly a mailbox's own rule took it out and
 * put it in again, lines and all; but a user may bring lines along, so nothing that follows from
 * them reaches the usual threshold.
 */
const handedInCertainty = 0.7

/**
 * Follows the lines that a provider wrote from `first` on, as long as their peers are machines of
 * its own, to the one in which it saw somebody else. Believable only where the line above `first`
 * was written by somebody we believe and names a machine of the provider as its peer: then the
 * provider prepended these lines itself. It ends where a customer may have brought lines along.
 */
export function custodyOf(provider: ProviderProfile, hops: readonly Hop[], first: number): Custody {
  const custody: Custody = { provider, lines: 0, border: undefined, certainty: 1 }
  for (let at = first; at < hops.length; at++) {
    const hop = hops[at]
    if (!hop?.field || !isWrittenBy(provider, hop)) return custody
    custody.lines++
    const { fromIp } = hop
    // By HTTP a customer hands in a message as it is, Received lines of his own included.
    if (/^http/i.test(hop.field.with ?? '')) return custody
    if (!hop.field.from || !fromIp) {
      if (isByUser(hop) || isHandedIn(hop)) custody.certainty = handedInCertainty
      continue
    }
    if (isInternal(fromIp) || provider.relays.has(fromIp) || provider.outbound.has(fromIp)) {
      if (isHandedIn(hop)) custody.certainty = handedInCertainty
      continue
    }
    custody.border = hop
    return custody
  }
  return custody
}
