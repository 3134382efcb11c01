import { expect, test } from 'vitest'
import { levels, slotStart, unpackSlots } from '../../../src/activity/slots.ts'
import { readActivity } from '../../../src/activity/read-activity.ts'
import { families } from '../../../src/activity/families.ts'
import { writeActivity } from '../../../src/activity/write-activity.ts'
import { insertSample, listMarks, listSeries } from '../../../src/db/activity.ts'
import { DAY_MS } from '../../../src/durations.ts'
import { keepHeartbeat } from '../../../src/db/health.ts'
import { ensurePartitions } from '../../../src/db/partitions.ts'
import { uuidv7 } from '../../../src/world.ts'
import { openTestApp } from '../../support/app.ts'
import { closeAfterTests } from '../../support/after-tests.ts'

/** An application whose clock the test sets. It begins at a full hour. */
async function openWatched() {
  const app = await closeAfterTests(openTestApp())
  const start = new Date('2026-11-23T12:00:00Z').getTime()
  let now = start
  const at = (seconds: number) => new Date(start + seconds * 1_000)
  const sample = (seconds: number, done: number, processName = 'work') =>
    insertSample(app.pool, {
      processId: uuidv7(at(seconds)),
      at: at(seconds),
      content: {
        ...{ process: processName, cpu: 0.5, memory: 1e8, durations: {} },
        counts: { 'queues/done/x': done },
      },
    })
  /** Writes as one process would at a time. */
  const write = (seconds: number) => {
    now = start + seconds * 1_000
    return writeActivity({ ...app, clock: () => new Date(now) })
  }
  /** The number of events of a series in all slots of a level. */
  const events = async (level: number, name: string) => {
    const id = (await listSeries(app.pool, families)).find((one) => one.name === name)?.id ?? 0
    const rows = await app.pool.query<{ content: Buffer; ticks: number }>(
      'select content, ticks from activity_slots where level = $1',
      [level],
    )
    const points = rows.rows.flatMap((row) => unpackSlots([row]).rates.get(id) ?? [])
    return Math.round(points.reduce((sum, { count, mean }) => sum + count * mean, 0))
  }
  const ticks = async () =>
    (
      await app.rows(
        `select at from activity_slots where level = 0 and family = 'queues' order by at`,
      )
    ).map((row) => (new Date(String(row['at'])).getTime() - start) / 1_000)
  return { app, at, sample, write, events, ticks }
}

test('writers that take turns leave no tick out, and count nothing twice', async () => {
  const { write, sample, events, ticks } = await openWatched()
  await write(4)
  for (let tick = 0; tick < 12; tick++) {
    await sample(tick * 10, tick + 1)
    const wrote = await Promise.all([0, 1, 2].map(() => write(tick * 10 + 14)))
    expect(wrote.filter(Boolean)).toHaveLength(1)
  }
  expect(await ticks()).toEqual([-10, ...Array.from({ length: 12 }, (_, tick) => tick * 10)])
  expect(await events(0, 'queues/done/x')).toBe(78)
  expect(await events(1, 'queues/done/x')).toBe(78)
})

test('after an outage, what was counted meanwhile is in its time, once', async () => {
  const { app, at, write, sample, events, ticks } = await openWatched()
  await write(4)
  await ensurePartitions(app.pool, at(0), 1)
  await app.report(Buffer.from('From: a@b.example\r\nSubject: x\r\n\r\nx\r\n'))
  await app.pool.query(
    `update reports set received_at = $1, id = overlay(id::text placing $2 from 1 for 13)::uuid`,
    [at(1_230), uuidv7(at(1_230)).slice(0, 13)],
  )
  // The first process stored a sample before it ended.
  await sample(0, 5)
  await sample(5_000, 7)
  const facts = { id: uuidv7(at(0)), host: 'h', name: 'work', version: '1', startedAt: at(0) }
  await keepHeartbeat(app.pool, { ...facts, facts: {}, now: new Date() })
  expect(await write(7_214)).toBe(true)
  expect(await write(7_214)).toBe(false)
  expect((await ticks()).length).toBe(722)
  expect(await events(0, 'queues/done/x')).toBe(12)
  expect(await events(2, 'queues/done/x')).toBe(12)
  expect(await events(3, 'queues/done/x')).toBe(12)
  expect(await events(3, 'reports/channel/api')).toBe(1)
  const marks = await listMarks(app.pool, { from: at(-100), to: at(9_000) }, 10)
  expect(marks.toSorted((a, b) => (a.kind < b.kind ? 1 : -1))).toEqual([
    { at: at(7_210), kind: 'version', detail: '1' },
    { at: at(0), kind: 'start', detail: 'work' },
    { at: at(0), kind: 'outage', detail: at(7_210).toISOString() },
  ])
})

test('a slot is kept as long as its level says, and the present is in shorter ones', async () => {
  const { app, at, write, sample, events } = await openWatched()
  await write(4)
  await sample(0, 60)
  for (let hour = 1; hour <= 13; hour++) await write(hour * 3_600 + 64)
  expect(await events(0, 'queues/done/x')).toBe(0)
  expect(await events(1, 'queues/done/x')).toBe(60)
  const kept = await app.rows(
    `select level, count(*)::int as slots from activity_slots where family = 'mail'
     group by 1 order by 1`,
  )
  const first = levels[0]
  expect(Number(kept[0]?.['slots'])).toBeLessThanOrEqual((first?.keepMs ?? 0) / 10_000 + 6)
  const now = at(13 * 3_600 + 64)
  const tomorrow = slotStart(now.getTime(), DAY_MS) + DAY_MS
  const [from, to] = [new Date(tomorrow - 365 * DAY_MS), new Date(tomorrow)]
  const span = { from, to, level: 4, stepMs: DAY_MS }
  const { slots, ids } = await readActivity(app.pool, ['queues'], span, now)
  const id = ids.get('queues/done/x') ?? 0
  // The day of the sample is complete, today is read from shorter slots.
  expect(slots.map((slot) => slot?.ticks).filter(Boolean)).toEqual([4_321, 366])
  const days = slots.flatMap((slot) => slot?.rates.get(id) ?? [])
  expect(days.map(({ mean, count }) => Math.round(mean * count))).toEqual([60])
})

test('the queue that pg-boss uses itself has no series', async () => {
  const { app, write } = await openWatched()
  await app.boss.createQueue('__pgboss__send-it')
  await write(14)
  const names = (await listSeries(app.pool, families)).map(({ name }) => name)
  expect(names).toContain('queues/age/analyze-report')
  expect(names.filter((name) => name.includes('__pgboss'))).toEqual([])
})
