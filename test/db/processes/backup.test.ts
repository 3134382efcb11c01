import { existsSync } from 'node:fs'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import pg from 'pg'
import { afterAll, expect, inject, test } from 'vitest'
import { beginSnapshot } from '../../../src/db/backup-rows.ts'
import { keepHeartbeat, stopHeartbeat } from '../../../src/db/health.ts'
import { openMover } from '../../../src/db/move-rows.ts'
import { inTransaction } from '../../../src/db/pool.ts'
import { backUp } from '../../../src/processes/backup.ts'
import { restore } from '../../../src/processes/restore.ts'
import { createReadHealth } from '../../../src/health/read-health.ts'
import { uuidv7 } from '../../../src/world.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { freshDatabase, isDistributed } from '../../support/database.ts'
import { allRowsOf, untilBlocked } from '../../support/rows.ts'
import { makeScratchFolder } from '../../support/scratch-folder.ts'

const folder = await makeScratchFolder('backups')
afterAll(() => rm(folder, { recursive: true }))
const app = await closeAfterTests(openTestApp({ BACKUP_DIR: folder }))
const admin = new pg.Client({ connectionString: `${inject('serverUrl')}/postgres` })
await admin.connect()
afterAll(() => admin.end())
const backend = inject('backend')

test('a backup contains all rows of one moment, and health knows its age', async () => {
  await app.reports('one', 'two', 'three')
  const before = await movedRows(app.database.url)
  const { file } = await backUpWhileReporting()
  const target = await freshDatabase()
  try {
    await restore({ file, to: target.url, identity: undefined, backend }, app.clock())
    expect(await movedRows(target.url)).toEqual(before)
  } finally {
    await target.close()
  }
  const { conditions } = await createReadHealth(app)()
  expect(conditions.find(({ code }) => code === 'backup')).toMatchObject({ level: 'ok' })
})

test('a restored database knows no process of the one that was backed up', async () => {
  const its = { id: uuidv7(new Date()), host: 'one.example', name: 'work', version: '1' }
  const about = { ...its, startedAt: app.clock(), facts: {}, now: app.clock() }
  await keepHeartbeat(app.pool, about)
  const other = uuidv7(new Date())
  await keepHeartbeat(app.pool, { ...about, id: other })
  await stopHeartbeat(app.pool, other)
  const { file } = await backUp(app)
  await app.pool.query('truncate processes, stopped_processes')
  const target = await freshDatabase()
  try {
    await restore({ file, to: target.url, identity: undefined, backend }, app.clock())
    const { rows } = await target.pool.query(
      'select id from processes union all select id from stopped_processes',
    )
    expect(rows).toEqual([])
  } finally {
    await target.close()
  }
})

/** All rows, without the queues and schedules, which restoring updates. */
async function movedRows(url: string) {
  const { 'pgboss.queue': queues, 'pgboss.schedule': schedules, ...others } = await allRowsOf(url)
  expect([queues, schedules]).not.toContain(undefined)
  return others
}

/**
 * Makes a backup, and a report as soon as it has begun. Not on several servers, where the rows of a
 * backup may be of different moments.
 */
async function backUpWhileReporting() {
  if (isDistributed) return backUp(app)
  const { running } = await inTransaction(app.pool, async (tx) => {
    await tx.query('lock table webhooks in access exclusive mode')
    const backup = backUp(app)
    await untilBlocked(app.pool)
    await app.reports('meanwhile')
    // In an object, because the transaction would otherwise wait for the backup.
    return { running: backup }
  })
  return running
}

test('an encrypted backup needs its private key', async () => {
  const identity = await generateX25519Identity()
  const recipient = await identityToRecipient(identity)
  const backups = { ...app.config.backups, recipient, folder: path.join(folder, 'sealed') }
  const { file } = await backUp({ ...app, config: { ...app.config, backups } })
  expect(file).toMatch(/\.backup\.age$/)
  expect((await readFile(file)).includes('reporters')).toBe(false)
  const target = await freshDatabase()
  try {
    const to = target.url
    const attempt = (key: string | undefined) =>
      restore({ file, to, identity: key, backend }, app.clock())
    await expect(attempt(undefined)).rejects.toThrow(/encrypted/)
    await expect(attempt(await generateX25519Identity())).rejects.toThrow(/does not fit/)
    await attempt(identity)
    expect(await allRowsOf(to)).toMatchObject({ 'public.reporters': { length: 2 } })
    await expect(attempt(identity)).rejects.toThrow(/already contains/)
  } finally {
    await target.close()
  }
})

test('a damaged backup restores nothing, and an unfinished one leaves no file', async () => {
  const { file } = await backUp(app)
  const bytes = await readFile(file)
  const target = await freshDatabase()
  try {
    for (const [name, damaged] of [
      ['cut', bytes.subarray(0, Math.floor(bytes.length * 0.9))],
      ['flipped', flipped(bytes)],
      ['other', Buffer.from('something else')],
    ] as const) {
      const other = path.join(folder, `${name}.backup`)
      await writeFile(other, damaged)
      const attempt = restore(
        { file: other, to: target.url, identity: undefined, backend },
        app.clock(),
      )
      await expect(attempt, name).rejects.toThrow()
    }
    const { rows } = await target.pool.query('select id from reporters')
    expect(rows).toEqual([])
  } finally {
    await target.close()
  }
  const gone = { ...app.config, databaseUrl: 'postgres://127.0.0.1:1/none' }
  await expect(backUp({ ...app, config: gone })).rejects.toThrow()
  expect((await readdir(folder)).filter((name) => name.endsWith('unfinished'))).toEqual([])
})

test('a backup deletes what a killed one left, and none runs beside another', async () => {
  const left = path.join(folder, 'signalpost-20200101T000000Z.backup.unfinished')
  const other = path.join(folder, 'other.unfinished')
  for (const file of [left, other]) await writeFile(file, 'x')
  const running = await openMover(app.database.url)
  await beginSnapshot(running)
  await expect(backUp(app)).rejects.toThrow('Another backup is running.')
  expect(existsSync(left)).toBe(true)
  await running.query('rollback')
  await running.end()
  await backUp(app)
  expect([existsSync(left), existsSync(other)]).toEqual([false, true])
})

function flipped(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes)
  const at = Math.floor(copy.length / 2)
  copy[at] = (copy[at] ?? 0) ^ 0xff
  return copy
}
