import { isRoutable } from '../mail/ip.ts'
import { storableText } from '../mail/storable-text.ts'
import { suspicionsOf } from './forgery.ts'
import type { Note } from './forgery.ts'
import type { Hop } from './hops.ts'
import type { Walk } from './injection-point.ts'
import { isWrittenBy, senderProfile } from './providers.ts'
import type { ProviderProfile } from './providers.ts'

/**
 * How far a line is to be believed. `trusted`: written by the reporter's provider about itself;
 * `injection`: by it, about the stranger; `believed`: by a provider we know that handed the
 * message over; `claimed`: by anybody; `forged`: it cannot be true.
 */
export type Trust = 'trusted' | 'injection' | 'believed' | 'claimed' | 'forged'

/** A Received line as shown to people: what it says, whether to believe it, and what is odd. */
export type TracedHop = {
  index: number
  from: { helo: string | null; rdns: string | null; ip: string | null; port: number | null }
  by: { host: string | null; ip: string | null }
  with: string | null
  id: string | null
  for: string | null
  /** ISO 8601. */
  at: string | null
  auth: string | null
  trust: Trust
  notes: Note[]
}

const textCharsMax = 400

/** Marks every hop of a walk with its trust, and those below the injection point with notes. */
export function traceHops(hops: readonly Hop[], walk: Walk): TracedHop[] {
  const entryIp = walk.entry?.fromIp
  const sender = entryIp && senderProfile(entryIp)
  const traced: TracedHop[] = []
  let below: Trust = sender ? 'believed' : 'claimed'
  for (const [index, hop] of hops.entries()) {
    const above = hops[index - 1]
    const findings = above && isBelow(hop, walk) ? suspicionsOf(above, hop, hops[index + 1]) : []
    const notes = findings.map(({ note }) => note)
    if (!hop.field) notes.push({ name: 'unreadable', text: 'This line cannot be read.' })
    if (isBelow(hop, walk)) {
      if (findings.some(({ isProof }) => isProof)) below = 'forged'
      if (below === 'believed' && !continues(sender, above, hop)) below = 'claimed'
    }
    traced.push(describe(hop, trustOf(hop, walk) ?? below, notes))
  }
  return traced
}

/** What the walk says of a line it reached; a line it stopped at was still written by a friend. */
function trustOf({ index, field }: Hop, { passed, entry }: Walk): Trust | undefined {
  if (index < passed.length) return 'trusted'
  if (index === entry?.index) return 'injection'
  return !entry && index === passed.length && field ? 'trusted' : undefined
}

/** Whether the sending provider wrote this line too, about a peer of its own or a customer. */
function continues(sender: ProviderProfile | undefined, above: Hop | undefined, hop: Hop): boolean {
  if (!sender || !above || !isWrittenBy(sender, hop)) return false
  const { fromIp } = above
  return !fromIp || sender.relays.has(fromIp) || sender.outbound.has(fromIp) || !isRoutable(fromIp)
}

function isBelow(hop: Hop, walk: Walk): boolean {
  return walk.entry !== undefined && hop.index > walk.entry.index
}

function describe({ index, field }: Hop, trust: Trust, notes: Note[]): TracedHop {
  const from = field?.from
  return {
    index,
    from: {
      helo: text(from?.helo),
      rdns: text(from?.rdns),
      ip: from?.ip ?? null,
      port: from?.port ?? null,
    },
    by: { host: text(field?.by.host), ip: field?.by.ip ?? null },
    with: text(field?.with),
    id: text(field?.id),
    for: text(field?.for),
    at: field?.at?.toISOString() ?? null,
    auth: text(field?.auth),
    trust,
    notes,
  }
}

function text(value: string | undefined): string | null {
  return value === undefined ? null : storableText(value, textCharsMax)
}
