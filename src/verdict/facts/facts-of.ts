import type { MessageFeatures } from '../../analysis/features/features-of.ts'
import type { Listing } from '../../mail/dnsbl.ts'
import type { Facts, FactValue } from './fact.ts'
import { emptyFacts } from './fact-list.ts'
import {
  blacklistFacts,
  type Envelope,
  envelopeFacts,
  networkFacts,
  type OriginNetwork,
  type ReportedAs,
  reportFacts,
} from './outside-facts.ts'
import { type KnownReputation, reputationFacts } from './reputation-facts.ts'
import type { SeenFacts } from './seen-facts.ts'

/** Everything a message is judged by. What is absent is not known. */
export type FactsInput = {
  features: MessageFeatures
  report?: ReportedAs | undefined
  envelope?: Envelope | undefined
  network?: OriginNetwork | null | undefined
  /** What blacklists say; null or absent when they were not asked. */
  listings?: readonly Listing[] | null | undefined
  reputations?: readonly KnownReputation[] | undefined
  /** As `seenFacts` makes them. */
  seen?: SeenFacts | undefined
  now: Date
}

/** The facts of a message: each fact of the list is there. */
export function factsOf(input: FactsInput): Facts {
  const { features, now } = input
  const empty = emptyFacts()
  return {
    ...empty,
    ...features,
    ...filled(empty, 'report', reportFacts(input.report)),
    ...filled(empty, 'envelope', envelopeFacts(input.envelope, features.author.organization)),
    ...filled(empty, 'network', networkFacts(input.network)),
    ...filled(empty, 'blacklists', blacklistFacts(input.listings)),
    ...filled(empty, 'reputation', reputationFacts(input.reputations, now)),
    ...filled(empty, 'seen', input.seen),
  }
}

function filled(
  empty: Facts,
  group: string,
  known: Readonly<Record<string, FactValue>> | undefined,
): Facts {
  return known ? { [group]: { ...empty[group], ...known } } : {}
}
