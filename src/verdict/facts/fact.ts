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
