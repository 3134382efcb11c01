import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { startEmbedded } from '../src/db/embedded.ts'
import { migrate } from '../src/db/installation.ts'
import { createPool } from '../src/db/pool.ts'
import { readSchema } from './read-schema.ts'

// Runs the migrations on an empty temporary database and writes the resulting schema.
const file = path.join(import.meta.dirname, '..', 'migrations', 'schema.sql')
const dataDir = await mkdtemp(path.join(tmpdir(), 'signalpost-schema-'))
await chmod(dataDir, 0o755)
const server = await startEmbedded({ dataDir, password: 'schema', settings: ['fsync=off'] })
try {
  await migrate(server.url)
  const options = { connectionsMax: 1, name: 'schema', onLost: () => undefined }
  const pool = createPool(server.url, options)
  await writeFile(file, await readSchema(pool))
  await pool.end()
  process.stdout.write(`Wrote ${path.relative(process.cwd(), file)}.\n`)
} finally {
  await server.stop()
  await rm(dataDir, { recursive: true, force: true })
  await rm(server.folder, { recursive: true, force: true })
}
