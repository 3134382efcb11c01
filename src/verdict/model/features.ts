import type { FactDefinition, Facts } from '../facts/fact.ts'

/**
 * Source of training rows: reports of the site, files with mail of the site, or files with mail of
 * other installations. Files have no counters, reputations or envelope.
 */
export type RowSource = 'reports' | 'own-files' | 'other-files'

/**
 * Returns why a model trained from a source must not use a fact; undefined when it may.
 *
 * Training labels rest on reporters' statements. A model that used these statements or the
 * reporter's karma would repeat the labels and learn nothing about messages.
 *
 * Files are mail collections that differ in age, language, mailbox provider and the way recipients
 * are redacted. A fact that identifies a collection would reveal its labels. It would mean nothing
 * in an installation, where all mail arrives the same way.
 */
export function refusalOf(
  { group, name }: Pick<FactDefinition, 'group' | 'name'>,
  source: RowSource,
): string | undefined {
  if (unfitGroups[group] !== undefined || source === 'reports') return unfitGroups[group]
  return fileGroups[group] ?? fileFacts[`${group}.${name}`]
}

const unfitGroups: Readonly<Record<string, string>> = {
  content: 'It is text. Models read pieces of the text, and numbers about it.',
  report: 'The reporter’s statement is the label, and karma is the trust in it.',
  pages: 'The reports that are the labels also confirm pages.',
  sender: 'Only checks of outgoing mail have it, so it is always empty in training.',
}

const unknown = 'It is never known for files, so its presence would distinguish reports from files.'
const way = 'It depends on the Received lines, which the provider of the collection wrote.'
const size = 'It depends mostly on fields that the receiving provider added.'
const recipient = 'Each collection hides the recipients in a different way.'
const years = 'Its use changed in the years between the collections.'

const fileGroups: Readonly<Record<string, string>> = {
  envelope: unknown,
  network: unknown,
  blacklists: unknown,
  reputation: unknown,
  seen: unknown,
  authentication: 'Keys rotate, so the signatures of old files can no longer be verified.',
  origin: way,
}

const fileFacts: Readonly<Record<string, string>> = {
  'message.kilobytes': size,
  'headers.fields': size,
  'headers.date_hours_ahead': way,
  'headers.return_path_other_domain':
    'It depends on whether the receiving provider writes the field.',
  'headers.return_path_empty': 'It depends on whether the receiving provider writes the field.',
  'headers.message_id_local': 'It depends on the provider to which the message was submitted.',
  'headers.message_id_foreign':
    'It depends on the provider to which the message was submitted, and on the return path.',
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
 * Returns the symbols that models may use: those of rules that use only permitted facts. Symbols of
 * rules that no longer exist are excluded, because they would always be 0 from now on.
 */
export function fitSymbols(
  rules: readonly { symbol: string; facts: readonly string[] }[],
): string[] {
  const isUnfit = (fact: string) => unfitGroups[fact.split('.')[0] ?? ''] !== undefined
  return rules.filter(({ facts }) => !facts.some(isUnfit)).map(({ symbol }) => symbol)
}

/** The possible values of facts with a fixed set of values. Models ignore other text facts. */
export const closedSets: Readonly<Record<string, readonly string[]>> = {
  'message.kind': ['message', 'dsn', 'feedback-report', 'auto-reply'],
  'authentication.spf': ['pass', 'fail', 'softfail', 'neutral', 'none', 'temperror', 'permerror'],
  'authentication.dmarc': ['pass', 'fail', 'none', 'unknown'],
  'authentication.dmarc_policy': ['none', 'quarantine', 'reject'],
  'authentication.arc': ['pass', 'fail', 'none', 'temperror', 'unchecked'],
  'bulk.precedence': ['bulk', 'list', 'junk'],
}

/**
 * Name of a model feature. It says how the number is computed:
 *
 * - `group.name`: a number, or a boolean as 0 or 1;
 * - `group.name=value`: 1 if the fact has this value of its fixed set, else 0;
 * - `group.name.size`: the number of entries of a list;
 * - `symbol.NAME`: 1 if a rule raised this symbol, else 0.
 *
 * Features never contain text of a message or names of persons or hosts.
 */
export type FeatureName = string

/**
 * Maximum absolute value of a feature. Values beyond it carry no information and are clamped; NaN
 * becomes 0.
 */
const VALUE_MAX = 1e9

/**
 * Returns the names of all features that a model may use, in the order of the definitions. See
 * `refusalOf` for the excluded facts.
 */
export function modelFeatures(
  definitions: readonly FactDefinition[],
  symbols: readonly string[],
  source: RowSource,
): FeatureName[] {
  const fit = definitions.filter((one) => refusalOf(one, source) === undefined)
  return [...fit.flatMap(namesOf), ...symbols.map((name) => `symbol.${name}`)]
}

function namesOf({ group, name, type }: FactDefinition): FeatureName[] {
  const fact = `${group}.${name}`
  if (type === 'strings') return [`${fact}.size`]
  if (type === 'string') return (closedSets[fact] ?? []).map((value) => `${fact}=${value}`)
  return [fact]
}

/** Computes the features of one message, in the order of the names. */
export type FeatureReader = (
  facts: Facts,
  symbols: readonly { name: string }[],
) => Float64Array<ArrayBuffer>

type Part = { group: string; name: string; value: string | undefined }

const shape = /^([a-z]\w*)\.(\w+?)(\.size|=[\w-]{1,40})?$/i

/**
 * Returns a reader for the named features. The result of a call is valid until the next call,
 * because the reader reuses its memory. Facts that a message lacks are 0.
 *
 * Undefined when a name is invalid.
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

/** Returns the names that refer to no fact, or only to a fact that models must not use. */
export function unusableFeatures(
  names: readonly FeatureName[],
  definitions: readonly FactDefinition[],
): FeatureName[] {
  const known = new Set(modelFeatures(definitions, [], 'reports'))
  return names.filter((name) => !known.has(name) && !/^symbol\.[A-Z][A-Z0-9_]{0,63}$/.test(name))
}
