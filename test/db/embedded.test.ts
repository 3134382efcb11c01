import { pbkdf2 } from 'node:crypto'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import { cacheSetting, type EmbeddedServer, startEmbedded } from '../../src/db/embedded.ts'
import { isAlive, until, untilGone } from '../support/process.ts'

const closers: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

test.for([
  [0.5, '256MB'],
  [2, '256MB'],
  [24, '3072MB'],
  [512, '4096MB'],
] as const)('a machine with %d GB caches the database in %s', ([gigabytes, size]) => {
  expect(cacheSetting(gigabytes * 1_073_741_824)).toBe(`shared_buffers=${size}`)
})

test('no second server starts while a process of the killed one is still running', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'signalpost-test-'))
  await chmod(dataDir, 0o711)
  const start = async () => {
    const server = await startEmbedded({ dataDir, password: 'test', settings: ['fsync=off'] })
    closers.push(server.stop)
    return server
  }
  const first = await start()
  closers.unshift(() => rm(first.folder, { recursive: true, force: true }))
  closers.unshift(() => rm(dataDir, { recursive: true, force: true }))
  const backend = await frozenBackend(first)
  const pidFile = path.join(first.folder, 'postmaster.pid')
  const postmaster = Number((await readFile(pidFile, 'utf8')).split('\n')[0])
  process.kill(postmaster, 'SIGKILL')
  await untilGone([postmaster])

  const again = start()
  await until('the refusal', async () => {
    const log = await readFile(path.join(dataDir, 'postgres.log'), 'utf8')
    return log.includes('shared memory block') || undefined
  })
  expect(isAlive(backend)).toBe(true)
  process.kill(backend, 'SIGKILL')
  const { url } = await again
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  await client.end()
})

test('a data folder whose database has another password is refused at once', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'signalpost-test-'))
  closers.push(() => rm(dataDir, { recursive: true, force: true }))
  await chmod(dataDir, 0o711)
  const first = await startEmbedded({ dataDir, password: 'first', settings: ['fsync=off'] })
  await first.stop()
  const again = startEmbedded({ dataDir, password: 'second', settings: [] })
  await expect(again).rejects.toThrow(/"postgres.password".*is not that of its database/)
})

test('a data folder of another major version is refused with the commands to run', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'signalpost-test-'))
  closers.push(() => rm(dataDir, { recursive: true, force: true }))
  await chmod(dataDir, 0o755)
  await mkdir(path.join(dataDir, 'postgres'))
  await writeFile(path.join(dataDir, 'postgres', 'PG_VERSION'), '17\n')
  const start = startEmbedded({ dataDir, password: 'test', settings: [] })
  await expect(start).rejects.toThrow(/data of PostgreSQL 17.*signalpost backup.*restore FILE/)
})

test('a server that ends immediately is an error, also while files are slow', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'signalpost-test-'))
  closers.push(() => rm(dataDir, { recursive: true, force: true }))
  await chmod(dataDir, 0o755)
  await mkdir(path.join(dataDir, 'bin'))
  await mkdir(path.join(dataDir, 'postgres'))
  await writeFile(path.join(dataDir, 'postgres', 'PG_VERSION'), '18')
  await writeFile(path.join(dataDir, 'bin', 'postgres'), '#!/bin/sh\nexit 3\n', { mode: 0o755 })
  const stop = keepThreadsBusy()
  const start = startEmbedded({ dataDir, password: 'test', settings: [], programs: dataDir })
  await expect(start.finally(stop)).rejects.toThrow('exited during its start (code 3)')
})

/** Makes every operation on files wait for about 50 ms, until it is stopped. */
function keepThreadsBusy(): () => void {
  let isBusy = true
  const work = () => isBusy && pbkdf2('', '', 100_000, 32, 'sha256', work)
  for (let thread = 0; thread < 8; thread++) work()
  return () => {
    isBusy = false
  }
}

/** Stops the server process of a connection, so that it cannot notice the end of its server. */
async function frozenBackend({ url }: EmbeddedServer): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const pid = rows[0]?.pid ?? 0
  process.kill(pid, 'SIGSTOP')
  return pid
}
