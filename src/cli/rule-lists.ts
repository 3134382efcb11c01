import { z } from 'zod'
import { listRuleListEntries, listRuleLists } from '../db/rule-lists.ts'
import { dateOf } from '../durations.ts'
import { CallerError } from '../errors.ts'
import {
  addRuleList,
  addRuleListEntries,
  dropRuleListEntries,
  readEntries,
  removeRuleList,
  tryRuleListEntries,
} from '../judging/rule-lists.ts'
import { dryRunReports } from '../verdict/rules/dry-run.ts'
import { ruleListBounds } from '../verdict/rules/rule-lists.ts'
import { columns, defineQuery, type Operations } from './command.ts'

const ROWS_AT_ONCE = 1_000

const list = defineQuery({
  name: 'rule-lists list',
  summary: 'show the lists to which rules can refer',
  async print(_, { pool }) {
    const lists = await listRuleLists(pool)
    if (lists.length === 0) return 'There are no lists.'
    const head = ['list', 'kind', 'entries', 'hits', 'note']
    const rows = lists.map((one) => {
      return [one.name, one.kind, String(one.entries), String(one.hits), one.note]
    })
    return columns([head, ...rows]).join('\n')
  },
})

const show = defineQuery({
  name: 'rule-lists show',
  summary: 'print the entries of a list, with their ends and hits',
  input: z.object({ list: z.string({ error: 'Name a list.' }).meta({ argument: 'LIST' }) }),
  async print({ list: name }, { pool }) {
    let [text, after] = ['', undefined as string | undefined]
    for (;;) {
      const rows = await listRuleListEntries(pool, name, { after, limit: ROWS_AT_ONCE })
      for (const { value, expiresAt, hits, note } of rows) {
        const term = expiresAt ? `until ${dateOf(expiresAt)}` : 'without end'
        text += `${value}  ${term}  hits ${hits}  ${note}\n`
      }
      if (rows.length < ROWS_AT_ONCE) return text
      after = rows.at(-1)?.value
    }
  },
})

const tryOut = defineQuery({
  name: 'rule-lists try',
  summary: 'show what the entries of a file would have hit in past reports',
  input: z.object({
    list: z.string({ error: 'Name a list.' }).meta({ argument: 'LIST' }),
    entries: z
      .string({ error: 'Name a file.' })
      .meta({ argument: 'FILE', fileBytesMax: ruleListBounds.importBytesMax }),
  }),
  async print({ list: name, entries }, { pool }) {
    const read = await readEntries(pool, name, entries)
    if ('problems' in read) throw new CallerError(422, read.problems[0]?.message ?? '')
    const { createParserPool } = await import('../parsing/parser-pool.ts')
    const parser = createParserPool(1)
    const options = { last: dryRunReports.usual, readWritten: parser.readWritten }
    const { reports, hits } = await tryRuleListEntries(pool, read, options).finally(() =>
      parser.close(),
    )
    const lines = hits.map((one) => [one.value, `${one.reports} reports`, `${one.wanted} wanted`])
    return [...columns(lines), `${hits.length} entries hit, in ${reports} reports.`].join('\n')
  },
})

export const operations: Operations = [
  ...[list, show, tryOut, addRuleList, addRuleListEntries],
  ...[dropRuleListEntries, removeRuleList],
]
