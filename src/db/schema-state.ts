import { readdir } from 'node:fs/promises'
import path from 'node:path'
import pg from 'pg'
import { findShingleSeed } from './installation.ts'
import type { Db } from './pool.ts'

const folder = path.join(import.meta.dirname, '..', '..', 'migrations')

/** The migrations this program was made with. */
export async function expectedMigrations(): Promise<string[]> {
  const files = await readdir(folder)
  return files
    .filter((file) => /^\d{4}_.*\.sql$/.test(file))
    .map((file) => file.slice(0, -4))
    .sort()
}

/** What a database is to a process that wants to begin: `empty` when it lacks what that needs. */
export type DatabaseState = 'ready' | 'empty' | 'away'

/** Looks once, by a connection of its own; never throws. */
export async function databaseState(databaseUrl: string): Promise<DatabaseState> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5_000 })
  client.on('error', () => undefined)
  try {
    await client.connect()
    const { rows } = await client.query<{ ready: boolean }>(
      `select to_regclass('pgboss.queue') is not null
         and to_regclass('public.installation') is not null as ready`,
    )
    const isReady = rows[0]?.ready === true && (await findShingleSeed(client)) !== undefined
    return isReady ? 'ready' : 'empty'
  } catch {
    return 'away'
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** Which of these migrations the database lacks; throws when it cannot be asked. */
export async function missingMigrations(db: Db, expected: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select name from schema_migrations where name = any($1::text[])`,
    [expected],
  )
  const present = new Set(rows.map(({ name }) => name))
  return expected.filter((name) => !present.has(name))
}
