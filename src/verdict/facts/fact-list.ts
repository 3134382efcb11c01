import { attachmentsTable, linksTable, textTable } from './content-facts.ts'
import type { FactDefinition, Facts, FactType, FactValue } from './fact.ts'
import { definitionsOf } from './fact-table.ts'
import {
  authenticationTable,
  authorTable,
  bulkTable,
  headersTable,
  messageTable,
  originTable,
} from './message-facts.ts'
import { blacklistsTable, envelopeTable, networkTable, reportTable } from './outside-facts.ts'
import { reputationDefinitions } from './reputation-facts.ts'
import { seenDefinitions } from './seen-facts.ts'

/** All facts, by groups. Names are kept: rules and models are written in them. */
export const factDefinitions: readonly FactDefinition[] = [
  ...definitionsOf('report', reportTable),
  ...definitionsOf('envelope', envelopeTable),
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
  ...definitionsOf('blacklists', blacklistsTable),
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

/** All facts as they are when nothing is known. They are shared: to be read only. */
export function emptyFacts(): Facts {
  return empty
}

/**
 * The facts of one group of which some are known. The others are inherited from the empty group,
 * and no properties of its own: copying 200 facts of which few are known costs more than finding
 * them.
 */
export function groupOf(
  group: string,
  known: Readonly<Record<string, FactValue>>,
): Readonly<Record<string, FactValue>> {
  const its = { ...known }
  Object.setPrototypeOf(its, empty[group] ?? null)
  return its
}
