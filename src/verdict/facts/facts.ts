import type { BlacklistEntry } from '../../mail/dnsbl.ts'
import { jsonOf } from '../../mail/text.ts'
import type { MessageFeatures } from '../../pieces/features/features.ts'
import type { WrittenTexts } from '../../pieces/written-texts.ts'
import type { SendingRecord } from '../reputation/sending.ts'
import {
  CONTENT_GROUP,
  definitionsOf,
  type FactDefinition,
  type Facts,
  type FactType,
  type FactValue,
} from './fact.ts'
import {
  attachmentsTable,
  authenticationTable,
  authorTable,
  bulkTable,
  contentTable,
  headersTable,
  linksTable,
  messageTable,
  originTable,
  textTable,
} from './message-facts.ts'
import {
  blacklistFacts,
  blacklistsTable,
  type Envelope,
  envelopeFacts,
  envelopeTable,
  type KnownReputation,
  networkFacts,
  networkTable,
  type OriginNetwork,
  type ReportedAs,
  reportFacts,
  reportTable,
  reputationDefinitions,
  reputationFacts,
  senderFacts,
  senderTable,
} from './outside-facts.ts'
import { type ListedLinks, pagesTable } from './page-facts.ts'
import { seenDefinitions, type SeenFacts } from './seen-facts.ts'

/** All facts, by group. Do not rename them: stored rules and models refer to them. */
export const factDefinitions: readonly FactDefinition[] = [
  ...definitionsOf('report', reportTable),
  ...definitionsOf('envelope', envelopeTable),
  ...definitionsOf('sender', senderTable),
  ...definitionsOf('message', messageTable),
  ...definitionsOf('headers', headersTable),
  ...definitionsOf('author', authorTable),
  ...definitionsOf('bulk', bulkTable),
  ...definitionsOf('authentication', authenticationTable),
  ...definitionsOf('origin', originTable),
  ...definitionsOf('network', networkTable),
  ...definitionsOf('links', linksTable),
  ...definitionsOf('attachments', attachmentsTable),
  ...definitionsOf('text', textTable),
  ...definitionsOf(CONTENT_GROUP, contentTable),
  ...definitionsOf('blacklists', blacklistsTable),
  ...definitionsOf('pages', pagesTable),
  ...reputationDefinitions,
  ...seenDefinitions,
]

const empties: Readonly<Record<FactType, FactValue>> = {
  bool: false,
  double: 0,
  string: '',
  strings: Object.freeze([]),
}

const empty: Readonly<Record<string, Readonly<Record<string, FactValue>>>> = (() => {
  const groups: Record<string, Record<string, FactValue>> = {}
  for (const { group, name, type } of factDefinitions) (groups[group] ??= {})[name] = empties[type]
  for (const group of Object.values(groups)) Object.freeze(group)
  return Object.freeze(groups)
})()

/** Prototypes of `groupOf`; not frozen, because facts of frozen prototypes cannot be assigned. */
const inherited = new Map(Object.entries(empty).map(([group, facts]) => [group, { ...facts }]))

/**
 * Returns the facts of a message of which nothing is known. The objects are shared: do not modify
 * them.
 */
export function emptyFacts(): Facts {
  return empty
}

/**
 * Returns a group in which some facts are known. Unknown facts are inherited from the empty group
 * through the prototype, because copying 200 facts, most of them unknown, costs more than computing
 * the known ones.
 */
function groupOf(
  group: string,
  known: Readonly<Record<string, FactValue>>,
): Readonly<Record<string, FactValue>> {
  const its = Object.create(inherited.get(group) ?? null) as Record<string, FactValue>
  for (const name of Object.keys(known)) its[name] = known[name] as FactValue
  return its
}

/** Everything by which a message is judged. Absent values are unknown. */
export type FactsInput = {
  features: MessageFeatures
  /** The texts that rules can match. They are not stored with the other facts. */
  written?: WrittenTexts | undefined
  report?: ReportedAs | undefined
  envelope?: Envelope | undefined
  /** The reputation of the user of the mail server who sends it. */
  sender?: SendingRecord | undefined
  network?: OriginNetwork | null | undefined
  /** Results of blacklist lookups; null or absent when there was no lookup. */
  listings?: readonly BlacklistEntry[] | null | undefined
  /** Listed pages to which its links lead. */
  pages?: ReturnType<ListedLinks['factsOf']>
  reputations?: readonly KnownReputation[] | undefined
  /** As returned by `seenFacts`. */
  seen?: SeenFacts | undefined
  now: Date
}

