import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import knex from 'knex'

const folder = path.join(import.meta.dirname, '..', '..', 'migrations')

/**
 * Brings the schema up to date and returns the names of the migrations it ran. Two processes may
 * call it at once: one waits for the other's lock. Forward only: there is no way down.
 */
export async function migrate(databaseUrl: string): Promise<string[]> {
  const database = knex({
    client: 'pg',
    connection: { connectionString: databaseUrl, application_name: 'signalpost migrate' },
    pool: { min: 0, max: 3 },
    // What goes wrong is thrown too, and standard output is for answers.
    log: { warn: quiet, error: quiet, deprecate: quiet, debug: quiet },
  })
  try {
    // Held by a transaction, because a connection pooler may give each of them another session.
    return await database.transaction(async (holder) => {
      await holder.raw('set local idle_in_transaction_session_timeout = 0')
      await holder.raw('select pg_advisory_xact_lock(?)', [LOCK])
      // We alone hold the lock: a lock row that knex left behind is of a process that was killed.
      await database.migrate.forceFreeMigrationsLock(settings)
      const [, ran] = (await database.migrate.latest(settings)) as [number, string[]]
      return ran
    })
  } finally {
    await database.destroy()
  }
}

const quiet = () => undefined

const LOCK = 7_305_091_331

const sqlFiles = {
  async getMigrations(): Promise<string[]> {
    const files = await readdir(folder)
    return files.filter((file) => /^\d{4}_.*\.sql$/.test(file)).sort()
  },
  getMigrationName: (file: string) => file.replace(/\.sql$/, ''),
  async getMigration(file: string) {
    const sql = await readFile(path.join(folder, file), 'utf8')
    return {
      up: (transaction: knex.Knex) => transaction.raw(sql.replaceAll('?', '\\?')),
      down: () => Promise.reject(new Error(`${file} cannot be undone: migrations go forward only`)),
    }
  },
}

const settings = { migrationSource: sqlFiles, tableName: 'schema_migrations' }
