import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { PermanentError } from '../../../src/errors.ts'
import {
  type Boss,
  createQueues,
  hurry,
  send,
  startBoss,
  stopBoss,
} from '../../../src/queue/boss.ts'
import { defineQueue, type Queue } from '../../../src/queue/define-queue.ts'
import { type Handler, workQueue } from '../../../src/queue/work.ts'
import { type Clock, systemClock } from '../../../src/world.ts'
import { freshDatabase, type TestDatabase } from '../../support/database.ts'
import { until } from '../../support/process.ts'

type Payload = { mark: string }

/** Without a notification, jobs are found only after this time. */
const POLL_MS = 5_000

let database: TestDatabase
let boss: Boss
let worker: { close: () => Promise<void> } | undefined
let number = 0

beforeAll(async () => {
  database = await freshDatabase()
  boss = await startBoss(database.url, 'works', { name: 'test', onError: console.error })
})

afterEach(() => worker?.close())

afterAll(async () => {
  await stopBoss(boss, 1_000)
  await database.close()
})

const usualAttempts = { retryLimit: 2, retryDelay: 1, retryDelayMax: 2, expireInSeconds: 60 }

/** Creates a queue of its own for a test. */
async function makeQueue(more: Partial<Queue<Payload>> = {}): Promise<Queue<Payload>> {
  number++
  const queue = defineQueue<Payload>({
    name: `queue-${number}`,
    payload: z.object({ mark: z.string() }),
    attempts: usualAttempts,
    ...more,
  })
  await createQueues(boss, [queue], database.pool)
  return queue
}

const add = (queue: Queue<Payload>, ...marks: string[]) =>
  send(
    boss,
    queue,
    marks.map((mark) => ({ mark })),
    database.pool,
  )

async function start(
  queue: Queue<Payload>,
  handle: Handler<Payload>,
  clock: Clock = systemClock,
): Promise<void> {
  const log = pino({ level: 'silent' })
  worker = await workQueue({ boss, pool: database.pool, clock, log }, queue, handle)
}

/** Returns the jobs of a queue, and its dead letters. */
async function jobs(name: string) {
  const { rows } = await database.pool.query<Record<string, unknown>>(
    `select name, data ->> 'mark' as mark, state::text, retry_count as retries,
       coalesce(source_output, output) ->> 'message' as reason
     from pgboss.job where name = $1 or source_name = $1 order by created_on, mark`,
    [name],
  )
  return rows
}

test('jobs added together are one batch, and their rows are deleted at its end', async () => {
  const queue = await makeQueue({ batchSize: 10 })
  const batches: string[][] = []
  await start(queue, (payloads) => {
    batches.push(payloads.map(({ mark }) => mark))
    return Promise.resolve(payloads.map(() => 'done'))
  })
  await wait(100)
  await add(queue, 'a', 'b', 'c')
  await until('the jobs', () => Promise.resolve(batches.flat().length === 3 || undefined))
  expect(batches).toHaveLength(1)
  await worker?.close()
  expect(await jobs(queue.name)).toEqual([])
})

test(
  'a worker is notified of jobs, and handles a limited number of batches at once',
  { retry: 2 },
  async () => {
    const queue = await makeQueue({ batchSize: 2, concurrency: 2 })
    let running = 0
    let most = 0
    let handled = 0
    await start(queue, async (payloads) => {
      most = Math.max(most, ++running)
      await wait(20)
      running--
      handled += payloads.length
      return payloads.map(() => 'done')
    })
    await wait(100)
    const addedAt = performance.now()
    await add(queue, ...Array.from({ length: 11 }, (_, index) => `job ${index}`))
    await until('all jobs', () => Promise.resolve(handled === 11 || undefined))
    expect(performance.now() - addedAt).toBeLessThan(POLL_MS)
    expect(most).toBe(2)
  },
)

