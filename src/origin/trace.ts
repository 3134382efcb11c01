import { isInternal } from '../mail/ip.ts'
import { storableText } from '../mail/text.ts'
import { type Phrase, phrase } from '../phrase.ts'
import { suspicionsOf } from './forgery.ts'
import type { Hop } from './hop.ts'
import type { Walk } from './injection-point.ts'
import type { ProviderProfile } from './provider-profiles.ts'
import { isByUser, isHandedIn, isWrittenBy } from './providers.ts'

/** The path of a message through the machines of one provider, from the one that sent it out. */
export type ProviderPath = {
  provider: ProviderProfile
  /** Number of consecutive lines that the provider wrote, including the border. */
  lines: number
  /** The line that recorded a machine outside the provider; undefined when there is none. */
  border: Hop | undefined
  /** The certainty of this path, 0 to 1. */
  certainty: number
}

/**
 * Certainty below a line in which a user submitted the message. Usually a mailbox rule took the
 * message from a mailbox and submitted it again with all its lines. But a user may supply lines, so
 * results that depend on them stay below the usual threshold.
 */
const handedInCertainty = 0.7

/**
 * Follows the lines that a provider wrote, starting at `first`, as long as their peers are its own
 * machines, to the line that recorded another machine. The result is reliable only if a trusted
 * machine wrote the line above `first` and that line names a machine of the provider as its peer:
 * then the provider itself added these lines. Ends where a customer may have supplied lines.
 */
export function followProvider(
  provider: ProviderProfile,
  hops: readonly Hop[],
  first: number,
): ProviderPath {
  const custody: ProviderPath = { provider, lines: 0, border: undefined, certainty: 1 }
  for (let at = first; at < hops.length; at++) {
    const hop = hops[at]
    if (!hop?.field || !isWrittenBy(provider, hop)) return custody
    custody.lines++
    const { fromIp } = hop
    // A message submitted by HTTP is accepted unchanged, including Received lines of the customer.
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

/**
 * How far a line is trusted. `trusted`: written by the reporter's provider about itself.
 * `injection`: written by it about the external host. `believed`: written by a known provider that
 * handed the message over. `claimed`: possibly written by anybody. `forged`: it cannot be genuine.
 */
export type Trust = 'trusted' | 'injection' | 'believed' | 'claimed' | 'forged'

/** A Received line for display: its content, whether it is trusted, and its irregularities. */
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
  /** Why the line was passed or is trusted. */
  because: Phrase | null
  /** Irregularities of the line. */
  notes: Phrase[]
}

const textCharsMax = 400

/** The findings about the lines of a message. */
export type Traced = {
  walk: Walk
  /** The path through the sending provider, if that provider is known. */
  custody: ProviderPath | undefined
  /**
   * Whether a registrable domain is one of the author's; the return path and Message-ID count too.
   */
  isAuthorDomain: (domain: string) => boolean
}

/** Describes every hop: its trust, the reason, and irregularities below the injection point. */
export function traceHops(hops: readonly Hop[], traced: Traced): TracedHop[] {
  const { walk, custody } = traced
  const entryIndex = walk.entry?.index ?? walk.passed.length
  const believedTo = entryIndex + (custody?.lines ?? 0)
  let isForged = false
  return hops.map((hop, index) => {
    const above = hops[index - 1]
    const notes: Phrase[] = hop.field ? [] : [phrase('unreadable')]
    if (!above || index <= entryIndex) {
      return describe(hop, trustAbove(hop, walk), walk.passed[index] ?? null, notes)
    }
    if (index <= believedTo) return describe(hop, 'believed', believedBecause(custody), notes)
    const suspicions = suspicionsOf(hop, { above, below: hops[index + 1] }, traced.isAuthorDomain)
    notes.push(...suspicions.map(({ note }) => note))
    if (isForged && notes.length === 0) notes.push(phrase('below-invented'))
    isForged ||= suspicions.some(({ isProof }) => isProof)
    return describe(hop, isForged ? 'forged' : 'claimed', null, notes)
  })
}

function believedBecause(custody: ProviderPath | undefined): Phrase | null {
  return custody ? phrase('provider-about-itself', { provider: custody.provider.name }) : null
}

/**
 * The trust of a line of the walk. The line at which the walk stopped was also written by a trusted
 * machine.
 */
function trustAbove({ index, field }: Hop, { passed, entry }: Walk): Trust {
  if (index === entry?.index) return 'injection'
  const isReached = index < passed.length || (index === passed.length && field !== undefined)
  return isReached ? 'trusted' : 'claimed'
}

function describe(
  { index, field }: Hop,
  trust: Trust,
  because: Phrase | null,
  notes: Phrase[],
): TracedHop {
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
    because,
    notes,
  }
}

function text(value: string | undefined): string | null {
  return value === undefined ? null : storableText(value, textCharsMax)
}
