import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { migrateAll } from '../../../src/processes/migrate.ts'
import { startEmbedded } from '../../../src/db/embedded.ts'

/** Runs work on a separate, migrated PostgreSQL, which is removed afterwards. */
export async function withOwnDatabase<T>(
  work: (place: { url: string; dataDir: string }) => Promise<T>,
): Promise<T> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'signalpost-torture-'))
  await chmod(dataDir, 0o755)
  const server = await startEmbedded({ dataDir, password: 'torture', settings: [] })
  try {
    await migrateAll(server.url, new Date())
    return await work({ url: server.url, dataDir })
  } finally {
    await server.stop()
    await rm(dataDir, { recursive: true, force: true })
    await rm(server.folder, { recursive: true, force: true })
  }
}
