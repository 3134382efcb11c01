import type { Pool } from '../../../src/db/pool.ts'
import type { Statement } from './serve.ts'

/** A statement that reads all of a large table. */
export type SlowPlan = { page: string; table: string; text: string }

type Node = {
  'Node Type': string
  'Relation Name'?: string
  'Plan Rows': number
  Filter?: string
  Plans?: Node[]
}

/** Below this number of rows, PostgreSQL may read a table without an index. */
const ROWS_MANY = 5_000

/** Returns the statements whose plan scans a large table, or a weekly partition of one. */
export async function explain(pool: Pool, statements: readonly Statement[]): Promise<SlowPlan[]> {
  const large = await listLarge(pool)
  const slow: SlowPlan[] = []
  for (const { text, values } of statements) {
    if (!/^\s*(select|with|insert|update|delete)/i.test(text)) continue
    const { rows } = await pool.query<{ 'QUERY PLAN': { Plan: Node }[] }>(
      `explain (format json) ${text}`,
      [...values],
    )
    const plan = rows[0]?.['QUERY PLAN'][0]?.Plan
    const table = plan && findScan(plan, large)
    if (table !== undefined) slow.push({ page: '', table, text })
  }
  return slow
}

async function listLarge(pool: Pool): Promise<Set<string>> {
  const { rows } = await pool.query<{ name: string }>(
    `select relname as name from pg_class where relkind = 'r' and reltuples >= $1`,
    [ROWS_MANY],
  )
  return new Set(rows.map(({ name }) => name))
}

/** A scan that returns any rows, up to a limit, reads no more of the table than that. */
function findScan(node: Node, large: ReadonlySet<string>, isLimited = false): string | undefined {
  const table = node['Relation Name']
  const isScan = node['Node Type'] === 'Seq Scan' && !(isLimited && node.Filter === undefined)
  if (isScan && table !== undefined && large.has(table)) return table
  const passesLimit = node['Node Type'] === 'Limit' || (isLimited && node['Node Type'] === 'Append')
  for (const child of node.Plans ?? []) {
    const found = findScan(child, large, passesLimit)
    if (found !== undefined) return found
  }
  return undefined
}
