import { listMovedTables, openMover } from '../../src/db/move-rows.ts'
import { inTransaction, type Pool } from '../../src/db/pool.ts'
import { insertReports, type NewReport } from '../../src/db/reports.ts'
import { uuidv7 } from '../../src/world.ts'
import { isDistributed } from './database.ts'

/** Composes a report as intake stores it; `fields` replaces the relevant fields. */
export function newReport(fields: Partial<NewReport> = {}): NewReport {
  const receivedAt = fields.receivedAt ?? new Date()
  return {
    id: uuidv7(receivedAt),
    reporterId: '00000000-0000-7000-8000-000000000001',
    channel: 'api',
    kind: 'spam',
    receivedAt,
    messageBytes: 100,
    author: 'offers@shop.example',
    subject: 'Cheap watches',
    messageId: '<1@shop.example>',
    datedAt: null,
    comment: null,
    receivedVia: [],
    rebuiltFrom: null,
    ...fields,
  }
}

/** Adds reports and returns their ids. */
export async function addReports(pool: Pool, reports: readonly NewReport[]): Promise<string[]> {
  await inTransaction(pool, (tx) => insertReports(tx, reports))
  return reports.map(({ id }) => id)
}

/** Resolves when a statement in the database waits for a lock of another transaction. */
export async function untilBlocked(pool: Pool): Promise<void> {
  const waiting = isDistributed
    ? 'select from citus_lock_waits'
    : `select from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`
  while ((await pool.query(waiting)).rowCount === 0);
}

/** Returns the rows of all tables of a database as text, sorted. */
export async function allRowsOf(url: string): Promise<Record<string, string[]>> {
  const client = await openMover(url)
  const found: Record<string, string[]> = {}
  for (const { name, columns } of await listMovedTables(client)) {
    const { rows } = await client.query<{ row: string }>(
      `select row(${columns.join(', ')})::text as row from ${name} order by 1`,
    )
    if (rows.length > 0) found[name] = rows.map(({ row }) => row)
  }
  await client.end()
  return found
}
