import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { emptyAlarmState } from '../../../src/health/alarms.ts'
import { migrateAll } from '../../../src/processes/migrate.ts'
import { freeze } from '../../support/frozen-database.ts'
import { openOwnServer } from '../../support/own-database.ts'
import { runProgram } from '../../support/process.ts'
import { makeScratchFolder } from '../../support/scratch-folder.ts'
import { signedInBrowser } from './browser.ts'
import { startWebSite } from './web-site.ts'

const folder = await makeScratchFolder('frozen')
const server = await openOwnServer()
await migrateAll(server.url, new Date())
const site = await startWebSite({ SPOOL_DIR: folder, SPOOL_MEGABYTES: '1' }, () =>
  Promise.resolve(server.url),
)
const admin = await site.addPerson('admin@desk.example', { role: 'administrator' })
const desk = await signedInBrowser(site.url, admin)

let thaw: () => void = () => undefined
afterAll(async () => {
  thaw()
  await site.close()
  await server.close()
  await rm(folder, { recursive: true })
})

const MS_MAX = 2_000

const TICK_MS = 10

/**
 * Answers, and the longest time in milliseconds that one took, without the time for which a loaded
 * machine did not run this process.
 */
async function answersOf(paths: readonly string[]) {
  let [lagMs, tickedAt] = [0, performance.now()]
  const ticking = setInterval(() => {
    lagMs += Math.max(0, performance.now() - tickedAt - 2 * TICK_MS)
    tickedAt = performance.now()
  }, TICK_MS)
  const began = performance.now()
  const answers = await Promise.all(
    paths.map(async (path) => {
      const answer = path.startsWith('/admin')
        ? await desk.get(path)
        : await fetch(`${site.url}${path}`)
      return [path, { status: answer.status, text: await answer.text() }] as const
    }),
  )
  clearInterval(ticking)
  return { its: new Map(answers), tookMs: performance.now() - began - lagMs }
}

const all = [
  ...['/healthz', '/readyz', '/metrics', '/admin', '/admin/health', '/admin/live'],
  '/api/v1/health',
]

beforeAll(async () => {
  const before = new Date(Date.now() - 40_000).toISOString()
  const watched = { endedAt: [], goodSince: null, notified: null, reason: null, badSince: before }
  const state = { ...emptyAlarmState, watched: { disk: { ...watched, criticalSince: null } } }
  await site.app.pool.query('update alarm_watch set evaluated_at = $1, state = $2', [before, state])
})

test('while PostgreSQL is frozen, everything that watches the site answers in time', async () => {
  // A loaded machine may need more than one attempt.
  await vi.waitFor(async () => {
    const { its } = await answersOf(all.slice(0, 5))
    expect([...its.values()].map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect(its.get('/healthz')?.text).toBe('alive\n')
    expect(its.get('/readyz')?.text).toBe('ready\n')
    expect(its.get('/metrics')?.text).toContain('signalpost_database_metrics_age_seconds 0')
  }, 20_000)

  thaw = await freeze(server)
  const { its, tookMs } = await answersOf(all)
  expect(tookMs).toBeLessThan(MS_MAX)
  const { status, text } = its.get('/healthz') ?? {}
  expect(status).toBe(200)
  expect(text).toMatch(/^alive\nThe database has not answered for \d+ s\.\n/)
  expect(text).toMatch(/The health \d+ s ago was warning: disk warning\.\n$/)
  expect(its.get('/readyz')).toMatchObject({
    status: 200,
    text: 'ready for new reports only: the database does not answer\n',
  })
  // What was read less than two seconds ago is not old.
  await vi.waitFor(async () => {
    const again = await answersOf(['/metrics'])
    expect(again.tookMs).toBeLessThan(MS_MAX)
    const metrics = again.its.get('/metrics')?.text ?? ''
    expect(metrics).toContain('signalpost_condition{condition="database",level="critical"} 1')
    expect(metrics).toContain('signalpost_queue_jobs{queue="analyze-report",state="ready"} 0')
    const [, age] = /^signalpost_database_metrics_age_seconds (\S+)$/m.exec(metrics) ?? []
    expect(Number(age)).toBeGreaterThan(0)
  }, 10_000)
  expect(its.get('/api/v1/health')?.status).toBe(503)
  for (const path of ['/admin', '/admin/health', '/admin/live']) {
    const page = its.get(path)
    expect([path, page?.status]).toEqual([path, 503])
    expect(page?.text).toContain('The database has not answered for')
    expect(page?.text).toMatch(/Health, as last evaluated [^<]+ ago: <strong>warning<\/strong>/)
    // Anyone may read the page.
    expect(page?.text).not.toContain('disk warning')
    expect(page?.text).not.toContain(admin.email)
  }
})

test('a command says what the process "web" knows', async () => {
  const env = { DATABASE_URL: server.url, HTTP_PORT: new URL(site.url).port, DATA_DIR: folder }
  const timed = async (args: readonly string[]) => {
    const began = performance.now()
    const outcome = await runProgram(args, env)
    return { ...outcome, tookMs: performance.now() - began }
  }
  const [help, health] = [await timed(['help']), await timed(['health', 'list'])]
  expect(health).toMatchObject({ code: 1, stdout: '' })
  expect(health.stderr).toMatch(/^signalpost health: The database has not answered for \d+ s\./)
  expect(health.stderr).toContain('was warning: disk warning.')
  // The time that a loaded machine needs to start a command does not count.
  expect(health.tookMs - 2 * help.tookMs).toBeLessThan(MS_MAX)
})

test('when PostgreSQL goes on, everything is as before', async () => {
  thaw()
  await expect.poll(async () => (await desk.get('/admin')).status, { timeout: 20_000 }).toBe(200)
  expect(await (await fetch(`${site.url}/healthz`)).text()).toBe('alive\n')
  const metrics = await (await fetch(`${site.url}/metrics`)).text()
  expect(metrics).toContain('signalpost_condition{condition="database",level="critical"} 0')
})