/**
 * Returns the facts of a message. Unknown facts are false, 0, '' or an empty list; in groups built
 * here they are inherited (`groupOf`).
 */
export function factsOf({ features, now, ...input }: FactsInput): Facts {
  return {
    ...emptyFacts(),
    ...features,
    ...filled(CONTENT_GROUP, input.written),
    ...filled('report', reportFacts(input.report)),
    ...filled('envelope', envelopeFacts(input.envelope, features.author.organization)),
    ...filled('sender', senderFacts(input.sender)),
    ...filled('network', networkFacts(input.network)),
    ...filled('blacklists', blacklistFacts(input.listings)),
    ...filled('pages', input.pages),
    ...filled('reputation', reputationFacts(input.reputations, now)),
    ...filled('seen', input.seen),
  }
}

function filled(group: string, known: Readonly<Record<string, FactValue>> | undefined): Facts {
  return known ? { [group]: groupOf(group, known) } : {}
}

/** Returns facts that were stored, with the texts of their message. */
export function withWritten(facts: Facts, written: WrittenTexts | undefined): Facts {
  return { ...facts, ...filled(CONTENT_GROUP, written) }
}

const groups = new Map<string, Map<string, FactType>>()
for (const { group, name, type } of factDefinitions) {
  // The text of a message is stored once, with its raw bytes.
  if (group === CONTENT_GROUP) continue
  groups.getOrInsertComputed(group, () => new Map<string, FactType>()).set(name, type)
}

/**
 * Maximum number of entries of a list fact, and maximum length of a text, when stored facts are
 * read.
 */
const entriesMax = 100
const textCharsMax = 1_000

/** Packs facts for storage: JSON of the facts that are not empty, without texts (`content`). */
export function packFacts(facts: Facts): Buffer {
  // Composed as text, because an object made only for JSON.stringify costs twice as much.
  let json = ''
  for (const [group, types] of groups) {
    const its = facts[group]
    if (!its) continue
    let kept = ''
    for (const name of Object.keys(its)) {
      const value = its[name]
      if (value === undefined || isEmpty(value) || !types.has(name)) continue
      const text = typeof value === 'boolean' ? 'true' : JSON.stringify(value)
      kept += `${kept === '' ? '' : ','}"${name}":${text}`
    }
    if (kept !== '') json += `${json === '' ? '' : ','}"${group}":{${kept}}`
  }
  return Buffer.from(`{${json}}`)
}

/**
 * Unpacks stored facts according to the current definitions: a missing fact or one of another type
 * is empty, and a fact that no longer exists is dropped. Never throws.
 */
export function unpackFacts(packed: Buffer): Facts {
  const sparse = jsonOf(packed.toString())
  const facts: Record<string, Readonly<Record<string, FactValue>>> = { ...emptyFacts() }
  for (const [group, types] of groups) {
    const its = membersOf(sparse, group)
    if (!its) continue
    const known: Record<string, FactValue> = {}
    for (const [name, value] of Object.entries(its)) {
      const type = types.get(name)
      if (type !== undefined && isOfType(value, type)) known[name] = value
    }
    facts[group] = groupOf(group, known)
  }
  return facts
}

function isEmpty(value: FactValue): boolean {
  if (typeof value === 'object') return value.length === 0
  return value === false || value === 0 || value === '' || Number.isNaN(value)
}

function membersOf(value: unknown, name: string): Record<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  const member = (value as Record<string, unknown>)[name]
  const isObject = typeof member === 'object' && member !== null && !Array.isArray(member)
  return isObject ? (member as Record<string, unknown>) : undefined
}

function isOfType(value: unknown, type: FactType): value is FactValue {
  if (type === 'bool') return typeof value === 'boolean'
  if (type === 'double') return typeof value === 'number'
  if (type === 'string') return typeof value === 'string' && value.length <= textCharsMax
  const isList = Array.isArray(value) && value.length <= entriesMax
  return isList && value.every((entry) => isOfType(entry, 'string'))
}

/** The karma of the reporter when a report was judged, 0 to 1; 0 without a report. */
export function karmaIn({ report }: Facts): number {
  return Number(report?.karma ?? 0)
}
