import sql from 'sql-template-tag'
import { DatabaseUnsuitable } from '../errors.ts'
import { lockKeys } from './lock-keys.ts'
import type { Db } from './pool.ts'
import { hasTable, valuesOf } from './rows.ts'

/** What stores the tables: one PostgreSQL server, or several that Citus makes one database of. */
export type Backend = 'postgres' | 'citus'

/** Returns the stored backend; undefined for a database without tables. */
async function findBackend(db: Db): Promise<Backend | undefined> {
  if (!(await hasTable(db, 'public.installation'))) return undefined
  const { rows } = await db.query<{ backend: Backend }>('select backend from installation')
  return rows[0]?.backend
}

/**
 * Prepares a database for the migrations. The backend is chosen by the first one.
 *
 * @throws DatabaseUnsuitable if the database was migrated with another backend, or if Citus is not
 *   ready in it
 */
export async function prepareBackend(db: Db, backend: Backend): Promise<void> {
  const stored = await findBackend(db)
  if (stored !== undefined && stored !== backend) throw differs(stored, backend)
  if (backend === 'citus') await setUpCitus(db, await countNodes(db))
}

/**
 * Checks that a migrated database has the backend that the configuration names.
 *
 * @throws DatabaseUnsuitable if it has not
 */
export async function checkBackend(db: Db, backend: Backend): Promise<void> {
  const stored = await findBackend(db)
  if (stored !== undefined && stored !== backend) throw differs(stored, backend)
  if (backend === 'postgres') return
  const { rows } = await db.query<{ mode: string | null }>(sql`
    select current_setting('citus.multi_shard_modify_mode', true) as mode`)
  if (rows[0]?.mode === 'sequential') return
  throw new DatabaseUnsuitable(
    'The database lacks settings for Citus. Run "signalpost migrate", then start again.',
  )
}

/**
 * Returns the host and port of each worker of a distributed database that the coordinator does not
 * reach; none on a single server.
 */
export async function listLostNodes(db: Db): Promise<string[]> {
  if ((await findBackend(db)) !== 'citus') return []
  return valuesOf(db)`
    select nodename || ':' || nodeport as node from run_command_on_workers('select 1')
    where not success order by 1`
}

function differs(stored: Backend, backend: Backend): DatabaseUnsuitable {
  return new DatabaseUnsuitable(
    `DB_BACKEND is "${backend}", but this database was created with "${stored}". Set ` +
      `DB_BACKEND=${stored}, or move everything to a new database with "signalpost move".`,
  )
}

/**
 * Returns the number of nodes that store distributed tables.
 *
 * @throws DatabaseUnsuitable if the database has none
 */
async function countNodes(db: Db): Promise<number> {
  const { rows: found } = await db.query<{ exists: boolean }>(sql`
    select exists (select from pg_extension where extname = 'citus') as exists`)
  if (found[0]?.exists !== true) {
    throw new DatabaseUnsuitable(
      'DB_BACKEND is "citus", but the database does not have the extension citus. Run "create ' +
        'extension citus" in this database on every node, or set DB_BACKEND=postgres.',
    )
  }
  const { rows } = await db.query<{ nodes: number; isWorker: boolean }>(sql`
    select count(*)::int as nodes, (select groupid <> 0 from pg_dist_local_group) as "isWorker"
    from pg_dist_node where noderole = 'primary' and isactive and shouldhaveshards`)
  const { nodes = 0, isWorker = false } = rows[0] ?? {}
  if (isWorker) {
    throw new DatabaseUnsuitable(
      'DATABASE_URL names a worker node of Citus. It must name the coordinator.',
    )
  }
  if (nodes > 0) return nodes
  throw new DatabaseUnsuitable(
    'The database has no worker nodes. Add each one on the coordinator with "select ' +
      `citus_add_node('host', 5432)".`,
  )
}

/**
 * Sets what every session on a database of Citus needs, as settings of the database, because a
 * connection pooler may refuse settings of a connection. Only new sessions have them.
 *
 * Sequential mode: otherwise Citus refuses to change a reference table in a transaction that has
 * read several shards. The number of shards is fixed when the first table is distributed, so that
 * later migrations place their tables beside the present ones; a number that the operator has set
 * stays.
 */
async function setUpCitus(db: Db, nodes: number): Promise<void> {
  const { rows } = await db.query<{ name: string; setting: string; source: string }>(sql`
    select name, setting, source from pg_settings
    where name in ('citus.multi_shard_modify_mode', 'citus.shard_count')`)
  for (const { name, setting, source } of rows) {
    const isCount = name === 'citus.shard_count'
    const wanted = isCount ? String(shardCountOf(nodes)) : 'sequential'
    if (isCount ? source !== 'default' : setting === wanted) continue
    // Two processes must not change a database at once.
    await db.query(`do $$ begin
      perform pg_advisory_xact_lock(${lockKeys.backend});
      execute format('alter database %I set ${name} = ''${wanted}''', current_database());
    end $$`)
  }
}

const SHARDS_MIN = 4

/**
 * The number of parts into which Citus divides each distributed table: a power of two, at least two
 * per node, so that tables can be spread over twice as many nodes later. Each part costs a table
 * and its indexes per week. By the hash of Citus, the 16 shards of ours are divided 5, 5, 2, 4 into
 * four parts, and 3, 2, 3, 2, 0, 2, 1, 3 into eight.
 */
function shardCountOf(nodes: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(SHARDS_MIN, 2 * nodes)))
}
