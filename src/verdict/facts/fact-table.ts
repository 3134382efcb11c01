import type { FactDefinition, FactType, FactValue } from './fact.ts'

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
