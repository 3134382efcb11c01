import sql, { bulk } from 'sql-template-tag'
import type { Db } from './pool.ts'
import { isOneOfIds, prepared } from './prepared.ts'
import { findReport, type Report } from './reports.ts'
import { rowOf, valuesOf } from './rows.ts'

/** Locks the storing of spooled reports until the end of the transaction. */
export async function holdSpool(tx: Db): Promise<void> {
  await tx.query(sql`select pg_advisory_xact_lock(hashtextextended('spool', 0))`)
}

/** Returns those of the given ids that a report or an alias has. */
export async function listUsedIds(tx: Db, ids: readonly string[]): Promise<Set<string>> {
  const [reports, aliases] = await Promise.all([
    tx.query<{ id: string }>(prepared`select id from reports where ${isOneOfIds('id', ids)}`),
    tx.query<{ id: string }>(sql`select id from report_aliases where id = any(${ids}::uuid[])`),
  ])
  return new Set([...reports.rows, ...aliases.rows].map(({ id }) => id))
}

/**
 * Makes ids valid for the reports of the same messages. The id of a report of the spool is also its
 * own alias, which shows that the report was stored even after it is deleted.
 */
export async function insertAliases(
  tx: Db,
  aliases: readonly { id: string; reportId: string }[],
): Promise<void> {
  if (aliases.length === 0) return
  const values = bulk(aliases.map(({ id, reportId }) => [id, reportId]))
  await tx.query(sql`insert into report_aliases (id, report_id) values ${values}`)
}

export async function findReportOrAlias(db: Db, id: string): Promise<Report | undefined> {
  const report = await findReport(db, id)
  if (report) return report
  const reportId = await findAliased(db, id)
  return reportId === undefined ? undefined : findReport(db, reportId)
}

/** Whether an id is an alias, even if its report was deleted. */
export async function isAlias(db: Db, id: string): Promise<boolean> {
  return (await findAliased(db, id)) !== undefined
}

async function findAliased(db: Db, id: string): Promise<string | undefined> {
  const alias = await rowOf(db)<{ reportId: string }>`
    select report_id as "reportId" from report_aliases where id = ${id}`
  return alias?.reportId
}

/** Returns those of the given accounts that exist and are not being erased. */
export async function listStoredReporters(tx: Db, ids: readonly string[]): Promise<Set<string>> {
  const found = await valuesOf(tx)`
    select id from reporters where id = any(${ids}::uuid[]) and state <> 'erasing'`
  return new Set(found)
}
