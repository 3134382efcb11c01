import type { Readable, Writable } from 'node:stream'
import type pg from 'pg'
import sql from 'sql-template-tag'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { isInUse, listMovedTables, type MovedTable } from './move-rows.ts'
import { hasTable, rowsOf } from './rows.ts'

/**
 * Begins a transaction that sees all tables as they are now, and returns them; undefined if another
 * backup has one. No partition can be dropped before it ends.
 */
export async function beginSnapshot(db: pg.Client): Promise<MovedTable[] | undefined> {
  await db.query('begin isolation level repeatable read read only')
  const { rows } = await db.query<{ free: boolean }>(sql`
    select pg_try_advisory_xact_lock(hashtextextended('backup', 0)) as free`)
  if (rows[0]?.free !== true) return undefined
  const before = await listMovedTables(db)
  await db.query(`lock table ${before.map(({ name }) => name).join(', ')} in access share mode`)
  return before
}

/** The rows of a table as PostgreSQL writes them, in lines of text. */
export function copyRowsOut(db: pg.Client, { name, columns }: MovedTable): Readable {
  return db.query(copyTo(`copy (select ${columns.join(', ')} from ${name}) to stdout`))
}

export function copyRowsIn(db: pg.Client, { name, columns }: MovedTable): Writable {
  return db.query(copyFrom(`copy ${name} (${columns.join(', ')}) from stdin`))
}

/**
 * Removes all tables of an installation without reports and accounts; false if it has some, or if
 * it is not one of Signalpost.
 */
export async function dropInstallation(db: pg.Client): Promise<boolean> {
  if (!(await hasTable(db, 'public.reporters')) || (await isInUse(db))) return false
  await db.query('begin')
  await db.query('drop schema if exists pgboss cascade')
  for (const { drop } of await listOwnObjects(db)) await db.query(drop)
  await db.query('commit')
  return true
}

/**
 * The statements that drop the tables, functions and types of the schema `public`. It stays, with
 * the objects of extensions such as citus, because these would be dropped with it.
 */
async function listOwnObjects(db: pg.Client): Promise<{ drop: string }[]> {
  return rowsOf(db)<{ drop: string }>`
    select format('drop %s %s cascade', kind, name) as drop
    from (
      select 1 as place, 'table' as kind, oid::regclass::text as name, oid
      from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
        and not relispartition
      union all select 2, 'routine', oid::regprocedure::text, oid
      from pg_proc where pronamespace = 'public'::regnamespace
      union all select 3, 'type', reltype::regtype::text, oid
      from pg_class where relnamespace = 'public'::regnamespace and relkind = 'c'
    ) as found
    where not exists (select from pg_depend where objid = oid and deptype = 'e')
    order by place, name`
}

export async function findBossVersion(db: pg.Client): Promise<number> {
  const { rows } = await db.query<{ version: number }>('select version from pgboss.version')
  return rows[0]?.version ?? 0
}
