import type { MessageFeatures } from '../../analysis/features/features-of.ts'
import type { Listing } from '../../mail/dnsbl.ts'
import type { Facts, FactValue } from './fact.ts'
import { emptyFacts, groupOf } from './fact-list.ts'
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

/**
 * The facts of a message. What is not known reads as false, 0, '' or an empty list; in groups that
 * are made here it is inherited (`groupOf`).
 */
export function factsOf({ features, now, ...input }: FactsInput): Facts {
  return {
    ...emptyFacts(),
    ...features,
    ...filled('report', reportFacts(input.report)),
    ...filled('envelope', envelopeFacts(input.envelope, features.author.organization)),
    ...filled('network', networkFacts(input.network)),
    ...filled('blacklists', blacklistFacts(input.listings)),
    ...filled('reputation', reputationFacts(input.reputations, now)),
    ...filled('seen', input.seen),
  }
}

function filled(group: string, known: Readonly<Record<string, FactValue>> | undefined): Facts {
  return known ? { [group]: groupOf(group, known) } : {}
}
