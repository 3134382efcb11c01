import { unpack } from '../../src/db/rows.ts'
import type { Pool } from '../../src/db/pool.ts'

/** Returns all tables that contain a text, including in packed columns. */
export async function tablesWith(pool: Pool, text: string): Promise<string[]> {
  const { rows: tables } = await pool.query<{ name: string; packed: boolean; relation: string }>(
    `select format('%I.%I', table_schema, table_name) as relation, table_name as name,
       exists (select from information_schema.columns as c where c.table_schema = t.table_schema
         and c.table_name = t.table_name and c.column_name = 'encoding') as packed
     from information_schema.tables as t
     where table_schema in ('public', 'pgboss') and table_type = 'BASE TABLE'`,
  )
  const found: string[] = []
  for (const { name, packed, relation } of tables) {
    const { rowCount } = await pool.query(
      `select from ${relation} as r where r::text ilike '%' || $1 || '%'
         or r::text ilike '%' || encode($1::text::bytea, 'hex') || '%' limit 1`,
      [text],
    )
    let isThere = (rowCount ?? 0) > 0
    if (packed && !isThere) {
      const { rows } = await pool.query<{ encoding: 'zstd'; content: Buffer }>(
        `select encoding, content from ${relation}`,
      )
      for (const row of rows) {
        // Masked letters begin with a zero byte.
        const content = row.content[0] === 0 ? row.content.subarray(1) : row.content
        const plain = (await unpack({ ...row, content })).toString('latin1').toLowerCase()
        isThere ||= plain.includes(text.toLowerCase())
      }
    }
    if (isThere) found.push(name)
  }
  return found
}
