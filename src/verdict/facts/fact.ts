/** Type of a fact. It determines the operations that a rule may apply. */
export type FactType = 'bool' | 'double' | 'string' | 'strings'

/** The value of a fact. Numbers are doubles. The code that produces a list limits its length. */
export type FactValue = boolean | number | string | readonly string[]

/** The group of facts that are texts of the message. Rules alone may use them. */
export const CONTENT_GROUP = 'content'

/** A fact for rules and models; they refer to it as `group.name`. */
export type FactDefinition = {
  group: string
  name: string
  type: FactType
  /** A sentence for authors of rules, with the unit and the range. */
  meaning: string
}

/**
 * All facts of one message: `facts[group][name]`. Every defined fact is present; an unknown one is
 * false, 0, '' or an empty list.
 */
export type Facts = Readonly<Record<string, Readonly<Record<string, FactValue>>>>

type Described<Value> = Value extends boolean
  ? { type: 'bool'; meaning: string }
  : Value extends number
    ? { type: 'double'; meaning: string }
    : Value extends string
      ? { type: 'string'; meaning: string }
      : { type: 'strings'; meaning: string }

/**
 * The meanings of the facts of one group, by name. The type requires exactly one entry for each
 * fact.
 */
export type FactTable<Group extends Record<string, FactValue>> = {
  readonly [Name in keyof Group]-?: Described<Group[Name]>
}

/** Defines a fact that is true or false. */
export function bool(meaning: string): { type: 'bool'; meaning: string } {
  return { type: 'bool', meaning }
}

export function double(meaning: string): { type: 'double'; meaning: string } {
  return { type: 'double', meaning }
}

export function string(meaning: string): { type: 'string'; meaning: string } {
  return { type: 'string', meaning }
}

export function strings(meaning: string): { type: 'strings'; meaning: string } {
  return { type: 'strings', meaning }
}

export function definitionsOf(
  group: string,
  table: Readonly<Record<string, { type: FactType; meaning: string }>>,
): FactDefinition[] {
  return Object.entries(table).map(([name, { type, meaning }]) => ({ group, name, type, meaning }))
}
