import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { migrateAll } from '../../src/processes/migrate.ts'
import { startCitusCluster } from '../support/citus-cluster.ts'
import { AHEAD } from '../support/global-setup.ts'

/**
 * Provides every test file with a cluster of Citus, and with a template database on each of its
 * nodes, built by the real migrations. A database cloned from the template on each node is a
 * distributed database too, because Citus keeps what it knows in tables of the database.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { urls, database, stop } = await startCitusCluster()
  const [serverUrl, ...workerUrls] = urls
  const templateName = `signalpost_${process.pid}_template`
  try {
    await migrateAll(`${serverUrl}/${database}`, new Date(), { backend: 'citus', ahead: AHEAD })
    project.provide('databaseSettings', await settingsOf(serverUrl, database))
    for (const url of urls) await makeTemplate(url, database, templateName)
  } catch (error) {
    await stop()
    throw error
  }
  project.provide('backend', 'citus')
  project.provide('serverUrl', serverUrl)
  project.provide('workerUrls', workerUrls)
  project.provide('templateName', templateName)
  project.provide('isDroppedEarly', true)
  return stop
}

/** Returns the settings of a database, which a clone does not have. */
function settingsOf(url: string, database: string): Promise<string[]> {
  return onServer(url, async (client) => {
    const { rows } = await client.query<{ setting: string }>(
      `select unnest(setconfig) as setting from pg_db_role_setting
       join pg_database on pg_database.oid = setdatabase
       where datname = $1 and setrole = 0`,
      [database],
    )
    return rows.map(({ setting }) => setting)
  })
}

/** Renames a database on one node, and keeps out the background processes of Citus. */
function makeTemplate(url: string, database: string, name: string): Promise<void> {
  return onServer(url, async (client) => {
    await client.query(`alter database ${database} with allow_connections false`)
    await client.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1',
      [database],
    )
    await client.query(`alter database ${database} rename to ${name}`)
  })
}

async function onServer<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: `${url}/postgres` })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
