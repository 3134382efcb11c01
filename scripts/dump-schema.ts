import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { migrate } from '../src/db/installation.ts'
import { createPool } from '../src/db/pool.ts'
import { openOwnServer } from '../test/support/own-database.ts'
import { readSchema } from './read-schema.ts'

// Runs the migrations on an empty temporary database and writes the resulting schema.
const file = path.join(import.meta.dirname, '..', 'migrations', 'schema.sql')
const server = await openOwnServer(['fsync=off'])
try {
  await migrate(server.url, 'postgres')
  const options = { connectionsMax: 1, name: 'schema', onLost: () => undefined }
  const pool = createPool(server.url, options)
  await writeFile(file, await readSchema(pool))
  await pool.end()
  process.stdout.write(`Wrote ${path.relative(process.cwd(), file)}.\n`)
} finally {
  await server.close()
}
