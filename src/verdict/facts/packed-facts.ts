import type { Facts, FactType, FactValue } from './fact.ts'
import { emptyFacts, factDefinitions, groupOf } from './fact-list.ts'

const groups = new Map<string, Map<string, FactType>>()
for (const { group, name, type } of factDefinitions) {
  const types = groups.get(group) ?? new Map<string, FactType>()
  groups.set(group, types.set(name, type))
}

/** A list of a fact has at most so many entries when it is read. */
const entriesMax = 100
const textCharsMax = 1_000

/** Facts as they are kept: JSON of those of the list that are not empty. */
export function packFacts(facts: Facts): Buffer {
  const sparse: Record<string, Record<string, FactValue>> = {}
  for (const [group, types] of groups) {
    const its = facts[group] ?? {}
    let kept: Record<string, FactValue> | undefined
    for (const name of Object.keys(its)) {
      const value = its[name]
      if (value === undefined || isEmpty(value) || !types.has(name)) continue
      kept ??= sparse[group] = {}
      kept[name] = value
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
