/** What a fact is, and so what a rule may do with it. */
export type FactType = 'bool' | 'double' | 'string' | 'strings'

/** The value of a fact. Numbers are doubles; a list is bounded by who makes it. */
export type FactValue = boolean | number | string | readonly string[]

/** A fact that rules and models may use; `group.name` is how they write it. */
export type FactDefinition = {
  group: string
  name: string
  type: FactType
  /** A sentence for who writes rules, with the unit and the range. */
  meaning: string
}

/**
 * All facts of one message: `facts[group][name]`. Each fact of the list is there; what is not known
 * is false, 0, '' or an empty list.
 */
export type Facts = Readonly<Record<string, Readonly<Record<string, FactValue>>>>

type Described<Value> = Value extends boolean
  ? { type: 'bool'; meaning: string }
  : Value extends number
    ? { type: 'double'; meaning: string }
    : Value extends string
      ? { type: 'string'; meaning: string }
      : { type: 'strings'; meaning: string }

/** What the facts of one group mean, by their names: of each a description, of no other one. */
export type FactTable<Group extends Record<string, FactValue>> = {
  readonly [Name in keyof Group]-?: Described<Group[Name]>
}

/** A fact that is true or false. */
export function bool(meaning: string): { type: 'bool'; meaning: string } {
  return { type: 'bool', meaning }
}

/** A fact that is a number. */
export function double(meaning: string): { type: 'double'; meaning: string } {
  return { type: 'double', meaning }
}

/** A fact that is a text. */
export function string(meaning: string): { type: 'string'; meaning: string } {
  return { type: 'string', meaning }
}

/** A fact that is a list of texts. */
export function strings(meaning: string): { type: 'strings'; meaning: string } {
  return { type: 'strings', meaning }
}

/** The definitions of one group, in the order of its table. */
export function definitionsOf(
  group: string,
  table: Readonly<Record<string, { type: FactType; meaning: string }>>,
): FactDefinition[] {
  return Object.entries(table).map(([name, { type, meaning }]) => ({ group, name, type, meaning }))
}
