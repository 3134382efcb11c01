import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import { type EmbeddedServer, startEmbedded } from '../../src/db/embedded.ts'
import { isAlive, until, untilGone } from '../support/process.ts'

const closers: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
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
