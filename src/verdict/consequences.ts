import type { Analysis } from '../analysis/analyze.ts'
import type { Network } from '../analysis/network.ts'
import { chooseContact, type KnownContact } from './choose-contact.ts'
import type { Verdict } from './decide.ts'

/**
 * What is done about a report, and why, in a sentence a person can read. `look-up`: the registries
 * are asked for a contact, then the consequence is drawn again.
 */
export type Consequence =
  | { action: 'forward'; to: string; why: string }
  | { action: 'look-up'; why: string }
  | { action: 'keep'; why: string }
  /** Kept as well, until the reporter says which machines are their provider's. */
  | { action: 'ask'; why: string }

/**
 * What the registry of the origin has to say: `off` is not asked at all (switched off, no public
 * address, an operator decided), `unasked` may be, `asked` has answered, `away` could not be asked.
 */
export type RegistryState = 'off' | 'unasked' | 'asked' | 'away'

/** What is known when the consequence is drawn. */
export type Judged = {
  verdict: Verdict
  messageKind: Analysis['kind']
  origin: { ip: string; confidence: number } | undefined
  /** Below this confidence an origin is shown, not written to: `ORIGIN_CONFIDENCE_MIN`. */
  originConfidenceMin: number
  /** Whether the reporter could tell us more: a machine on the way they have not spoken of. */
  isAskable: boolean
  network: Network | undefined
  registry: RegistryState
  /** Those of the network's contacts that are known to us, by address. */
  known: ReadonlyMap<string, KnownContact>
  forwardTo: 'any' | 'enrolled'
}

/**
 * Decides whether anybody is told. Every doubt keeps the report: an accusation of the wrong
 * network is worse than none.
 */
export function consequenceOf(judged: Judged): Consequence {
  const { verdict, origin, network } = judged
  if (verdict.class === 'legitimate') return keep('The reporter says that this is not spam.')
  if (judged.messageKind !== 'message') {
    return keep(
      'A mail system wrote this message: the spammer is not behind the relay that sent it.',
    )
  }
  if (verdict.class === 'undecided') return keep('The verdict is undecided.')
  if (!origin) return keepOrAsk(judged, 'The origin could not be found.')
  if (origin.confidence < judged.originConfidenceMin) {
    return keepOrAsk(judged, 'The origin is too uncertain to tell its network.')
  }
  if (network?.isMuted) {
    return keep('An administrator said that nobody is to be written to for this network.')
  }
  if (!network || network.contacts.length === 0) return withoutContact(judged)
  const choice = chooseContact(network, judged.known, judged.forwardTo)
  if ('nobody' in choice) return keep(choice.nobody)
  return {
    action: 'forward',
    to: choice.to,
    why: `${network.name ?? 'The network'} answers for the origin and has an abuse contact.`,
  }
}

function keepOrAsk({ isAskable }: Judged, why: string): Consequence {
  return isAskable ? { action: 'ask', why: `${why} The reporter is asked.` } : keep(why)
}

function withoutContact({ network, registry }: Judged): Consequence {
  if (registry === 'unasked') {
    return { action: 'look-up', why: 'The registries are asked who answers for the origin.' }
  }
  if (registry === 'away') {
    return keep('No registry could be asked who answers for the origin.')
  }
  if (!network) return keep('No imported network table knows the origin.')
  if (registry === 'off') return keep('The network has no known abuse contact.')
  const name = network.name === null ? network.cidr : `${network.cidr} (${network.name})`
  return keep(`No abuse contact is registered for ${name}.`)
}

function keep(why: string): Consequence {
  return { action: 'keep', why }
}
