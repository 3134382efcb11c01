import { pino } from 'pino'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { runAction } from '../../../src/actions.ts'
import { listBacklogs } from '../../../src/db/jobs.ts'
import { type Boss, createQueues, send, startBoss, stopBoss } from '../../../src/queue/boss.ts'
import { defineQueue, type Queue } from '../../../src/queue/define-queue.ts'
import { demoteWaiting, retryDeadLetters } from '../../../src/queue/redrive.ts'
import { type Handler, workQueue } from '../../../src/queue/work.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { freshDatabase } from '../../support/database.ts'
import { until } from '../../support/process.ts'

type Payload = { mark: string }

const { pool, url } = await closeAfterTests(freshDatabase())
const boss = await closeAfterTests(openBoss())
const app = { pool, boss, clock: () => new Date(), config: { needsFourEyes: false } }
let number = 0

async function openBoss(): Promise<Boss & { close: () => Promise<void> }> {
  const opened = await startBoss(url, 'works', { name: 'test', onError: console.error })
  return Object.assign(opened, { close: () => stopBoss(opened, 1_000) })
}

const usualAttempts = { retryLimit: 2, retryDelay: 1, retryDelayMax: 2, expireInSeconds: 60 }

/** Creates a queue of its own for a test. */
async function makeQueue(more: Partial<Queue<Payload>> = {}): Promise<Queue<Payload>> {
  const queue = defineQueue<Payload>({
    name: `demoted-${'abcdefgh'[number++]}`,
    payload: z.object({ mark: z.string() }),
    attempts: usualAttempts,
    ...more,
  })
  await createQueues(boss, [queue], pool)
  return queue
}

/** Adds jobs one after the other, so that their order is certain. */
async function add(queue: Queue<Payload>, ...marks: string[]): Promise<void> {
  for (const mark of marks) await send(boss, queue, [{ mark }], pool)
}

const demote = ({ name }: Queue<Payload>) => runAction(demoteWaiting, { queue: name }, app, null)

/** Works a queue until it has handled this many jobs; returns their marks in order. */
async function work(
  queue: Queue<Payload>,
  jobs: number,
  handle?: Handler<Payload>,
  clock = app.clock,
): Promise<string[]> {
  const marks: string[] = []
  const log = pino({ level: 'silent' })
  const worker = await workQueue<Payload>({ ...app, clock, log }, queue, async (payloads) => {
    marks.push(...payloads.map(({ mark }) => mark))
    return handle ? handle(payloads) : payloads.map(() => 'done')
  })
  await until('the jobs', () => Promise.resolve(marks.length >= jobs || undefined))
  await worker.close()
  return marks
}

test('new jobs are handled first, then the demoted ones in their order', async () => {
  const queue = await makeQueue()
  await add(queue, 'old-1', 'old-2', 'old-3')
  expect(await demote(queue)).toMatchObject({ done: 'demoted', count: 3 })
  await add(queue, 'new-1', 'new-2')
  const order = ['new-1', 'new-2', 'old-1', 'old-2', 'old-3']
  expect(await work(queue, order.length)).toEqual(order)
})

test('jobs of two outages are handled in their order', async () => {
  const queue = await makeQueue()
  await add(queue, 'first')
  await demote(queue)
  await add(queue, 'second')
  expect(await demote(queue)).toMatchObject({ count: 1 })
  expect(await demote(queue)).toEqual({ unchanged: 'none' })
  await add(queue, 'new')
  expect(await work(queue, 3)).toEqual(['new', 'first', 'second'])
})

test('other queues and jobs in progress are unchanged', async () => {
  const [queue, other] = [await makeQueue(), await makeQueue()]
  await add(other, 'other')
  await add(queue, 'active', 'waiting')
  await boss.fetch(queue.name)
  expect(await demote(queue)).toMatchObject({ count: 1 })
  const { rows } = await pool.query(
    `select data ->> 'mark' as mark, priority from pgboss.job where name = any($1) order by mark`,
    [[queue.name, other.name]],
  )
  expect(rows).toEqual([
    { mark: 'active', priority: 0 },
    { mark: 'other', priority: 0 },
    { mark: 'waiting', priority: -1 },
  ])
})

