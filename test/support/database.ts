import pg from 'pg'
import { inject } from 'vitest'
import { openNodes } from '../../src/db/nodes.ts'
import { ensureCounterPartitions, ensurePartitions } from '../../src/db/partitions.ts'
import { createPool, type Pool } from '../../src/db/pool.ts'
import { keepPlansOfRecentWeeks, nameShards } from '../../src/db/prepared.ts'
import { until } from './process.ts'

/** A database for one test file, and a pool on it. */
export type TestDatabase = {
  url: string
  /** The settings with which a process uses it. */
  env: Record<'DATABASE_URL' | 'DB_BACKEND', string>
  pool: Pool
  close: () => Promise<void>
}

/** Whether the tests run on several servers; tests that need a single one say why they skip. */
export const isDistributed = inject('backend') === 'citus'

/** Whether statements are those for several servers, also on a single one that logs them. */
export const isSharded = isDistributed || Boolean(process.env['STATEMENT_LOG'])

// As in every process, see `openApp`.
keepPlansOfRecentWeeks(() => new Date())
nameShards(isSharded)

let made = 0

const WEEK_MS = 7 * 86_400_000

/**
 * Clones the migrated template, which has partitions for this week and the next, in 30 ms (70 ms on
 * three nodes of Citus). Tests whose clock shows a fixed date pass it as `at`; then partitions are
 * added from the week before it to `weeksAhead` weeks after it, so that the tests pass in any year.
 */
export async function freshDatabase(at?: Date, weeksAhead = 1): Promise<TestDatabase> {
  return cloneOf(inject('templateName'), at, weeksAhead)
}

/** Clones a database of this test, to which nothing may be connected. */
export function twinOf(url: string): Promise<TestDatabase> {
  return cloneOf(new URL(url).pathname.slice(1))
}

async function cloneOf(template: string, at?: Date, weeksAhead = 1): Promise<TestDatabase> {
  const name = inject('templateName').replace('template', `${process.pid}_${++made}`)
  await asAdmin(`create database ${name} template ${template} strategy file_copy`)
  for (const setting of inject('databaseSettings')) {
    const [its, value] = setting.split('=')
    await adminOf(inject('serverUrl')).query(`alter database ${name} set ${its} = '${value}'`)
  }
  const url = `${inject('serverUrl')}/${name}`
  const connections = { connectionsMax: 5, name: 'test', onLost: () => undefined }
  const pool = createPool(url, connections)
  const nodes = isDistributed
    ? await openNodes(pool, url, { ...connections, onAway: () => undefined })
    : undefined
  if (at) {
    await ensurePartitions(pool, new Date(at.getTime() - WEEK_MS), weeksAhead + 1)
    await ensureCounterPartitions(pool, at, 1)
  }
  const close = async () => {
    await nodes?.close()
    await pool.end()
    if (!inject('isDroppedEarly')) return
    // Fails while a background process of Citus is connecting.
    await until('the end of a database', async () => {
      await asAdmin(`drop database if exists ${name} with (force)`)
      return true
    })
  }
  return { url, env: { DATABASE_URL: url, DB_BACKEND: inject('backend') }, pool, close }
}

const admins = new Map<string, pg.Pool>()

/**
 * Runs a statement outside the databases of the tests, on each node, over one connection of this
 * worker to each.
 */
async function asAdmin(statement: string): Promise<void> {
  const urls = [inject('serverUrl'), ...inject('workerUrls')]
  await Promise.all(urls.map((url) => adminOf(url).query(statement)))
}

function adminOf(url: string): pg.Pool {
  const present = admins.get(url)
  if (present) return present
  const pool = new pg.Pool({
    connectionString: `${url}/postgres`,
    max: 1,
    allowExitOnIdle: true,
  })
  // The server may stop before this worker does.
  pool.on('error', () => undefined)
  admins.set(url, pool)
  return pool
}
