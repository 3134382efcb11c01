import type { Backend } from '../db/backend.ts'
import { ensureInstallation, migrate } from '../db/installation.ts'
import { ensureCounterPartitions, ensurePartitions } from '../db/partitions.ts'
import { createPool, findPooling } from '../db/pool.ts'
import { DatabaseUnsuitable, reasonOf, sqlState } from '../errors.ts'
import { createQueues, startBoss, stopBoss } from '../queue/boss.ts'
import { systemRandom } from '../world.ts'
import { queues } from './handlers.ts'

/** Number of partitions created in advance: weeks of reports, generations of counters. */
type Ahead = { weeks: number; generations: number }

const usualAhead: Ahead = { weeks: 4, generations: 2 }

/**
 * Brings a database up to date: our schema, its hash seed, the partitions of the coming weeks,
 * pg-boss's schema and the queues. Does nothing if everything is up to date. Returns the migrations
 * that it ran.
 *
 * @throws DatabaseUnsuitable if the account lacks a privilege, if a pooler does not support
 *   prepared statements, or if the database is not ready for the backend
 */
export async function migrateAll(
  databaseUrl: string,
  now: Date,
  { backend = 'postgres', ahead = usualAhead }: { backend?: Backend; ahead?: Ahead } = {},
): Promise<string[]> {
  await findPooling(databaseUrl)
  return migrateEverything(databaseUrl, now, { backend, ahead }).catch(explainRefusal)
}

async function explainRefusal(error: unknown): Promise<never> {
  if (sqlState(error) !== INSUFFICIENT_PRIVILEGE) throw error
  // knex puts the SQL statement before the reason.
  const reason = reasonOf(error).split(' - ').at(-1)
  throw new DatabaseUnsuitable(
    `The database account in DATABASE_URL lacks a permission (${reason}). ` +
      `Make it the owner of the database and its objects.`,
    { cause: error },
  )
}

const INSUFFICIENT_PRIVILEGE = '42501'

async function migrateEverything(
  databaseUrl: string,
  now: Date,
  { backend, ahead }: { backend: Backend; ahead: Ahead },
): Promise<string[]> {
  const ran = await migrate(databaseUrl, backend)
  const faults: Error[] = []
  const onError = (error: Error) => faults.push(error)
  const pool = createPool(databaseUrl, { connectionsMax: 1, name: 'migrate', onLost: onError })
  try {
    await ensureInstallation(pool, systemRandom(8).readBigUInt64BE())
    await ensurePartitions(pool, now, ahead.weeks)
    await ensureCounterPartitions(pool, now, ahead.generations)
    const boss = await startBoss(databaseUrl, 'migrates', { name: 'migrate', onError, backend })
    await createQueues(boss, queues, pool)
    await stopBoss(boss, 5_000)
  } finally {
    await pool.end()
  }
  if (faults[0]) throw faults[0]
  return ran
}
