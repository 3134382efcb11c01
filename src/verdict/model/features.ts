import type { FactDefinition, Facts } from '../facts/fact.ts'

/**
 * Why no model may see a fact; undefined of those that it may.
 *
 * A model learns from labels that rest on what reporters say. If it saw that word, or how far the
 * reporter is believed, it would repeat the label and know nothing of the message.
 */
export function unfitReason({ group }: Pick<FactDefinition, 'group'>): string | undefined {
  return unfitGroups[group]
}

const unfitGroups: Readonly<Record<string, string>> = {
  report: 'What the reporter says is the label; karma says how far the label is believed.',
}

/**
 * Why a model that learns from files must not see a fact. In one installation all mail comes the
 * same way; files are collections, each with its years, its language, its mailbox provider and its
 * way of hiding who received it. What tells collections apart would tell their labels, and mean
 * nothing outside.
 */
export function fileRefusalOf(fact: Pick<FactDefinition, 'group' | 'name'>): string | undefined {
  return unfitReason(fact) ?? fileGroups[fact.group] ?? fileFacts[`${fact.group}.${fact.name}`]
}

const unknown = 'Of a file it is never known: that it is there would tell reports from files.'
const way = 'It rests on the Received lines, which the provider of the collection wrote.'
const size = 'The stamps of the receiving provider make most of it.'
const recipient = 'Collections hide who received a message, each in its own way.'
const years = 'It came into use in the years between one collection and the other.'

const fileGroups: Readonly<Record<string, string>> = {
  envelope: unknown,
  network: unknown,
  blacklists: unknown,
  reputation: unknown,
  seen: unknown,
  authentication: 'Keys rotate: of an old file a signature cannot be verified any more.',
  origin: way,
}

const fileFacts: Readonly<Record<string, string>> = {
  'message.kilobytes': size,
  'headers.fields': size,
  'headers.date_hours_ahead': way,
  'headers.return_path_other_domain': 'The receiving provider writes it, or does not.',
  'headers.return_path_empty': 'The receiving provider writes it, or does not.',
  'headers.message_id_local': 'Providers of submission make it.',
  'headers.message_id_foreign': 'Providers of submission make it, and the return path is asked.',
  'headers.recipients': recipient,
  'headers.to_missing': recipient,
  'headers.to_undisclosed': recipient,
  'headers.to_is_author': recipient,
  'headers.subject_names_recipient': recipient,
  'author.name_is_recipient_domain': recipient,
  'links.names_recipient': recipient,
  'links.insecure_share': years,
  'links.idn_hosts': years,
  'headers.mime_version_missing': years,
  'headers.raw_eight_bit': years,
  'bulk.one_click': years,
  'bulk.has_feedback_id': years,
  'bulk.has_complaint_address': years,
  'bulk.has_list_post': years,
}

/**
 * The symbols that a model may see: those of rules which look at nothing that it must not. A symbol
 * no rule raises any more would always be 0 from now on, so it is not learned from either.
 */
export function fitSymbols(
  rules: readonly { symbol: string; facts: readonly string[] }[],
): string[] {
  const isUnfit = (fact: string) => unfitReason({ group: fact.split('.')[0] ?? '' }) !== undefined
  return rules.filter(({ facts }) => !facts.some(isUnfit)).map(({ symbol }) => symbol)
}

/** The words of facts that are one of few; of other texts a model sees nothing. */
export const closedSets: Readonly<Record<string, readonly string[]>> = {
  'message.kind': ['message', 'dsn', 'feedback-report', 'auto-reply'],
  'authentication.spf': ['pass', 'fail', 'softfail', 'neutral', 'none', 'temperror', 'permerror'],
  'authentication.dmarc': ['pass', 'fail', 'none', 'unknown'],
  'authentication.dmarc_policy': ['none', 'quarantine', 'reject'],
  'authentication.arc': ['pass', 'fail', 'none', 'temperror', 'unchecked'],
  'bulk.precedence': ['bulk', 'list', 'junk'],
}

/**
 * What a model looks at has a name, and the name says how its number is made:
 *
 * - `group.name`: a number, or a boolean as 0 or 1;
 * - `group.name=value`: 1 where a word of a small closed set is this one, else 0;
 * - `group.name.size`: how many entries a list has;
 * - `symbol.NAME`: 1 where a rule raised this symbol.
 *
 * No text of a message, no name of a person or a host is ever among them.
 */
export type FeatureName = string

/** From what rows are made: of files no counter, reputation or envelope is known. */
export type RowSource = 'reports' | 'files'

/** So large numbers tell nothing more; and no fact makes a number that is none. */
const VALUE_MAX = 1e9

/**
 * The names of all that a model may learn from, in the order of the definitions; what is left out,
 * and why, says `unfit-facts.ts`.
 */
export function modelFeatures(
  definitions: readonly FactDefinition[],
  symbols: readonly string[],
  source: RowSource,
): FeatureName[] {
  const refuses = source === 'files' ? fileRefusalOf : unfitReason
  const fit = definitions.filter((one) => refuses(one) === undefined)
  return [...fit.flatMap(namesOf), ...symbols.map((name) => `symbol.${name}`)]
}

function namesOf({ group, name, type }: FactDefinition): FeatureName[] {
  const fact = `${group}.${name}`
  if (type === 'strings') return [`${fact}.size`]
  if (type === 'string') return (closedSets[fact] ?? []).map((value) => `${fact}=${value}`)
  return [fact]
}

/** Makes the numbers of one message, in the order of the names. */
export type FeatureReader = (
  facts: Facts,
  symbols: readonly { name: string }[],
) => Float64Array<ArrayBuffer>

type Part = { group: string; name: string; value: string | undefined }

const shape = /^([a-z]\w*)\.(\w+?)(\.size|=[\w-]{1,40})?$/i

/**
 * What is read for each name. The numbers stand in memory of the reader's own, until it is asked
 * again. What a message does not have is 0.
 *
 * Undefined for names that are none.
 */
export function featureReader(names: readonly FeatureName[]): FeatureReader | undefined {
  const parts: Part[] = []
  for (const feature of names) {
    const [, group, name, value] = shape.exec(feature) ?? []
    if (group === undefined || name === undefined) return undefined
    parts.push({ group, name, value: value?.startsWith('=') ? value.slice(1) : undefined })
  }
  const row = new Float64Array(parts.length)
  const symbolAt = new Map(
    parts.flatMap(({ group, name }, at) => (group === 'symbol' ? [[name, at] as const] : [])),
  )
  return (facts, symbols) => {
    for (const [at, part] of parts.entries()) row[at] = numberOf(facts, part)
    for (const { name } of symbols) {
      const at = symbolAt.get(name)
      if (at !== undefined) row[at] = 1
    }
    return row
  }
}

function numberOf(facts: Facts, { group, name, value }: Part): number {
  const fact = facts[group]?.[name]
  if (value !== undefined) return fact === value ? 1 : 0
  if (typeof fact === 'number') {
    return Number.isNaN(fact) ? 0 : Math.min(Math.max(fact, -VALUE_MAX), VALUE_MAX)
  }
  if (typeof fact === 'boolean') return fact ? 1 : 0
  return Array.isArray(fact) ? fact.length : 0
}

/** Those of the names that no fact stands behind, or only one that no model may see. */
export function strangeFeatures(
  names: readonly FeatureName[],
  definitions: readonly FactDefinition[],
): FeatureName[] {
  const known = new Set(modelFeatures(definitions, [], 'reports'))
  return names.filter((name) => !known.has(name) && !/^symbol\.[A-Z][A-Z0-9_]{0,63}$/.test(name))
}
