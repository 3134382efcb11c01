import { readFile, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { makePlace, untilRunning } from '../support/instance.ts'
import { spamMessage } from '../support/messages.ts'
import { isAlive, killAll, type Program, untilGone } from '../support/process.ts'
import { apiClient, basic } from '../support/reporter.ts'

const here = await makePlace()
afterAll(() => here.clear())

const CLOSE_MS = 20_000

test('start on an empty folder works until Ctrl-C; npm start continues until SIGTERM', async () => {
  const first = await untilRunning(here.start())
  const { admin, reporter } = await here.accounts()
  const kept = path.join(here.dataDir, 'accounts.json')
  for (const word of [here.url, 'No mail is sent', admin.email, reporter.email, kept]) {
    expect(first.said()).toContain(word)
  }
  expect((await stat(kept)).mode & 0o777).toBe(0o600)
  await saysNoSecret(first)

  const client = apiClient(here.url, basic(reporter))
  const { id } = await client.post(spamMessage('first'))
  const report = await client.untilEvent(id, 'held')
  expect(report).toMatchObject({ status: 'analyzed', origin: { ip: '198.51.100.23' } })

  await endsInTime(async (pids) => {
    first.killGroup('SIGINT')
    expect(await first.ended).toEqual({ code: 0, signal: null })
    expect([first.pid, ...pids].filter(isAlive)).toEqual([])
  })

  const second = await untilRunning(here.startBy(['npm', 'start']))
  expect(await here.accounts()).toEqual({ admin, reporter })
  await saysNoSecret(second)
  expect((await client.get(id)).timeline).toEqual(report.timeline)
  expect(await client.raw(id)).toEqual(Buffer.from(spamMessage('first')))
  await endsInTime(async (pids) => {
    second.kill('SIGTERM')
    await untilGone(pids, CLOSE_MS)
  })
})

test('after a crash of everything, no row of a former process is left', async () => {
  const { admin } = await here.accounts()
  const processes = async () => {
    const answer = await fetch(`${here.url}/api/v1/health`, {
      headers: { authorization: basic(admin) },
    })
    const health = (await answer.json()) as { processes: { name: string; started_at: string }[] }
    return health.processes.map(({ name, started_at: at }) => `${name} ${at}`)
  }
  const names = (rows: readonly string[]) => rows.map((row) => row.split(' ')[0]).toSorted()
  const all = ['count', 'receive', 'web', 'work']
  const first = await untilRunning(here.start())
  await expect.poll(async () => names(await processes()), { timeout: 10_000 }).toEqual(all)
  const before = await processes()
  const pids = here.tree().map(({ pid }) => pid)
  await killAll([first.pid, ...pids])
  // As after a restore: the administrator is there, and passwords of this folder would be wrong.
  const kept = path.join(here.dataDir, 'accounts.json')
  await rm(kept)

  const second = await untilRunning(here.start())
  const after = async () => names((await processes()).filter((row) => !before.includes(row)))
  await expect.poll(after, { timeout: 10_000 }).toEqual(all)
  expect(names(await processes())).toEqual(all)
  expect(second.said()).not.toContain('accounts.json')
  await expect(stat(kept)).rejects.toThrow('ENOENT')

  const work = here.tree().find(({ command }) => / work$/.test(command))
  const worker = (await processes()).find((row) => row.startsWith('work '))
  process.kill(work?.pid ?? 0, 'SIGKILL')
  const replaced = async () => {
    const rows = await processes()
    return rows.includes(worker ?? '') ? [] : names(rows)
  }
  await expect.poll(replaced, { timeout: 15_000 }).toEqual(all)
  await second.stop()
})

/** Runs `end` with the ids of all processes that were started, which has to end them in time. */
async function endsInTime(end: (pids: readonly number[]) => Promise<void>): Promise<void> {
  const pids = here.tree().map(({ pid }) => pid)
  expect(pids.length).toBeGreaterThan(4)
  const stopping = performance.now()
  await end(pids)
  expect(performance.now() - stopping).toBeLessThan(CLOSE_MS)
}

/** Checks that nothing from the files with mode 600 occurs in the output or the log. */
async function saysNoSecret(program: Program): Promise<void> {
  const { admin, reporter } = await here.accounts()
  const files = ['secret', 'postgres.password', 'database.url']
  const read = (file: string) => readFile(path.join(here.dataDir, file), 'utf8')
  const secrets = [...(await Promise.all(files.map(read))), admin.password, reporter.password]
  for (const secret of secrets) expect(program.said()).not.toContain(secret)
}
