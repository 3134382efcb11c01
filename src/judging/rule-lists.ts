import { z } from 'zod'
import { daysField, defineAction, endOf, oneOf, textField } from '../actions.ts'
import { listJudgedFacts } from '../db/analyses.ts'
import type { Db } from '../db/pool.ts'
import {
  countRuleLists,
  deleteRuleList,
  findRuleList,
  insertRuleList,
  putRuleListEntries,
  removeRuleListEntries,
} from '../db/rule-lists.ts'
import { dateOf } from '../durations.ts'
import { refusal } from '../phrase.ts'
import {
  isRuleListName,
  listableFacts,
  readRuleListEntry,
  ruleListBounds,
  type RuleListKind,
  ruleListKinds,
  RuleLists,
} from '../verdict/rules/rule-lists.ts'
import { actingRules, type ReadWritten, readWrittenOf } from './rule-versions.ts'

const NOTE_CHARS_MAX = 300
const nameError = refusal('refused.list-name')

const nameField = z.string({ error: nameError }).trim().refine(isRuleListName, nameError)
const listField = nameField.meta({ argument: 'LIST' })
const noteField = textField(NOTE_CHARS_MAX, refusal('refused.list-note'))

/** Creates an empty list. */
export const addRuleList = defineAction({
  name: 'rule-lists create',
  summary: 'create a list to which rules can refer',
  audit: 'add rule list',
  role: 'operator',
  input: z.object({
    list: listField,
    kind: oneOf(ruleListKinds).meta({ argument: 'KIND' }),
    note: noteField,
  }),
  async run(tx, { list, kind, note }, { at }) {
    const { lists } = await countRuleLists(tx)
    if (lists >= ruleListBounds.listsMax) {
      return problem(refusal('refused.lists', { lists }))
    }
    if (!(await insertRuleList(tx, { name: list, kind, note, createdAt: at }))) {
      return problem(refusal('refused.list-exists'), 'list')
    }
    return { done: 'created', audit: `${list} (${kind}): ${note}` }
  },
})

/** Deletes a list that no active rule uses, with its entries. */
export const removeRuleList = defineAction({
  name: 'rule-lists delete',
  summary: 'delete a list and its entries',
  audit: 'remove rule list',
  role: 'operator',
  input: z.object({ list: listField }),
  async run(tx, { list }) {
    const { content } = await actingRules(tx)
    if (new RegExp(`listed\\(\\s*\\\\?["']${list}\\\\?["']`).test(content)) {
      return problem(refusal('refused.list-used'))
    }
    if (!(await deleteRuleList(tx, list))) return { unchanged: 'nothing' }
    return { done: 'deleted', audit: list }
  },
})

const megabytesMax = ruleListBounds.importBytesMax / 2 ** 20
const importError = refusal('refused.entries-large', { megabytes: megabytesMax })
const entriesField = z
  .string({ error: refusal('refused.no-entries') })
  .max(ruleListBounds.importBytesMax, importError)
  .meta({ argument: 'FILE', fileBytesMax: ruleListBounds.importBytesMax })

/** Adds entries, one on each line; those that the list has get the new note and end. */
export const addRuleListEntries = defineAction({
  name: 'rule-lists add',
  summary: 'add the entries of a file to a list, one on each line',
  audit: 'add list entries',
  role: 'operator',
  input: z.object({ list: listField, entries: entriesField, note: noteField, days: daysField }),
  async run(tx, { list, entries, note, days }, context) {
    const read = await readEntries(tx, list, entries)
    if ('problems' in read) return read
    const expiresAt = endOf(days, context)
    const changed = { note, addedAt: context.at, expiresAt }
    const { added, all } = await putRuleListEntries(tx, list, read.values, changed)
    if (all > ruleListBounds.entriesMax) {
      const most = ruleListBounds.entriesMax
      return problem(refusal('refused.entries-all', { max: most }), 'entries')
    }
    const term = expiresAt ? `until ${dateOf(expiresAt)}` : 'without end'
    return { done: 'added', count: added, audit: `${shown(list, read.values)}, ${term}: ${note}` }
  },
})

export const dropRuleListEntries = defineAction({
  name: 'rule-lists remove',
  summary: 'remove the entries of a file from a list',
  audit: 'remove list entries',
  role: 'operator',
  input: z.object({ list: listField, entries: entriesField }),
  async run(tx, { list, entries }) {
    const read = await readEntries(tx, list, entries)
    if ('problems' in read) return read
    const removed = await removeRuleListEntries(tx, list, read.values)
    if (removed.length === 0) return { unchanged: 'nothing' }
    return { done: 'removed', count: removed.length, audit: shown(list, removed) }
  },
})

