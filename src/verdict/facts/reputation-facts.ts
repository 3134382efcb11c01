import type { FactDefinition } from './fact.ts'
import { definitionsOf, bool, double, strings } from './fact-table.ts'

/**
 * The base part of what is known of one thing that a message can be blamed on or praised for.
 * `score` is from −1, surely bad, to +1, surely good; `weight` how much evidence is behind it.
 */
export type KnownReputation = {
  /** As in `reputation/subject.ts`; others are passed over. */
  kind: string
  score: number
  weight: number
  flags: readonly string[]
  firstSeenAt: Date | null
}

/** Facts by the kinds of what is known; of several of a kind the worst counts. */
const kinds: readonly (readonly [kind: string, prefix: string, what: string])[] = [
  ['address', 'address', 'the address it came from'],
  ['network', 'network', 'the network it came from'],
  ['autonomous-system', 'as', 'the autonomous system it came from'],
  ['author', 'author', 'the author, whose domain stands behind it'],
  ['author-domain', 'author_domain', 'the author’s domain, which stands behind it'],
  ['claimed-author', 'claimed_author', 'whoever claims to be that author'],
  ['claimed-author-domain', 'claimed_author_domain', 'whoever claims to be of that domain'],
  ['signer', 'signer', 'the worst verified signer'],
  ['return-path-domain', 'return_path_domain', 'the domain of the return path'],
  ['link-host', 'link_host', 'the worst host of a link'],
  ['link-domain', 'link_domain', 'the worst domain of a link'],
  ['link', 'link', 'the worst link'],
  ['file', 'file', 'the worst attached file'],
  ['phone', 'phone', 'the worst telephone number'],
  ['campaign', 'campaign', 'the campaign it is of'],
]
const prefixOf = new Map(kinds.map(([kind, prefix]) => [kind, prefix]))

const flags = ['listed', 'welcome', 'awake', 'jumped', 'new', 'exempt'] as const
const flaggedMax = 20
const DAY_MS = 86_400_000
/** The facts of a message of which nothing is known. */
export type ReputationFacts = Record<string, boolean | number | readonly string[]>

const overall = {
  known: double('Of how many things that the message is made of something is known.'),
  worst: double('The worst score of all, times how sure it is: −1 to 0.'),
  best: double('The best score of all, times how sure it is: 0 to 1.'),
  flagged: strings('What is flagged, as kind:flag, sorted; at most 20.'),
  ...Object.fromEntries(
    flags.map((flag) => [`any_${flag}`, bool(`Something the message is made of is ${flag}.`)]),
  ),
}

/** What the facts of this group mean. */
export const reputationDefinitions: readonly FactDefinition[] = [
  ...definitionsOf('reputation', overall),
  ...kinds.flatMap(([, prefix, what]) =>
    definitionsOf('reputation', {
      [`${prefix}_score`]: double(`From −1, surely bad, to +1, surely good: ${what}.`),
      [`${prefix}_weight`]: double(`How much evidence there is; 6 is sure: ${what}.`),
      [`${prefix}_known_days`]: double(`How many days ago it was first seen: ${what}.`),
    }),
  ),
]

/** So much evidence makes half sure. */
const HALF_SURE = 3

/** Reduces what is known of the things a message is made of, at an instant. */
export function reputationFacts(
  known: readonly KnownReputation[] | undefined,
  now: Date,
): ReputationFacts | undefined {
  if (!known || known.length === 0) return undefined
  const facts: ReputationFacts = { known: 0 }
  const flagged = new Set<string>()
  let [count, worst, best] = [0, 0, 0]
  for (const { kind, score, weight, flags: its, firstSeenAt } of known) {
    const prefix = prefixOf.get(kind)
    if (prefix === undefined) continue
    for (const flag of its) {
      if (!flags.some((one) => one === flag)) continue
      facts[`any_${flag}`] = true
      flagged.add(`${prefix}:${flag}`)
    }
    if (weight <= 0 && firstSeenAt === null) continue
    count++
    const sure = round(score * (weight / (weight + HALF_SURE)))
    worst = Math.min(worst, sure)
    best = Math.max(best, sure)
    const before = facts[`${prefix}_score`]
    if (before !== undefined && Number(before) <= score) continue
    facts[`${prefix}_score`] = round(score)
    facts[`${prefix}_weight`] = round(weight)
    facts[`${prefix}_known_days`] = firstSeenAt ? daysSince(firstSeenAt, now) : 0
  }
  return { ...facts, known: count, worst, best, flagged: [...flagged].sort().slice(0, flaggedMax) }
}

function daysSince(then: Date, now: Date): number {
  return Math.max(0, Math.round(((now.getTime() - then.getTime()) / DAY_MS) * 10) / 10)
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000
}
