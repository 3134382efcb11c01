import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { makePlace, type Place, untilRunning } from '../support/instance.ts'
import { spamMessage } from '../support/messages.ts'
import { isAlive, type Program, untilGone } from '../support/process.ts'
import { apiClient, basic } from '../support/reporter.ts'

const places: Place[] = []

afterEach(async () => {
  await Promise.all(places.splice(0).map((place) => place.clear()))
})

async function place(): Promise<Place> {
  const made = await makePlace()
  places.push(made)
  return made
}

const CLOSE_MS = 20_000

test('start on an empty folder gives a working instance, and Ctrl-C ends all of it', async () => {
  const here = await place()
  const first = await untilRunning(here.start())
  const { admin, reporter } = await here.accounts()
  const kept = path.join(here.dataDir, 'accounts.json')
  for (const word of ['/report', '/admin/outbox', 'not sent', admin.email, reporter.email, kept]) {
    expect(first.said()).toContain(word)
  }
  expect((await stat(kept)).mode & 0o777).toBe(0o600)
  await saysNoSecret(first, here)

  const client = apiClient(here.url, basic(reporter))
  const { id } = await client.post(spamMessage('first'))
  const report = await client.untilEvent(id, 'held')
  expect(report).toMatchObject({ status: 'analyzed', origin: { ip: '198.51.100.23' } })

  const pids = [first.pid, ...here.tree().map(({ pid }) => pid)]
  expect(pids.length).toBeGreaterThan(4)
  const stopping = performance.now()
  first.killGroup('SIGINT')
  expect(await first.ended).toEqual({ code: 0, signal: null })
  expect(performance.now() - stopping).toBeLessThan(CLOSE_MS)
  expect(pids.filter(isAlive)).toEqual([])

  const second = await untilRunning(here.start())
  expect(await here.accounts()).toEqual({ admin, reporter })
  await saysNoSecret(second, here)
  expect((await client.get(id)).timeline).toEqual(report.timeline)
  expect(await client.raw(id)).toEqual(Buffer.from(spamMessage('first')))
})

test('SIGTERM to npm start alone ends everything it started', async () => {
  const here = await place()
  const npm = await untilRunning(here.npmStart())
  const pids = here.tree().map(({ pid }) => pid)
  expect(pids.length).toBeGreaterThan(4)
  const stopping = performance.now()
  npm.kill('SIGTERM')
  await untilGone(pids, CLOSE_MS)
  expect(performance.now() - stopping).toBeLessThan(CLOSE_MS)
})

/** Checks that nothing from the files with mode 600 occurs in the output or the log. */
async function saysNoSecret(program: Program, here: Place): Promise<void> {
  const { admin, reporter } = await here.accounts()
  const files = ['secret', 'postgres.password', 'database.url']
  const read = (file: string) => readFile(path.join(here.dataDir, file), 'utf8')
  const secrets = [...(await Promise.all(files.map(read))), admin.password, reporter.password]
  for (const secret of secrets) expect(program.said()).not.toContain(secret)
}
