import type { Analysis } from '../analysis/analyze.ts'
import type { Network } from '../analysis/network.ts'
import type { Verdict } from './decide.ts'

/** What is done about a report, and why, in a sentence a person can read. */
export type Consequence =
  | { action: 'forward'; to: string; why: string }
  | { action: 'keep'; why: string }
  /** Kept as well, until the reporter says which machines are their provider's. */
  | { action: 'ask'; why: string }

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
  /** The consumer at the network's abuse address, once it is known to us. */
  consumerState: 'found' | 'enrolled' | 'paused' | undefined
  forwardTo: 'any' | 'enrolled'
}

/**
 * Decides whether anybody is told. Every doubt keeps the report: an accusation of the wrong
 * network is worse than none.
 */
export function consequenceOf(judged: Judged): Consequence {
  const { verdict, origin, network, consumerState } = judged
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
  if (!network) return keep('No imported network table knows the origin.')
  if (network.isMuted) {
    return keep('An administrator said that nobody is to be written to for this network.')
  }
  if (!network.abuse) return keep('The network has no known abuse contact.')
  if (consumerState === 'paused') return keep('The abuse desk asked us to stop for now.')
  if (judged.forwardTo === 'enrolled' && consumerState !== 'enrolled') {
    return keep('The abuse desk has not enrolled, and only enrolled ones are written to.')
  }
  return {
    action: 'forward',
    to: network.abuse,
    why: `${network.name ?? 'The network'} answers for the origin and has an abuse contact.`,
  }
}

function keepOrAsk({ isAskable }: Judged, why: string): Consequence {
  return isAskable ? { action: 'ask', why: `${why} The reporter is asked.` } : keep(why)
}

function keep(why: string): Consequence {
  return { action: 'keep', why }
}
