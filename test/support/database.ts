import pg from 'pg'
import { inject } from 'vitest'
import { createPool, type Pool } from '../../src/db/pool.ts'

/** A database of a test file's own, and a pool on it. */
export type TestDatabase = { url: string; pool: Pool; close: () => Promise<void> }

let made = 0

/** Clones the migrated template: 30 ms. The global teardown drops it. */
export async function freshDatabase(): Promise<TestDatabase> {
  const serverUrl = inject('serverUrl')
  const name = inject('templateName').replace('template', `${process.pid}_${++made}`)
  const admin = new pg.Client({ connectionString: `${serverUrl}/postgres` })
  await admin.connect()
  await admin.query(`create database ${name} template ${inject('templateName')}`)
  await admin.end()
  const url = `${serverUrl}/${name}`
  const pool = createPool(url, { connectionsMax: 5, name: 'test', onLost: () => undefined })
  return { url, pool, close: () => pool.end() }
}
