import type { FactDefinition, Facts } from '../facts/fact.ts'
import { closedSets, fileRefusalOf, refusalOf } from './unfit-facts.ts'

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
export function featuresOf(
  definitions: readonly FactDefinition[],
  symbols: readonly string[],
  source: RowSource,
): FeatureName[] {
  const refuses = source === 'files' ? fileRefusalOf : refusalOf
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
  const known = new Set(featuresOf(definitions, [], 'reports'))
  return names.filter((name) => !known.has(name) && !/^symbol\.[A-Z][A-Z0-9_]{0,63}$/.test(name))
}
