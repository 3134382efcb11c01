import pg from 'pg'
import { inject } from 'vitest'
import { ensureCounterPartitions, ensurePartitions } from '../../src/db/partitions.ts'
import { createPool, type Pool } from '../../src/db/pool.ts'
import { keepPlansOfRecentWeeks } from '../../src/db/prepared.ts'

/** A database for one test file, and a pool on it. */
export type TestDatabase = { url: string; pool: Pool; close: () => Promise<void> }

// As in every process, see `openApp`.
keepPlansOfRecentWeeks(() => new Date())

let made = 0

const WEEK_MS = 7 * 86_400_000

/**
 * Clones the migrated template, which has partitions for this week and the next, in 30 ms. Tests
 * whose clock shows a fixed date pass it as `at`; then partitions are added from the week before it
 * to `weeksAhead` weeks after it, so that the tests pass in any year.
 */
export async function freshDatabase(at?: Date, weeksAhead = 1): Promise<TestDatabase> {
  const serverUrl = inject('serverUrl')
  const name = inject('templateName').replace('template', `${process.pid}_${++made}`)
  const template = inject('templateName')
  await asAdmin(`create database ${name} template ${template} strategy file_copy`)
  const url = `${serverUrl}/${name}`
  const pool = createPool(url, { connectionsMax: 5, name: 'test', onLost: () => undefined })
  if (at) {
    await ensurePartitions(pool, new Date(at.getTime() - WEEK_MS), weeksAhead + 1)
    await ensureCounterPartitions(pool, at, 1)
  }
  const close = async () => {
    await pool.end()
    if (inject('isDroppedEarly')) await asAdmin(`drop database if exists ${name} with (force)`)
  }
  return { url, pool, close }
}

let admin: pg.Pool | undefined

/** Runs a statement outside the databases of the tests, over one connection of this worker. */
async function asAdmin(statement: string): Promise<void> {
  admin ??= openAdmin()
  await admin.query(statement)
}

function openAdmin(): pg.Pool {
  const connectionString = `${inject('serverUrl')}/postgres`
  const pool = new pg.Pool({ connectionString, max: 1, allowExitOnIdle: true })
  // The server may stop before this worker does.
  return pool.on('error', () => undefined)
}
