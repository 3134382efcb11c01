import sql from 'sql-template-tag'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Knex } from 'knex'
import pg from 'pg'
import { DatabaseUnsuitable } from '../errors.ts'
import { type Backend, prepareBackend } from './backend.ts'
import { lockKeys } from './lock-keys.ts'
import { type Db, withClient } from './pool.ts'
import { hasTable, numberOf, valuesOf } from './rows.ts'
import { splitStatements } from './split-statements.ts'

/**
 * Stores the seed of the shingles (below 2^64), unless the database has one. Of several concurrent
 * callers, one succeeds.
 */
export async function ensureInstallation(db: Db, shingleSeed: bigint): Promise<void> {
  await db.query(sql`
    update installation set shingle_seed = ${BigInt.asIntN(64, shingleSeed).toString()}
    where shingle_seed is null`)
}

/** Returns the seed of the shingles; undefined when the database has none. */
export async function findShingleSeed(db: Db): Promise<bigint | undefined> {
  // As text, because the pool converts 64-bit integers to numbers.
  const { rows } = await db.query<{ seed: string }>(
    'select shingle_seed::text as seed from installation where shingle_seed is not null',
  )
  return rows[0] && BigInt.asUintN(64, BigInt(rows[0].seed))
}

const folder = path.join(import.meta.dirname, '..', '..', 'migrations')

/** Returns the names of the migrations that belong to this version of the program. */
export async function expectedMigrations(): Promise<string[]> {
  const files = await readdir(folder)
  return files
    .filter((file) => /^\d{4}_.*\.sql$/.test(file))
    .map((file) => file.slice(0, -4))
    .sort()
}

/** Whether a process can start on a database; `empty`: it lacks the tables or the seed. */
export type DatabaseState = 'ready' | 'empty' | 'away'

const CHECKING = { name: 'signalpost check', waitMs: 5_000 }

/**
 * Checks the database once over a separate connection; never throws. A server that does not answer
 * within `waitMs` is away.
 */
export function databaseState(
  databaseUrl: string,
  waitMs: number = CHECKING.waitMs,
): Promise<DatabaseState> {
  return withClient(databaseUrl, { ...CHECKING, waitMs }, async (client) => {
    const { rows } = await client.query<{ ready: boolean }>(sql`
      select to_regclass('pgboss.queue') is not null
      and to_regclass('public.installation') is not null as ready`)
    const isReady = rows[0]?.ready === true && (await findShingleSeed(client)) !== undefined
    return isReady ? ('ready' as const) : ('empty' as const)
  }).catch(() => 'away' as const)
}

/** Whether a database of ours answers and may be written to; never throws. */
export function isWritable(databaseUrl: string): Promise<boolean> {
  return withClient(databaseUrl, CHECKING, async (client) => {
    const { rows } = await client.query<{ isReadOnly: boolean }>(sql`
      select current_setting('transaction_read_only')::boolean as "isReadOnly" from installation`)
    return rows[0]?.isReadOnly === false
  }).catch(() => false)
}

/** What a check of an installation reads from its server. */
export type ServerFacts = {
  /** As in `server_version_num`: 180004 is 18.4. */
  version: number
  /** Whether the account may create tables. */
  mayCreate: boolean
  at: Date
  /** The migrations that have run; undefined if none has. */
  ran: string[] | undefined
  /** Whether a newer version removed what this one uses. */
  isTooNew: boolean
  localAdmins: number
}

/**
 * `localAdmins` counts the administrators among these accounts who can sign in with a password.
 *
 * @throws when the server does not answer
 */
export function findServerFacts(
  databaseUrl: string,
  localAccounts: readonly string[] = [],
): Promise<ServerFacts> {
  return withClient(databaseUrl, CHECKING, async (client) => {
    const { rows } = await client.query<Omit<ServerFacts, 'ran' | 'isTooNew' | 'localAdmins'>>(sql`
      select current_setting('server_version_num')::int as version, transaction_timestamp() as at,
        has_schema_privilege('public', 'create') as "mayCreate"`)
    const [facts] = rows
    if (!facts) throw new Error('The server gave no answer.')
    if (!(await hasTable(client, 'public.installation'))) {
      return { ...facts, ran: undefined, isTooNew: false, localAdmins: 0 }
    }
    const isTooNew = await checkVersion(client).then(
      () => false,
      (error: unknown) => error instanceof DatabaseUnsuitable,
    )
    const localAdmins = localAccounts.length > 0 ? await countLocalAdmins(client, localAccounts) : 0
    return { ...facts, ran: await listRan(client), isTooNew, localAdmins }
  })
}