test('jobs in a stream wait for others, but not if somebody waits', { retry: 2 }, async () => {
  const other = await makeQueue()
  const queue = await makeQueue({ batchSize: 3, gatherMs: 60_000 })
  const batches: string[][] = []
  const log = pino({ level: 'silent' })
  const app = { boss, pool: database.pool, clock: systemClock, log }
  const keep: Handler<Payload> = async (payloads) => {
    batches.push(payloads.map(({ mark }) => mark))
    return payloads.map(() => 'done')
  }
  const others = await workQueue(app, other, keep)
  await start(queue, keep)
  const handled = (mark: string) =>
    until(mark, () => Promise.resolve(batches.flat().includes(mark) || undefined))
  const gathers = async (mark: string) => {
    await add(queue, mark)
    // Notified later, and not gathered: when it is handled, the job before it would be, too.
    await add(other, `after ${mark}`)
    await handled(`after ${mark}`)
    expect(batches.flat()).not.toContain(mark)
  }
  for (const mark of ['a', 'b', 'c', 'd']) {
    await add(queue, mark)
    await handled(mark)
  }
  await gathers('e')
  await hurry(database.pool, queue)
  await handled('e')
  await gathers('f')
  await gathers('g')
  await add(queue, 'h')
  await handled('h')
  await others.close()
  const gathered = batches.filter(([mark]) => !mark?.startsWith('after'))
  expect(gathered.map((one) => one.toSorted())).toEqual([
    ...[['a'], ['b'], ['c'], ['d'], ['e']],
    ['f', 'g', 'h'],
  ])
})

test('a failing batch is handled one job at a time, and only the job at fault fails', async () => {
  const queue = await makeQueue({ batchSize: 10 })
  const done: string[] = []
  await add(queue, 'good', 'lost', 'bad', 'fine')
  await start(queue, (payloads) => {
    const marks = payloads.map(({ mark }) => mark)
    if (marks.includes('bad')) throw new Error('Try again.')
    if (marks.includes('lost')) throw new PermanentError('Hopeless.')
    done.push(...marks)
    return Promise.resolve(payloads.map(() => 'done'))
  })
  await until('the jobs', async () => (await jobs(queue.name)).length === 3 || undefined)
  await worker?.close()
  expect(done.toSorted()).toEqual(['fine', 'good'])
  expect(await jobs(queue.name)).toEqual([
    { name: queue.name, mark: 'bad', state: 'retry', retries: 0, reason: 'Try again.' },
    { name: queue.name, mark: 'lost', state: 'failed', retries: 0, reason: 'Hopeless.' },
    { name: 'dead-letter', mark: 'lost', state: 'created', retries: 0, reason: 'Hopeless.' },
  ])
})

test('after an outage of the database, a job runs again soon and keeps its attempts', async () => {
  const queue = await makeQueue({ attempts: { ...usualAttempts, retryLimit: 1 } })
  let attempts = 0
  await add(queue, 'a')
  const handle: Handler<Payload> = ([payload]) => {
    attempts++
    const lost = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
    return attempts < 4 ? Promise.reject(lost) : Promise.resolve([payload ? 'done' : { retry: '' }])
  }
  // The pause of ten seconds is over at once.
  await start(queue, handle, () => new Date(Date.now() - 10_000))
  await until('the fourth attempt', () => attempts === 4 || undefined)
  await worker?.close()
  const states = (await jobs(queue.name)).map(({ state }) => state)
  expect(states).toEqual(['completed', 'completed', 'completed'])
})

test('a job is retried when its pause has passed, and becomes a dead letter at last', async () => {
  const queue = await makeQueue({ attempts: { ...usualAttempts, retryLimit: 1 } })
  let attempts = 0
  await add(queue, 'a')
  await start(queue, () => Promise.resolve([{ retry: `Failure ${++attempts}.` }]))
  const dead = await until('the dead letter', async () =>
    (await jobs(queue.name)).find(({ name }) => name === 'dead-letter'),
  )
  expect(attempts).toBe(2)
  expect(dead).toMatchObject({ mark: 'a', reason: 'Failure 2.' })
})

test('a job that takes too long is retried, and its late result has no effect', async () => {
  const queue = await makeQueue({ attempts: { ...usualAttempts, expireInSeconds: 1 } })
  const late = Promise.withResolvers<'done'[]>()
  await add(queue, 'slow')
  await start(queue, () => late.promise)
  await until('the failure', async () =>
    (await jobs(queue.name)).find(({ state }) => state === 'retry'),
  )
  late.resolve(['done'])
  await worker?.close()
  expect(await jobs(queue.name)).toMatchObject([
    { state: 'retry', reason: 'The job took longer than 1 seconds.' },
  ])
})