test('a job that another transaction holds is not waited for', async () => {
  const queue = await makeQueue()
  await add(queue, 'held', 'free')
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query(
      `select from pgboss.job where name = $1 and data ->> 'mark' = 'held' for update`,
      [queue.name],
    )
    expect(await demote(queue)).toMatchObject({ count: 1 })
  } finally {
    await client.query('rollback')
    client.release()
  }
  expect(await work(queue, 2)).toEqual(['held', 'free'])
})

test('the age of the backlog stays that of its oldest job', async () => {
  const queue = await makeQueue()
  await add(queue, 'old')
  await pool.query(
    `update pgboss.job set created_on = created_on - interval '2 hours',
       start_after = start_after - interval '1 hour' where name = $1`,
    [queue.name],
  )
  await demote(queue)
  await add(queue, 'new')
  const [backlog] = await listBacklogs(pool, [queue.name], new Date(Date.now() + 1_000))
  expect(backlog).toMatchObject({ ready: 2, deferred: 0 })
  expect(Math.round(backlog?.oldestJobSeconds ?? 0)).toBeCloseTo(7200, -1)
  expect(Math.round(backlog?.longestWaitSeconds ?? 0)).toBeCloseTo(3600, -1)
})

test('a demoted job that is postponed, or fails, stays behind new ones', async () => {
  const queue = await makeQueue({ attempts: { ...usualAttempts, retryDelay: 0 } })
  await add(queue, 'postponed', 'failing')
  await demote(queue)
  await work(queue, 2, ([payload]) =>
    Promise.resolve([
      payload?.mark === 'postponed'
        ? { postponedTo: new Date(), payload }
        : { retry: 'Not this time.' },
    ]),
  )
  await add(queue, 'new')
  const marks = await work(queue, 3)
  expect(marks[0]).toBe('new')
  expect(marks.toSorted()).toEqual(['failing', 'new', 'postponed'])
})

test('a postponed job runs when it is due, without waiting for polling', { retry: 2 }, async () => {
  const queue = await makeQueue()
  const start = performance.now()
  await add(queue, 'again')
  let runs = 0
  await work(queue, 6, ([payload]) => {
    const postponedTo = new Date(Date.now() + 200)
    return Promise.resolve([++runs < 6 ? { postponedTo, payload: { ...payload } } : 'done'])
  })
  // Polling alone would take two seconds each time.
  expect(performance.now() - start).toBeLessThan(6_000)
})

test('a postponed job waits as long as it should, also where the clock is wrong', async () => {
  const queue = await makeQueue()
  await add(queue, 'again')
  const clock = () => new Date(Date.now() + 7_200_000)
  let runs = 0
  const handle: Handler<Payload> = ([payload]) => {
    const postponedTo = new Date(clock().getTime() + 200)
    return Promise.resolve([++runs < 2 ? { postponedTo, payload: { ...payload } } : 'done'])
  }
  expect(await work(queue, 2, handle, clock)).toEqual(['again', 'again'])
})

test('a demoted job that becomes a dead letter can be retried', async () => {
  const queue = await makeQueue({ attempts: { ...usualAttempts, retryLimit: 0 } })
  await add(queue, 'mortal')
  await demote(queue)
  await work(queue, 1, () => Promise.resolve([{ failed: 'It cannot work.' }]))
  const retried = () => runAction(retryDeadLetters, { queue: queue.name }, app, null)
  expect(await retried()).toMatchObject({ done: 'moved', count: 1 })
  expect(await retried()).toMatchObject({ count: 0 })
  expect(await work(queue, 1)).toEqual(['mortal'])
})
