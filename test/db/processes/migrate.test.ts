import pg from 'pg'
import { pino } from 'pino'
import { afterAll, expect, inject, test } from 'vitest'
import { readConfig } from '../../../src/config.ts'
import { checkBackend } from '../../../src/db/backend.ts'
import { openApp } from '../../../src/processes/open-app.ts'
import { shingleSeed } from '../../../src/pieces/shingles/hash.ts'
import { migrateAll } from '../../../src/processes/migrate.ts'
import {
  databaseState,
  ensureInstallation,
  expectedMigrations,
  findShingleSeed,
  migrate,
  missingMigrations,
} from '../../../src/db/installation.ts'
import { createPool, type Pool } from '../../../src/db/pool.ts'
import { freshDatabase } from '../../support/database.ts'

let made = 0

const admin = new pg.Client({ connectionString: `${inject('serverUrl')}/postgres` })
await admin.connect()

afterAll(() => admin.end())

/** Creates an empty database; the global teardown drops it. */
async function emptyDatabase(): Promise<string> {
  const name = inject('templateName').replace('template', `empty_${process.pid}_${++made}`)
  await admin.query(`create database ${name}`)
  return `${inject('serverUrl')}/${name}`
}

async function ask<T extends pg.QueryResultRow>(url: string, sql: string): Promise<T[]> {
  return withPool(url, async (pool) => (await pool.query<T>(sql)).rows)
}

async function withPool<T>(url: string, work: (pool: Pool) => Promise<T>): Promise<T> {
  const pool = createPool(url, { connectionsMax: 3, name: 'test', onLost: () => undefined })
  try {
    return await work(pool)
  } finally {
    await pool.end()
  }
}

test('from an empty database every migration runs once and in order; then none', async () => {
  const url = await emptyDatabase()
  expect(await migrate(url, 'postgres')).toEqual(await expectedMigrations())
  expect(await migrate(url, 'postgres')).toEqual([])
})

test('processes that migrate at once run each migration once', async () => {
  const url = await emptyDatabase()
  const ran = await Promise.all([1, 2, 3].map(() => migrateAll(url, new Date())))
  expect(ran.flat()).toEqual(await expectedMigrations())
  expect(await ask(url, 'select name from schema_migrations')).toHaveLength(ran.flat().length)
})

test('a database gets one seed from the first process, and keeps it', async () => {
  const url = await emptyDatabase()
  await migrate(url, 'postgres')
  expect(await withPool(url, findShingleSeed)).toBe(undefined)
  expect(await databaseState(url)).toBe('empty')
  await Promise.all([1, 2].map(() => migrateAll(url, new Date())))
  expect(await databaseState(url)).toBe('ready')
  const seed = await withPool(url, findShingleSeed)
  expect(seed).toBeTypeOf('bigint')
  expect(seed).not.toBe(shingleSeed())
  await migrateAll(url, new Date())
  await withPool(url, (pool) => ensureInstallation(pool, 4n))
  expect(await withPool(url, findShingleSeed)).toBe(seed)
  expect(await ask(url, 'select is_only from installation')).toHaveLength(1)
})

test('two databases have different seeds', async () => {
  const urls = [await emptyDatabase(), await emptyDatabase()]
  await Promise.all(urls.map((url) => migrateAll(url, new Date())))
  const seeds = await Promise.all(urls.map((url) => withPool(url, findShingleSeed)))
  expect(new Set(seeds).size).toBe(2)
})

test('a seed is read exactly, and of several at once one is stored', async () => {
  const url = await emptyDatabase()
  await migrate(url, 'postgres')
  await withPool(url, async (pool) => {
    for (const seed of [0n, 1n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n]) {
      await pool.query('update installation set shingle_seed = null')
      await ensureInstallation(pool, seed)
      await Promise.all([5n, 6n, 7n].map((other) => ensureInstallation(pool, other)))
      expect(await findShingleSeed(pool)).toBe(seed)
    }
  })
})

test('a database keeps the backend that it was created with, and others are refused', async () => {
  const url = await emptyDatabase()
  await migrateAll(url, new Date())
  expect(await ask(url, 'select backend from installation')).toEqual([{ backend: 'postgres' }])
  const refusal = {
    name: 'DatabaseUnsuitable',
    message:
      'DB_BACKEND is "citus", but this database was created with "postgres". Set ' +
      'DB_BACKEND=postgres, or move everything to a new database with "signalpost move".',
  }
  await expect(migrateAll(url, new Date(), { backend: 'citus' })).rejects.toMatchObject(refusal)
  await withPool(url, async (pool) => {
    await checkBackend(pool, 'postgres')
    await expect(checkBackend(pool, 'citus')).rejects.toMatchObject(refusal)
    await pool.query(`update installation set backend = 'citus'`)
    await expect(checkBackend(pool, 'postgres')).rejects.toThrow('Set DB_BACKEND=citus')
    await expect(checkBackend(pool, 'citus')).rejects.toThrow('lacks settings for Citus')
  })
})

