import { expect, test } from 'vitest'
import { writeActivity } from '../../src/activity/write-activity.ts'
import { insertSample } from '../../src/db/activity.ts'
import { ensureConsumers } from '../../src/db/consumers.ts'
import { uuidv7 } from '../../src/world.ts'
import { signedInBrowser } from '../db/web/browser.ts'
import { startWebSite } from '../db/web/web-site.ts'
import { seedActivity } from '../support/activity.ts'
import { closeAfterTests } from '../support/after-tests.ts'

const site = await closeAfterTests(startWebSite())
const { pool } = site.app
const now = new Date()
const addresses = Array.from({ length: 20 }, (_, at) => `abuse@network-${at}.example`)
const consumers = await ensureConsumers(
  pool,
  addresses.map((address) => ({ address, source: 'network' })),
  now,
)
await seedActivity(pool, { now, desks: [...consumers.values()].map(({ id }) => id) })
const viewer = await site.addPerson('viewer@signalpost.example', { role: 'viewer' })
const desk = await signedInBrowser(site.url, viewer, 'en')

test('all series of five years take less than 100 MB', async () => {
  const { rows } = await pool.query<{ bytes: number }>(
    `select pg_total_relation_size('activity_slots') as bytes`,
  )
  console.log(`${((rows[0]?.bytes ?? 0) / 1e6).toFixed(0)} MB`)
  expect(rows[0]?.bytes).toBeLessThan(100_000_000)
})

test('every page is answered in less than 100 ms', async () => {
  const groups = ['reports', 'mail', 'desks', 'queues', 'checks', 'people', 'system']
  const periods = ['hour', 'day', 'week', 'month', 'year']
  const paths = groups.flatMap((group) =>
    periods.flatMap((period) =>
      ['', 'before'].map(
        (compare) => `/admin/activity?group=${group}&period=${period}&compare=${compare}`,
      ),
    ),
  )
  const slow: string[] = []
  for (const path of ['/admin', ...paths]) {
    // The least of all times is what the page takes: the others include other work.
    let took = Infinity
    for (let turn = 0; turn < 5 || (took >= 100 && turn < 100); turn++) {
      const start = performance.now()
      await (await desk.get(path)).text()
      took = Math.min(took, performance.now() - start)
    }
    if (took >= 100) slow.push(`${path}: ${took.toFixed(0)} ms`)
  }
  expect(slow).toEqual([])
})

test('writing takes less than one percent of a core', async () => {
  let at = Math.ceil(now.getTime() / 10_000) * 10_000
  const counts = Object.fromEntries(
    Array.from({ length: 40 }, (_, series) => [`queues/done/queue-${series}`, series]),
  )
  const times: number[] = []
  for (let tick = 0; tick < 120; tick++, at += 10_000) {
    for (const process of ['web', 'work', 'count', 'receive', 'check']) {
      await insertSample(pool, {
        processId: uuidv7(new Date(at)),
        at: new Date(at),
        content: { process, cpu: 0.1, memory: 1e8, counts, durations: {} },
      })
    }
    const start = performance.now()
    await writeActivity({ ...site.app, clock: () => new Date(at + 14_000) })
    times.push(performance.now() - start)
  }
  const total = times.reduce((sum, time) => sum + time, 0)
  // The elapsed time is more than the processor time of the process and the database.
  const share = total / (times.length * 10_000)
  console.log(`${(total / times.length).toFixed(1)} ms a tick, ${(share * 100).toFixed(2)} %`)
  expect(share).toBeLessThan(0.01)
})
