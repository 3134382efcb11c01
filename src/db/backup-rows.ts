import type { Readable, Writable } from 'node:stream'
import type pg from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { isInUse, listMovedTables, type MovedTable } from './move-rows.ts'
import { hasTable } from './rows.ts'

/**
 * Begins a transaction that sees all tables as they are now, and returns them. No partition can be
 * dropped before it ends.
 */
export async function beginSnapshot(db: pg.Client): Promise<MovedTable[]> {
  await db.query('begin isolation level repeatable read read only')
  const before = await listMovedTables(db)
  await db.query(`lock table ${before.map(({ name }) => name).join(', ')} in access share mode`)
  return before
}

/** The rows of a table as PostgreSQL writes them, in lines of text. */
export function copyRowsOut(db: pg.Client, { name, columns }: MovedTable): Readable {
  return db.query(copyTo(`copy (select ${columns.join(', ')} from ${name}) to stdout`))
}

/** Stores rows that `copyRowsOut` returned. */
export function copyRowsIn(db: pg.Client, { name, columns }: MovedTable): Writable {
  return db.query(copyFrom(`copy ${name} (${columns.join(', ')}) from stdin`))
}

/**
 * Removes all tables of an installation without reports and accounts; false if it has some, or if
 * it is not one of Signalpost.
 */
export async function dropInstallation(db: pg.Client): Promise<boolean> {
  if (!(await hasTable(db, 'public.reporters')) || (await isInUse(db))) return false
  await db.query('drop schema if exists pgboss cascade')
  await db.query('drop schema public cascade')
  await db.query('create schema public')
  return true
}

/** Returns the version of the schema of pg-boss. */
export async function findBossVersion(db: pg.Client): Promise<number> {
  const { rows } = await db.query<{ version: number }>('select version from pgboss.version')
  return rows[0]?.version ?? 0
}
