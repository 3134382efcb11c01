import type { FactDefinition, Facts, FactType, FactValue } from './fact.ts'
import { emptyFacts, factDefinitions } from './fact-list.ts'

const byGroup = new Map<string, FactDefinition[]>()
for (const definition of factDefinitions) {
  byGroup.set(definition.group, [...(byGroup.get(definition.group) ?? []), definition])
}

/** A list of a fact has at most so many entries when it is read. */
const entriesMax = 100
const textCharsMax = 1_000

/** Facts as they are kept: JSON of those that are not empty. */
export function packFacts(facts: Facts): Buffer {
  const empty = emptyFacts()
  const sparse: Record<string, Record<string, FactValue>> = {}
  for (const [group, definitions] of byGroup) {
    const its = facts[group]
    const none = empty[group]
    if (!its || its === none) continue
    for (const { name, type } of definitions) {
      const value = its[name]
      if (value === undefined || isEmpty(value, type)) continue
      ;(sparse[group] ??= {})[name] = value
    }
  }
  return Buffer.from(JSON.stringify(sparse))
}

/**
 * Facts as they were kept, by the list of today: what is missing or of another type is empty, what
 * is no fact any more is dropped. Never throws.
 */
export function unpackFacts(packed: Buffer): Facts {
  const sparse = parsed(packed)
  const facts: Record<string, Readonly<Record<string, FactValue>>> = { ...emptyFacts() }
  for (const [group, definitions] of byGroup) {
    const its = membersOf(sparse, group)
    if (!its) continue
    const known: Record<string, FactValue> = { ...facts[group] }
    for (const { name, type } of definitions) {
      const value = Object.hasOwn(its, name) ? its[name] : undefined
      if (isOfType(value, type)) known[name] = value
    }
    facts[group] = known
  }
  return facts
}

function isEmpty(value: FactValue, type: FactType): boolean {
  if (type === 'strings') return Array.isArray(value) && value.length === 0
  return value === false || value === 0 || value === '' || Number.isNaN(value)
}

function parsed(packed: Buffer): unknown {
  try {
    return JSON.parse(packed.toString())
  } catch {
    return undefined
  }
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
