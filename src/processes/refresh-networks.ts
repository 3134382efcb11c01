import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { copyFile, mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { App } from '../app.ts'
import { listImports } from '../db/health.ts'
import { dateOf, DAY_MS } from '../durations.ts'
import { reasonOf, UsageError } from '../errors.ts'
import { downloadOperator } from '../net/operator-http.ts'
import { importNetworks } from './import-networks.ts'

type Needs = Pick<App, 'pool' | 'clock' | 'config' | 'log'>

/** A table whose source has not changed for longer is refused: the source may have ended. */
const AGE_DAYS_MAX = 60
/** A table that has not changed is imported again after this time, so that it counts as fresh. */
const FRESH_DAYS = 7
const BYTES_MAX = 1024 * 1024 * 1024

/**
 * Imports every table of the settings, and keeps its file and the previous one. A table with a
 * fault changes nothing, and does not stop the others.
 *
 * @throws Error that lists the faults
 */
export async function runRefreshNetworks(app: Needs): Promise<void> {
  const faults: string[] = []
  for (const entry of app.config.networkTables) {
    const [name = '', ...from] = entry.split('=')
    await refresh(name, from.join('='), app).catch((error: unknown) => {
      faults.push(`${name}: ${reasonOf(error)}`)
    })
  }
  if (faults.length > 0) throw new Error(faults.join(' '))
}

async function refresh(name: string, from: string, app: Needs): Promise<void> {
  const folder = path.join(app.config.dataDir, 'networks')
  await mkdir(folder, { recursive: true })
  const file = path.join(folder, name)
  const [next, previous] = [`${file}.new`, `${file}.previous`]
  try {
    const { changedAt = app.clock() } = from.startsWith('/')
      ? await copyNewest(from, next)
      : await downloadOperator(from, next, BYTES_MAX)
    const ageDays = (app.clock().getTime() - changedAt.getTime()) / DAY_MS
    if (ageDays > AGE_DAYS_MAX) {
      const day = dateOf(changedAt)
      throw new UsageError([`The table is of ${day}, older than ${AGE_DAYS_MAX} days.`])
    }
    if ((await sumOf(next)) === (await sumOf(file)) && (await isFresh(name, app))) return
    const { ranges, blocks } = await importNetworks(next, app, { source: name, comparesSize: true })
    await rename(file, previous).catch(() => undefined)
    await rename(next, file)
    app.log.info({ table: name, ranges, blocks }, 'Imported a network table.')
  } finally {
    await rm(next, { force: true })
  }
}

/** Copies a file, or the newest file of a folder; returns when it was last changed. */
async function copyNewest(from: string, to: string): Promise<{ changedAt: Date }> {
  const isFolder = (await stat(from)).isDirectory()
  const names = isFolder ? (await readdir(from)).filter((name) => !name.startsWith('.')) : ['']
  const files = await Promise.all(
    names.map(async (name) => {
      const file = path.join(from, name)
      return { file, found: await stat(file) }
    }),
  )
  const [newest] = files
    .filter(({ found }) => found.isFile())
    .toSorted((a, b) => b.found.mtimeMs - a.found.mtimeMs)
  if (!newest) throw new UsageError([`The folder ${from} contains no file.`])
  if (newest.found.size > BYTES_MAX) throw new UsageError([`${newest.file} is too large.`])
  await copyFile(newest.file, to)
  return { changedAt: newest.found.mtime }
}

async function sumOf(file: string): Promise<string | undefined> {
  const hash = createHash('sha256')
  return pipeline(createReadStream(file), hash).then(
    () => hash.digest('hex'),
    () => undefined,
  )
}

async function isFresh(name: string, { pool, clock }: Needs): Promise<boolean> {
  const found = (await listImports(pool)).find(({ source }) => source === name)
  return found !== undefined && clock().getTime() - found.importedAt.getTime() < FRESH_DAYS * DAY_MS
}