test('the end of an attempt does not end the next attempt of the same job', async () => {
  const queue = await makeQueue()
  const result = Promise.withResolvers<'done'[]>()
  const begun = Promise.withResolvers<undefined>()
  await add(queue, 'taken')
  await start(queue, () => {
    begun.resolve(undefined)
    return result.promise
  })
  await begun.promise
  // Another process takes the job over, because it noticed no heartbeats.
  await database.pool.query(`update pgboss.job set retry_count = retry_count + 1 where name = $1`, [
    queue.name,
  ])
  result.resolve(['done'])
  await worker?.close()
  expect(await jobs(queue.name)).toMatchObject([{ mark: 'taken', state: 'active', retries: 1 }])
})

test('the row of a scheduled job stays, so that its time gets no second job', async () => {
  const queue = await makeQueue({ cron: '0 0 1 1 *' })
  let handled = 0
  await add(queue, 'now')
  await start(queue, (payloads) => {
    handled++
    return Promise.resolve(payloads.map(() => 'done'))
  })
  await until('the job', () => Promise.resolve(handled === 1 || undefined))
  await worker?.close()
  expect(await jobs(queue.name)).toMatchObject([{ mark: 'now', state: 'completed' }])
})

test('closing waits for the jobs in progress, and takes no others', async () => {
  const queue = await makeQueue()
  const begun = Promise.withResolvers<undefined>()
  let handled = 0
  await add(queue, 'first', 'second')
  await start(queue, async () => {
    begun.resolve(undefined)
    await wait(300)
    handled++
    return ['done']
  })
  await begun.promise
  await worker?.close()
  expect(handled).toBe(1)
  expect(await jobs(queue.name)).toMatchObject([{ state: 'created' }])
})

test('a process that must stop returns its jobs in progress to their queue', async () => {
  const queue = await makeQueue()
  const own = await startBoss(database.url, 'works', { name: 'short', onError: console.error })
  const endless = Promise.withResolvers<'done'[]>()
  const log = pino({ level: 'silent' })
  const app = { boss: own, pool: database.pool, clock: systemClock, log }
  await add(queue, 'endless')
  await workQueue(app, queue, () => endless.promise)
  await until('the job', async () =>
    (await jobs(queue.name)).find(({ state }) => state === 'active'),
  )
  await stopBoss(own, 100)
  endless.resolve(['done'])
  expect(await jobs(queue.name)).toMatchObject([
    { state: 'retry', reason: 'The process was stopped.' },
  ])
})

test('a fetch with a plan made for an empty table has the table analyzed', async () => {
  const queue = await makeQueue({ batchSize: 50, concurrency: 1 })
  let handled = 0
  await start(queue, async (payloads) => {
    handled += payloads.length
    return payloads.map(() => 'done')
  })
  // PostgreSQL keeps a plan from the sixth execution on.
  for (let round = 1; round <= 8; round++) {
    await add(queue, 'a')
    await until('the job', () => Promise.resolve(handled === round || undefined))
  }
  // A slow fetch of an earlier test may have had the table analyzed less than a minute ago.
  boss.analyzedAt = Number.NEGATIVE_INFINITY
  const jobsOf = (part: number) => Array.from({ length: 5_000 }, (_, at) => `job ${part} ${at}`)
  for (let part = 0; part < 5; part++) await add(queue, ...jobsOf(part))
  await until('the analysis', async () => {
    const { rows } = await database.pool.query<{ known: number }>(
      `select reltuples as known from pg_class where relname = 'job_common'`,
    )
    return (rows[0]?.known ?? 0) > 1_000 || undefined
  })
  await database.pool.query('truncate pgboss.job_common')
})

test('the log of a failed job names what the job is about, and nothing else of it', async () => {
  const ids = { reportId: '01966666-0000-7000-8000-000000000001', number: 3 }
  const lines: Record<string, unknown>[] = []
  const log = pino({}, { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[0]) })
  const payload = z.object({ mark: z.string() }).loose()
  const queue = await makeQueue({ payload })
  const app = { boss, pool: database.pool, clock: systemClock, log }
  worker = await workQueue(app, queue, (its) => Promise.resolve(its.map(() => ({ failed: 'No.' }))))
  await send(boss, queue, [{ mark: 'private', ...ids }], database.pool)
  await until('the log', () => lines[0])
  expect(lines).toMatchObject([{ ...ids, queue: queue.name, reason: 'No.' }])
  expect(JSON.stringify(lines)).not.toContain('private')
})
