import type { Hop } from './hops.ts'
import type { Walk } from './injection-point.ts'

/** Where a message came from: who handed it to the reporter's provider. */
export type Origin = {
  /** Canonical text of the address. */
  ip: string
  /** Index of the Received line that carries it, 0 = top. */
  hop: number
  /** How far to believe it, 0 to 1. */
  confidence: number
  /** Sentences a person understands, in the order of the walk. */
  why: string[]
}

/** The host name the receiver saw or was told, for a person to read. */
export function peerName(hop: Hop): string {
  return hop.rdns ?? hop.helo ?? 'a machine without a name'
}

const knownProviderConfidence = 0.98
const unknownProviderConfidence = 0.9

/** The origin a walk arrived at, with its confidence and the reasons; null when at none. */
export function originOf(walk: Walk): Origin | null {
  const { entry, provider } = walk
  if (!entry?.fromIp) return null
  const base = provider ? knownProviderConfidence : unknownProviderConfidence
  const receiver = provider ? provider.name : (entry.byHost ?? 'the receiving provider')
  return {
    ip: entry.fromIp.text,
    hop: entry.index,
    confidence: Math.round(base * walk.certainty * 100) / 100,
    why: [
      provider
        ? `The topmost lines were written by ${provider.name}, where the message was received.`
        : 'The topmost line was written by the provider where the message was received.',
      ...new Set(walk.passed),
      `Line ${entry.index}: ${receiver} saw ${entry.fromIp.text} (${peerName(entry)}) hand the ` +
        'message over; the provider does not run that machine.',
    ],
  }
}
