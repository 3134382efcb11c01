import type { KeptAnalysis } from '../../db/analyses.ts'
import { drawWalk, ownReasons, percentOf, surenessOf } from '../../verdict/walk-picture.ts'

/** What the picture of a walk shows, made ready for `views/parts/way.eta`. */
export function shownWalk({ details, network }: KeptAnalysis) {
  const { hops, origin, originObstacle, submitter, consequence } = details
  return {
    picture: drawWalk(details),
    hops,
    origin,
    reasons: ownReasons(details),
    obstacle: originObstacle,
    percent: percentOf(origin?.confidence ?? 0),
    // What is too uncertain for this operator is not called sure.
    sureness: consequence.action === 'ask' ? 'not' : surenessOf(origin?.confidence ?? 0),
    network: network && networkWords(network),
    submitter: submitter && { ...submitter, sureness: surenessOf(submitter.confidence) },
  }
}

/** A network as a person reads it: its name or block, its number, its country. */
export function networkWords(network: NonNullable<KeptAnalysis['network']>): string {
  const { cidr, asn, name, country } = network
  return [name ?? cidr, asn === null ? '' : `AS${asn}`, country ?? ''].filter(Boolean).join(', ')
}
