import { readFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import type pg from 'pg'
import { z } from 'zod'
import type { Backend } from '../db/backend.ts'
import { copyRowsIn, dropInstallation, findBossVersion } from '../db/backup-rows.ts'
import { emptyHeartbeats } from '../db/health.ts'
import { expectedMigrations, migrate } from '../db/installation.ts'
import {
  analyzeTables,
  createMovedPartition,
  dropForeignKeys,
  emptyTables,
  listForeignKeys,
  listMovedTables,
  openMover,
  restoreForeignKeys,
  setShingleSeed,
} from '../db/move-rows.ts'
import { hasTable } from '../db/rows.ts'
import { UsageError } from '../errors.ts'
import { startBoss, stopBoss } from '../queue/boss.ts'
import { type BackupReader, readBackupFile } from './backup-file.ts'
import { migrateAll } from './migrate.ts'

/** The first line of a backup. */
const headerSchema = z.object({
  signalpost: z.literal('backup'),
  madeAt: z.iso.datetime(),
  /** The last migration, and the version of the schema of pg-boss. */
  schema: z.string(),
  queues: z.number(),
  shingleSeed: z.string(),
})

// They become part of statements.
const nameSchema = z.string().regex(/^[\w".]+$/)
const boundsSchema = z
  .string()
  .regex(/^(DEFAULT|FOR VALUES (IN \([^();]*\)|FROM \([^();]*\) TO \([^();]*\)))$/)
const optionsSchema = z.string().regex(/^[\w=., ]*$/)

/** The line before the rows of a table; the last line has none. */
const tableSchema = z.object({
  table: z
    .object({
      name: nameSchema,
      partition: z
        .object({ of: nameSchema, bounds: boundsSchema, options: optionsSchema.nullable() })
        .nullable(),
      columns: z.array(nameSchema),
    })
    .nullable(),
})

/** Parses `FILE [--to URL] [--key FILE]`, and reads the key. */
export async function parseRestore(
  args: readonly string[],
): Promise<{ file: string; to: string | undefined; identity: string | undefined }> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { to: { type: 'string' }, key: { type: 'string' } },
  })
  const [file, ...others] = positionals
  if (file === undefined || others.length > 0) throw new UsageError(['Name one backup file.'])
  return {
    file,
    to: values.to,
    identity: values.key && identityIn(await readFile(values.key, 'utf8')),
  }
}

/** Finds the key in a file as `age-keygen` writes it, with comments. */
function identityIn(text: string): string {
  const line = text.split('\n').find((one) => one.startsWith('AGE-SECRET-KEY-'))
  if (line === undefined) throw new UsageError(['The key file has no line "AGE-SECRET-KEY-…".'])
  return line.trim()
}

type Restoring = { file: string; to: string; identity: string | undefined; backend: Backend }

/**
 * Restores a backup into a database without reports and accounts, completely or not at all, and
 * upgrades it.
 *
 * @throws UsageError if the database is in use, or the backup is of a newer version
 */
export async function restore(
  { file, to, identity, backend }: Restoring,
  now: Date,
): Promise<{ madeAt: Date }> {
  const reader = await readBackupFile(file, identity)
  const client = await openMover(to)
  try {
    const header = await readHeader(reader)
    await prepareTarget(client, { to, backend, header })
    await client.query('begin')
    await restoreRows(client, reader)
    await setShingleSeed(client, BigInt(header.shingleSeed))
    await client.query('commit')
    await migrateAll(to, now, { backend })
    await emptyHeartbeats(client)
    await analyzeTables(client)
    return { madeAt: new Date(header.madeAt) }
  } finally {
    reader.close()
    await client.end()
  }
}

type Header = z.infer<typeof headerSchema>

async function readHeader(reader: BackupReader): Promise<Header> {
  const header = headerSchema.safeParse(await reader.readLine())
  if (!header.success) throw new UsageError(['This is not a backup of Signalpost.'])
  const { schema } = header.data
  if ((await expectedMigrations()).includes(schema)) return header.data
  throw new UsageError([
    `The backup is of a newer version of Signalpost (${schema}). Restore it with that version.`,
  ])
}

/** Gives the target the schema that the backup was made with, and no rows. */
async function prepareTarget(
  client: pg.Client,
  { to, backend, header }: { to: string; backend: Backend; header: Header },
): Promise<void> {
  if ((await hasTable(client, 'public.reporters')) && !(await dropInstallation(client))) {
    throw new UsageError(['The database already contains reports or accounts. Use an empty one.'])
  }
  await migrate(to, backend, header.schema)
  const faults: Error[] = []
  const boss = await startBoss(to, 'migrates', {
    name: 'restore',
    onError: (error) => faults.push(error),
    backend,
  })
  await stopBoss(boss, STOP_MS)
  if (faults[0]) throw faults[0]
  if (header.queues > (await findBossVersion(client))) {
    throw new UsageError(['The queues of the backup are of a newer version of Signalpost.'])
  }
}

const STOP_MS = 5_000

async function restoreRows(client: pg.Client, reader: BackupReader): Promise<void> {
  const foreignKeys = await listForeignKeys(client)
  await dropForeignKeys(client, foreignKeys)
  await emptyTables(client, await listMovedTables(client))
  for (;;) {
    const { table } = tableSchema.parse(await reader.readLine())
    if (!table) break
    const its = { ...table, compared: [], key: [] }
    await createMovedPartition(client, its)
    await pipeline(
      Readable.from(reader.readChunks(), { objectMode: false }),
      copyRowsIn(client, its),
    )
  }
  await restoreForeignKeys(client, foreignKeys)
}
