import { storableText } from '../../mail/storable-text.ts'
import type { Custody } from './custody.ts'
import { suspicionsOf } from './forgery.ts'
import type { Note } from './forgery.ts'
import type { Hop } from './hops.ts'
import type { Walk } from './injection-point.ts'

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
  /** Why the walk passed over it or believes it, as a sentence. */
  because: string | null
  notes: Note[]
}

const textCharsMax = 400

/** What was found out about the lines of a message. */
export type Traced = {
  walk: Walk
  /** How the lines of the sending provider go, where we know that provider. */
  custody: Custody | undefined
  /** Whether a registered domain is one of the author's: of the return path or Message-ID too. */
  isHouseOfAuthor: (house: string) => boolean
}

/** Marks every hop with its trust, why, and what is odd about those below the injection point. */
export function traceHops(hops: readonly Hop[], traced: Traced): TracedHop[] {
  const { walk, custody } = traced
  const entryIndex = walk.entry?.index ?? hops.length
  const believedTo = entryIndex + (custody?.lines ?? 0)
  let isForged = false
  return hops.map((hop, index) => {
    const above = hops[index - 1]
    const notes: Note[] = hop.field ? [] : [unreadable]
    if (!above || index <= entryIndex) {
      return describe(hop, trustAbove(hop, walk), walk.passed[index] ?? null, notes)
    }
    if (index <= believedTo) return describe(hop, 'believed', believedBecause(custody), notes)
    const suspicions = suspicionsOf(hop, { above, below: hops[index + 1] }, traced.isHouseOfAuthor)
    notes.push(...suspicions.map(({ note }) => note))
    if (isForged && notes.length === 0) notes.push(belowInvented)
    isForged ||= suspicions.some(({ isProof }) => isProof)
    return describe(hop, isForged ? 'forged' : 'claimed', null, notes)
  })
}

const unreadable: Note = { name: 'unreadable', text: 'This line cannot be read.' }
const belowInvented: Note = {
  name: 'below-invented',
  text: 'It stands below a line that was invented.',
}

function believedBecause(custody: Custody | undefined): string | null {
  if (!custody) return null
  return `${custody.provider.name} handed the message over, and wrote this line about itself.`
}

/** What the walk says of a line: the one it stopped at was still written by a friend. */
function trustAbove({ index, field }: Hop, { passed, entry }: Walk): Trust {
  if (index === entry?.index) return 'injection'
  const isReached = index < passed.length || (index === passed.length && field !== undefined)
  return isReached ? 'trusted' : 'claimed'
}

function describe(
  { index, field }: Hop,
  trust: Trust,
  because: string | null,
  notes: Note[],
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
