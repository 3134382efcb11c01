import { readFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import type pg from 'pg'
import { z } from 'zod'
import { copyRowsIn, findBossVersion } from '../db/backup-rows.ts'
import { expectedMigrations } from '../db/installation.ts'
import {
  analyzeTables,
  createMovedPartition,
  dropForeignKeys,
  emptyTables,
  isInUse,
  listForeignKeys,
  listMovedTables,
  openMover,
  restoreForeignKeys,
  setShingleSeed,
} from '../db/move-rows.ts'
import { UsageError } from '../errors.ts'
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

/**
 * Restores a backup into a database without reports and accounts, completely or not at all.
 *
 * @throws UsageError if the database is in use, or the backup is of another version
 */
export async function restore(
  { file, to, identity }: { file: string; to: string; identity: string | undefined },
  now: Date,
): Promise<{ madeAt: Date }> {
  await migrateAll(to, now)
  const reader = await readBackupFile(file, identity)
  const client = await openMover(to)
  try {
    const header = headerSchema.safeParse(await reader.readLine())
    if (!header.success) throw new UsageError(['This is not a backup of Signalpost.'])
    const { schema, queues, shingleSeed, madeAt } = header.data
    const current = (await expectedMigrations()).at(-1)
    if (schema !== current || queues !== (await findBossVersion(client))) {
      throw new UsageError([
        `The backup has the schema ${schema}, this version of Signalpost ${String(current)}. ` +
          'Restore it with the version that made it, then upgrade.',
      ])
    }
    if (await isInUse(client)) {
      throw new UsageError(['The database already contains reports or accounts. Use an empty one.'])
    }
    await client.query('begin')
    await restoreRows(client, reader)
    await setShingleSeed(client, BigInt(shingleSeed))
    await client.query('commit')
    await analyzeTables(client)
    return { madeAt: new Date(madeAt) }
  } finally {
    reader.close()
    await client.end()
  }
}

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