function countLocalAdmins(db: Db, addresses: readonly string[]): Promise<number> {
  return numberOf(db)`
    select count(*) as count from reporters where email = any(${addresses}::text[])
      and role = 'administrator' and state = 'active' and password_hash is not null`
}

function listRan(db: Db): Promise<string[]> {
  return valuesOf(db)`
    select name from schema_migrations order by name`
}

/**
 * Returns the given migrations that the database lacks.
 *
 * @throws when the query fails
 */
export async function missingMigrations(db: Db, expected: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(sql`
    select name from schema_migrations where name = any(${expected}::text[])`)
  const present = new Set(rows.map(({ name }) => name))
  return expected.filter((name) => !present.has(name))
}

/**
 * Checks that this version of the program is not too old for the database.
 *
 * @throws DatabaseUnsuitable if a migration that it does not know removed what it uses
 */
export async function checkVersion(db: Db): Promise<void> {
  // The column may not exist yet.
  const { rows } = await db.query<{ needed: string | null }>(sql`
    select to_jsonb(installation) ->> 'needs_migration' as needed from installation`)
  const needed = rows[0]?.needed ?? null
  if (needed === null || (await expectedMigrations()).includes(needed)) return
  throw new DatabaseUnsuitable(
    `This version of Signalpost is too old for the database, which a newer version has upgraded ` +
      `(${needed}). Install that version or a newer one.`,
  )
}

/**
 * Runs the missing migrations and returns their names. Concurrent callers wait for each other's
 * lock. Migrations go forward only. The first one stores the backend. With `until`, later
 * migrations do not run. Migrations of a newer version stay.
 *
 * @throws DatabaseUnsuitable if the database was migrated with another backend, if Citus is not
 *   ready in it, or if the database is too new
 */
export async function migrate(
  databaseUrl: string,
  backend: Backend,
  until?: string,
): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5_000 })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await prepareBackend(client, backend)
    if (await hasTable(client, 'public.installation')) await checkVersion(client)
    if (await isCurrent(client)) return []
  } finally {
    await client.end().catch(() => undefined)
  }
  // Only migrations need this library of 300 modules.
  const { default: knex } = await import('knex')
  const database = knex({
    client: 'pg',
    connection: { connectionString: databaseUrl, application_name: 'signalpost migrate' },
    pool: { min: 0, max: 3 },
    // Errors are thrown as well, and standard output is for results.
    log: { warn: quiet, error: quiet, deprecate: quiet, debug: quiet },
  })
  try {
    // Locks in a transaction, because a connection pooler may give each query another session.
    return await database.transaction(async (holder) => {
      await holder.raw('set local idle_in_transaction_session_timeout = 0')
      await holder.raw('select pg_advisory_xact_lock(?)', [lockKeys.migrations])
      const settings = {
        migrationSource: sqlFiles(backend, until),
        tableName: 'schema_migrations',
        // A newer version may have run migrations that this one does not know.
        disableMigrationsListValidation: true,
      }
      // This process holds the lock, so a lock row of knex was left by a process that was killed.
      await database.migrate.forceFreeMigrationsLock(settings)
      const [, ran] = (await database.migrate.latest(settings)) as [number, string[]]
      return ran
    })
  } finally {
    await database.destroy()
  }
}

async function isCurrent(db: Db): Promise<boolean> {
  if (!(await hasTable(db, 'public.schema_migrations'))) return false
  return (await missingMigrations(db, await expectedMigrations())).length === 0
}

const quiet = () => undefined

/**
 * The migrations as knex wants them. Their statements run one by one: Citus sends the text of a
 * query to its nodes, which refuse several statements.
 */
const sqlFiles = (backend: Backend, until: string | undefined) => ({
  async getMigrations(): Promise<string[]> {
    const names = await expectedMigrations()
    return names.filter((name) => until === undefined || name <= until)
  },
  getMigrationName: (name: string) => name,
  async getMigration(name: string) {
    const statements = splitStatements(await readFile(path.join(folder, `${name}.sql`), 'utf8'))
    return {
      async up(transaction: Knex) {
        await transaction.raw(`select set_config('signalpost.backend', ?, true)`, [backend])
        for (const one of statements) await transaction.raw(one.replaceAll('?', '\\?'))
      },
      down: () => Promise.reject(new Error(`${name} cannot be undone: migrations only go forward`)),
    }
  },
})
