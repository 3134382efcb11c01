import { mkdir, readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import type pg from 'pg'
import { runAction } from '../actions.ts'
import type { App } from '../app.ts'
import { beginSnapshot, copyRowsOut, findBossVersion } from '../db/backup-rows.ts'
import { expectedMigrations, findShingleSeed, missingMigrations } from '../db/installation.ts'
import { type MovedTable, openMover } from '../db/move-rows.ts'
import { DAY_MS } from '../durations.ts'
import { UsageError } from '../errors.ts'
import { noteBackup } from '../health/health-actions.ts'
import { runOwnCommand } from './own-command.ts'
import { chunkOf, jsonLine, UNFINISHED, writeBackupFile } from './backup-file.ts'

const NAME = /^signalpost-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.backup(\.age)?$/

type Needs = Pick<App, 'pool' | 'clock' | 'config'>

/**
 * Writes a backup of the database to the folder of backups, deletes those that the rule does not
 * keep, and notes for health that it was made. All rows are of one moment, and the service goes on.
 *
 * @throws UsageError if another backup of the database is running
 */
export async function backUp(app: Needs): Promise<{ file: string; rows: number }> {
  const { folder, recipient, keep } = app.config.backups
  const url = app.config.databaseDirectUrl ?? app.config.databaseUrl
  const at = app.clock()
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const ending = recipient === undefined ? '' : '.age'
  const file = path.join(folder, `signalpost-${stampOf(at)}.backup${ending}`)
  const counted = { rows: 0 }
  const client = await openMover(url)
  try {
    const tables = await beginSnapshot(client)
    if (!tables) throw new UsageError(['Another backup is running. Wait until it has ended.'])
    for (const name of await leftBackups(folder)) await rm(path.join(folder, name))
    await writeBackupFile(file, contentOf(client, { tables, at, counted }), recipient)
  } finally {
    await client.end()
  }
  for (const name of expiredBackups(await readdir(folder), keep)) await rm(path.join(folder, name))
  await runAction(noteBackup, {}, app, null)
  return { file, rows: counted.rows }
}

function stampOf(at: Date): string {
  return at.toISOString().replaceAll(/[-:]|\.\d+/g, '')
}

/** The files of backups that were killed, if none is running. */
async function leftBackups(folder: string): Promise<string[]> {
  const names = await readdir(folder)
  return names.filter(
    (name) => name.endsWith(UNFINISHED) && NAME.test(name.slice(0, -UNFINISHED.length)),
  )
}

type Content = { tables: readonly MovedTable[]; at: Date; counted: { rows: number } }

async function* contentOf(
  client: pg.Client,
  { tables, at, counted }: Content,
): AsyncGenerator<Buffer> {
  const expected = await expectedMigrations()
  const seed = await findShingleSeed(client)
  if (seed === undefined || (await missingMigrations(client, expected)).length > 0) {
    throw new UsageError(['The database has another schema. Run "signalpost migrate" first.'])
  }
  yield jsonLine({
    signalpost: 'backup',
    madeAt: at.toISOString(),
    schema: expected.at(-1),
    queues: await findBossVersion(client),
    shingleSeed: String(seed),
  })
  for (const table of tables) {
    const { name, partition, columns } = table
    yield jsonLine({ table: { name, partition, columns } })
    const rows = copyRowsOut(client, table)
    for await (const chunk of rows) yield chunkOf(chunk as Buffer)
    yield chunkOf(Buffer.alloc(0))
    counted.rows += (rows as { rowCount?: number }).rowCount ?? 0
  }
  yield jsonLine({ table: null })
  await client.query('commit')
}

/** Returns the backups, of the files in a folder, that the rule does not keep. */
export function expiredBackups(
  names: readonly string[],
  rule: App['config']['backups']['keep'],
): string[] {
  const backups = names.filter((name) => NAME.test(name)).toSorted()
  // The newest stays in any case.
  const kept = new Set(backups.slice(-1))
  const keepNewest = (count: number, periodOf: (name: string) => string | number) => {
    const newest = new Map(backups.map((name) => [periodOf(name), name]))
    for (const name of [...newest.values()].toSorted().slice(count === 0 ? Infinity : -count)) {
      kept.add(name)
    }
  }
  keepNewest(rule.days, (name) => Math.floor(dayOf(name)))
  // Weeks begin on Monday; 1 January 1970 was a Thursday.
  keepNewest(rule.weeks, (name) => Math.floor((dayOf(name) + 3) / 7))
  keepNewest(rule.months, (name) => name.slice(0, 'signalpost-202601'.length))
  return backups.filter((name) => !kept.has(name))
}

/** The days from 1 January 1970 to the time in the name of a backup. */
function dayOf(name: string): number {
  const [, year, month, day, hour, minute, second] = NAME.exec(name) ?? []
  const text = `${year}-${month}-${day}T${hour}:${minute}:${second}Z`
  return Date.parse(text) / DAY_MS
}

/** Whether the last backup is so old that the daily one is due. */
async function isBackupDue({ clock, config }: Pick<App, 'clock' | 'config'>) {
  const names = await readdir(config.backups.folder).catch((): string[] => [])
  const last = names
    .filter((name) => NAME.test(name))
    .toSorted()
    .at(-1)
  return last === undefined || clock().getTime() / DAY_MS - dayOf(last) > DUE_DAYS
}

/** The job runs each hour. */
const DUE_DAYS = 23.5 / 24

const BACKUP_MS_MAX = 86_000_000

/** Makes the daily backup, if this machine is to make it and it is due. */
export async function runMakeBackup(app: Pick<App, 'clock' | 'config' | 'log'>): Promise<void> {
  if (!app.config.backups.isScheduled || !(await isBackupDue(app))) return
  const result = await runOwnCommand(['backup'], BACKUP_MS_MAX)
  app.log.info({ result }, 'Made the daily backup.')
}
