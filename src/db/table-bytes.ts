import type { Db } from './pool.ts'

/** Bytes on disk of tables with all their partitions, indexes and long values, by their names. */
export async function measureTables(
  db: Db,
  tables: readonly string[],
): Promise<{ table: string; bytes: number }[]> {
  const { rows } = await db.query<{ table: string; bytes: number }>(
    `select name as table, table_bytes(name) as bytes from unnest($1::text[]) as name`,
    [tables],
  )
  return rows
}