const AUDITED_MAX = 20

/** The list with its entries for the audit log: the first ones, and the number of all. */
function shown(list: string, values: readonly string[]): string {
  const more = values.length - AUDITED_MAX
  const first = values.slice(0, AUDITED_MAX).join('; ')
  return `${list}: ${first}${more > 0 ? `; and ${more} more` : ''}`
}

function problem(message: string, field?: string) {
  return { problems: [{ message, field }] }
}

type Problems = { problems: readonly { message: string; field: string | undefined }[] }

/**
 * Reads entries, one on each line, each once. A line that begins with `#` is a comment. If a line
 * is not valid for the list, none is used.
 */
export async function readEntries(
  db: Db,
  list: string,
  text: string,
): Promise<{ kind: RuleListKind; values: readonly string[] } | Problems> {
  const found = await findRuleList(db, list)
  if (!found) return problem(refusal('refused.no-list'), 'list')
  const { entriesMax } = ruleListBounds
  const values = new Set<string>()
  let number = 0
  // A text of line ends alone is read without keeping its lines.
  for (const [line] of text.matchAll(/[^\n]*\n?/g)) {
    number++
    const entry = line.trim()
    if (entry === '' || entry.startsWith('#')) continue
    const value = readRuleListEntry(found.kind, entry)
    if (value === undefined) {
      return problem(
        refusal(`refused.entry-${found.kind}`, { line: number, max: ruleListBounds.wordsMax }),
        'entries',
      )
    }
    values.add(value)
    if (values.size > entriesMax) {
      return problem(refusal('refused.entries', { max: entriesMax }), 'entries')
    }
  }
  if (values.size === 0) return problem(refusal('refused.no-entries'), 'entries')
  return { kind: found.kind, values: [...values] }
}

/** What entries would have hit: each entry with the reports in which it was found. */
export type TriedEntries = {
  reports: number
  hits: readonly {
    value: string
    reports: number
    /** Of them, those of mail that looks wanted or that its reporter calls wanted. */
    wanted: number
    /** Some of the reports, wanted mail first. */
    examples: readonly string[]
  }[]
}

const EXAMPLES_MAX = 3
const BATCH = 100
const wantedClasses: readonly string[] = ['legitimate', 'marketing']

/**
 * Compares entries with the newest reports, as if a rule did it with each fact of their kind.
 * Writes nothing.
 */
export async function tryRuleListEntries(
  db: Db,
  { kind, values }: { kind: RuleListKind; values: readonly string[] },
  { last, readWritten, isOver }: { last: number; readWritten: ReadWritten; isOver?: () => boolean },
): Promise<TriedEntries> {
  const list = 'tried'
  const lists = new RuleLists(
    new Map([[list, kind]]),
    values.map((value) => ({ list, value })),
  )
  const names = Object.keys(listableFacts).filter((fact) => listableFacts[fact] === kind)
  const hits = new Map<string, { wanted: string[]; others: string[] }>()
  let [reports, before] = [0, undefined as string | undefined]
  while (reports < last && isOver?.() !== true) {
    const limit = Math.min(BATCH, last - reports)
    const rows = await listJudgedFacts(db, { before, limit })
    const written = await readWrittenOf(db, rows, readWritten)
    for (const { id, verdictClass } of rows) {
      lists.begin()
      const texts: Readonly<Record<string, string | readonly string[]>> = written.get(id) ?? {}
      for (const name of names) lists.isListed(list, texts[name.slice(name.indexOf('.') + 1)] ?? '')
      const side = wantedClasses.includes(verdictClass) ? 'wanted' : 'others'
      for (const { value } of lists.takeHits()) {
        hits.getOrInsertComputed(value, () => ({ wanted: [], others: [] }))[side].push(id)
      }
    }
    reports += rows.length
    before = rows.at(-1)?.id
    if (rows.length < limit) break
  }
  const found = [...hits].map(([value, { wanted, others }]) => ({
    value,
    reports: wanted.length + others.length,
    wanted: wanted.length,
    examples: [...wanted, ...others].slice(0, EXAMPLES_MAX),
  }))
  return {
    reports,
    hits: found.toSorted((a, b) => b.wanted - a.wanted || b.reports - a.reports),
  }
}
