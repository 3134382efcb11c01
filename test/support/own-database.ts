import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { migrateAll } from '../../src/processes/migrate.ts'
import { type EmbeddedServer, startEmbedded } from '../../src/db/embedded.ts'

/** A separate PostgreSQL, and the folder with its data. `close` stops it and removes the folder. */
export type OwnServer = EmbeddedServer & { dataDir: string; close: () => Promise<void> }

/** Starts a separate PostgreSQL with an empty database, durable unless the settings change that. */
export async function openOwnServer(settings: readonly string[] = []): Promise<OwnServer> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'signalpost-own-'))
  await chmod(dataDir, 0o755)
  const server = await startEmbedded({ dataDir, password: 'signalpost', settings })
  return {
    ...server,
    dataDir,
    async close() {
      await server.stop()
      await rm(dataDir, { recursive: true, force: true })
      await rm(server.folder, { recursive: true, force: true })
    },
  }
}

/** Runs work on a separate, migrated PostgreSQL, which is removed afterwards. */
export async function withOwnDatabase<T>(work: (server: OwnServer) => Promise<T>): Promise<T> {
  const server = await openOwnServer()
  try {
    await migrateAll(server.url, new Date())
    return await work(server)
  } finally {
    await server.close()
  }
}

/** Returns the process id of a running server. */
export async function postmasterOf({ folder }: Pick<EmbeddedServer, 'folder'>): Promise<number> {
  const pidFile = await readFile(path.join(folder, 'postmaster.pid'), 'utf8')
  return Number(pidFile.split('\n')[0])
}

/** Runs one statement on a connection of its own. */
export async function runOn(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(statement).finally(() => client.end())
}
