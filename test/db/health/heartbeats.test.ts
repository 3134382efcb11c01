import { hostname } from 'node:os'
import { beforeEach, expect, test } from 'vitest'
import { keepHeartbeat, listProcesses, stopHeartbeat } from '../../../src/db/health.ts'
import { startHeartbeats } from '../../../src/health/heartbeat.ts'
import { createReadHealth } from '../../../src/health/read-health.ts'
import { uuidv7 } from '../../../src/world.ts'
import { closeAfterTests, closeAfterThisTest } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'

const app = await closeAfterTests(openTestApp())
const { pool } = app
const host = hostname()

beforeEach(async () => {
  await pool.query('delete from processes')
  await pool.query('delete from stopped_processes')
})

type Its = { name?: string; host?: string; duty?: string | null; silentSeconds: number }

/** Stores the row of a process that was killed a number of seconds ago. */
async function killed({ name = 'work', duty = '', ...its }: Its): Promise<string> {
  const id = uuidv7(new Date())
  const about = { host, version: '1', startedAt: new Date(0), facts: {}, now: new Date(), ...its }
  await keepHeartbeat(pool, { ...about, id, name, duty: duty ?? '' })
  await pool.query(
    `update processes set seen_at = database_clock() - interval '1 second' * $2,
      place_since = case when $3 then null else started_at end,
      duty = case when $3 then null else duty end
    where id = $1`,
    [id, its.silentSeconds, duty === null],
  )
  return id
}

/** Starts a process, and waits until it has looked for a place. */
async function started(name = 'work', duty = '') {
  const heartbeats = startHeartbeats(app, name, duty)
  await closeAfterThisTest(Promise.resolve(heartbeats))
  await expect.poll(idsOf).toContain(heartbeats.id)
  await new Promise((resolve) => setTimeout(resolve, 100))
  return heartbeats
}

async function idsOf(): Promise<string[]> {
  return (await listProcesses(pool)).map(({ id }) => id)
}

async function alarm() {
  const { conditions } = await createReadHealth(app)()
  const found = conditions.find(({ code }) => code === 'processes')
  return found?.level
}

test('after a reboot, the new processes replace the rows of all old ones', async () => {
  for (const name of ['web', 'work', 'count', 'receive']) await killed({ name, silentSeconds: 300 })
  expect(await alarm()).toBe('critical')
  const ids: string[] = []
  for (const name of ['web', 'work', 'count', 'receive']) ids.push((await started(name)).id)
  await expect.poll(async () => (await idsOf()).toSorted()).toEqual(ids.toSorted())
  expect(await alarm()).toBe('ok')
})

test('a successor waits until its predecessor is silent', async () => {
  const former = await killed({ silentSeconds: 3 })
  const { id } = await started()
  expect((await idsOf()).toSorted()).toEqual([former, id].toSorted())
  await pool.query(`update processes set seen_at = seen_at - interval '20 s' where id = $1`, [
    former,
  ])
  await expect.poll(idsOf, { timeout: 10_000 }).toEqual([id])
})

test('each of several workers replaces one, and one that is not replaced stays', async () => {
  await killed({ silentSeconds: 30 })
  const other = await killed({ silentSeconds: 40 })
  const { id } = await started()
  expect((await idsOf()).toSorted()).toEqual([other, id].toSorted())
  const { id: second } = await started()
  const present = async () => (await idsOf()).toSorted()
  await expect.poll(present, { timeout: 10_000 }).toEqual([id, second].toSorted())
})

test('an orderly restart of one worker does not hide that another was killed', async () => {
  const one = await killed({ silentSeconds: 60 })
  const other = await killed({ silentSeconds: 1 })
  await stopHeartbeat(pool, other)
  const { id } = await started()
  expect((await idsOf()).toSorted()).toEqual([one, id].toSorted())
})

test('a successor takes no place while the last process may be its predecessor', async () => {
  const stopped = await killed({ silentSeconds: 0 })
  await stopHeartbeat(pool, stopped)
  const crashed = await killed({ silentSeconds: 0 })
  const { id } = await started()
  await pool.query(`update processes set seen_at = seen_at - interval '20 s' where id = $1`, [
    crashed,
  ])
  await pool.query(`update stopped_processes set seen_at = seen_at - interval '60 s'`)
  await expect.poll(idsOf, { timeout: 10_000 }).toEqual([id])
})

test('a process that crashes again and again leaves one row, or none', async () => {
  const rows: string[] = []
  for (const silentSeconds of [90, 70, 50, 30]) {
    const id = await killed({ silentSeconds })
    await pool.query(`update processes set place_since = seen_at - interval '10 s' where id = $1`, [
      id,
    ])
    rows.push(id)
  }
  const { id } = await started()
  await expect.poll(idsOf).toEqual([id])
})

test('a process replaces none of another kind, duty or host, and none that runs', async () => {
  const rows = [
    await killed({ name: 'count', silentSeconds: 300 }),
    await killed({ duty: 'forward-report', silentSeconds: 300 }),
    await killed({ host: 'other.example', silentSeconds: 300 }),
  ]
  const running = await started('work', 'analyze-report')
  const { id } = await started('work', 'analyze-report')
  expect((await idsOf()).toSorted()).toEqual([...rows, running.id, id].toSorted())
})

test('a process replaces one of the version before', async () => {
  await killed({ duty: null, silentSeconds: 300 })
  const { id } = await started('work', 'analyze-report')
  await expect.poll(idsOf).toEqual([id])
})

test('a process that is gone and not replaced raises an alarm', async () => {
  for (const name of ['web', 'work', 'count']) await started(name)
  await killed({ name: 'receive', silentSeconds: 130 })
  expect(await alarm()).toBe('critical')
})

test('a heartbeat that a frozen database stored late does not set the clock wrong', async () => {
  const now = new Date(Date.now() - 110_000)
  const its = { id: uuidv7(now), host, name: 'work', version: '1', startedAt: now, facts: {}, now }
  const clocks = async () =>
    (await createReadHealth(app)()).conditions.find(({ code }) => code === 'clocks')?.level
  const storedAt = await keepHeartbeat(pool, its)
  expect(Math.abs(storedAt.getTime() - Date.now())).toBeLessThan(60_000)
  expect(await clocks()).toBe('critical')
  await keepHeartbeat(pool, { ...its, aheadSeconds: 0.2 })
  expect(await clocks()).toBe('ok')
})