test('a process refuses a database with another backend', async () => {
  const { url, close } = await freshDatabase()
  const env = { DATABASE_URL: url, DB_BACKEND: 'citus', SECRET: 'x'.repeat(32) }
  const config = { ...readConfig(env, { cores: 1, cwd: '/nowhere' }), databaseUrl: url }
  const log = pino({ level: 'silent' })
  await expect(openApp(config, 'sends', log, 'test', 'a moment')).rejects.toThrow(
    'DB_BACKEND is "citus", but this database was created with "postgres".',
  )
  await close()
})

test('without the extension, Citus is refused before anything is created', async () => {
  const url = await emptyDatabase()
  await expect(migrateAll(url, new Date(), { backend: 'citus' })).rejects.toThrow(
    'DB_BACKEND is "citus", but the database does not have the extension citus.',
  )
  const tables = await ask(
    url,
    "select relname from pg_class where relnamespace = 'public'::regnamespace",
  )
  expect(tables).toEqual([])
})

test('a lock left by a killed process does not block the next', async () => {
  const url = await emptyDatabase()
  await migrate(url, 'postgres')
  await ask(url, 'update schema_migrations_lock set is_locked = 1')
  expect(await migrate(url, 'postgres')).toEqual([])
})

test('a failed migration leaves nothing behind', async () => {
  const url = await emptyDatabase()
  await ask(url, 'create table tokens (surprise text)')
  await expect(migrate(url, 'postgres')).rejects.toMatchObject({ code: '42P07' })
  const tables = await ask(url, "select to_regclass('reporters')::text as reporters")
  expect(tables).toEqual([{ reporters: null }])
})

test('a database lists the migrations it lacks', async () => {
  const { pool, close } = await freshDatabase()
  const expected = await expectedMigrations()
  expect(await missingMigrations(pool, expected)).toEqual([])
  const future = [...expected, '9999_colonies']
  expect(await missingMigrations(pool, future)).toEqual(['9999_colonies'])
  await close()
})

test('a missing database is an error, not a wait', async () => {
  await expect(migrate(`${inject('serverUrl')}/nowhere`, 'postgres')).rejects.toMatchObject({
    code: '3D000',
  })
})

test.for([
  ['the schema and the database', '', 'permission denied for schema public'],
  ['the database', 'grant create on schema public to', 'permission denied for database'],
  ['what another account made', 'migrated', 'permission denied for table installation'],
] as const)(
  'without the right to change %s, the error is one sentence',
  async ([, grant, reason]) => {
    const url = new URL(await emptyDatabase())
    const role = `limited_${process.pid}_${made}`
    await admin.query(`create role ${role} login password 'limited'`)
    if (grant === 'migrated') await migrate(url.href, 'postgres')
    else if (grant !== '') await ask(url.href, `${grant} ${role}`)
    url.username = role
    url.password = 'limited'
    try {
      const error: unknown = await migrateAll(url.href, new Date()).catch(
        (thrown: unknown) => thrown,
      )
      expect(error).toMatchObject({ name: 'DatabaseUnsuitable' })
      const { message } = error as Error
      expect(message).toContain(`lacks a permission (${reason}`)
      expect(message).toContain('Make it the owner of the database')
    } finally {
      url.username = ''
      await ask(`${inject('serverUrl')}${url.pathname}`, `drop owned by ${role} cascade`)
      await admin.query(`drop role ${role}`)
    }
  },
)

test('a version that is too old for the database refuses to use it, with a sentence', async () => {
  const url = await emptyDatabase()
  await migrateAll(url, new Date())
  // A newer version has only added what this one does not know.
  await ask(url, `insert into schema_migrations (name, batch) values ('9998_adds_a_table', 99)`)
  expect(await migrate(url, 'postgres')).toEqual([])
  const removed = '9999_removes_a_table'
  await ask(url, `insert into schema_migrations (name, batch) values ('${removed}', 100)`)
  await ask(url, `update installation set needs_migration = '${removed}'`)
  const refusal = /too old for the database.*9999_removes_a_table.*Install/
  await expect(migrate(url, 'postgres')).rejects.toThrow(refusal)
  const config = { ...readConfig({}, { cores: 1, cwd: '/nowhere' }), databaseUrl: url }
  const log = pino({ level: 'silent' })
  await expect(openApp(config, 'sends', log, 'test', 'a moment')).rejects.toThrow(refusal)
})
