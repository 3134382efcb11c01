import { pino } from 'pino'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { type Action, runAction } from '../../../src/actions.ts'
import { listJobs } from '../../../src/db/queue-controls.ts'
import { type Boss, createQueues, send, startBoss, stopBoss } from '../../../src/queue/boss.ts'
import {
  cancelJob,
  pauseQueues,
  resumeQueues,
  runChore,
  setConcurrency,
  startNow,
} from '../../../src/queue/control-queues.ts'
import { deadLetterQueue, defineQueue, type Queue } from '../../../src/queue/define-queue.ts'
import { retryDeadLetters } from '../../../src/queue/redrive.ts'
import { workQueue } from '../../../src/queue/work.ts'
import { refusal } from '../../../src/phrase.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { freshDatabase } from '../../support/database.ts'
import { until } from '../../support/process.ts'

type Payload = { mark: string }

const { pool, url } = await closeAfterTests(freshDatabase())
const boss = await closeAfterTests(openBoss())
const config = { needsFourEyes: false }
const app = { pool, boss, config, clock: () => new Date(), log: pino({ level: 'silent' }) }
let number = 0

async function openBoss(): Promise<Boss & { close: () => Promise<void> }> {
  // Without notifications, a process looks for jobs and controls every two seconds.
  const opened = await startBoss(url, 'works', {
    name: 'test',
    onError: console.error,
    listens: false,
  })
  return Object.assign(opened, { close: () => stopBoss(opened, 1_000) })
}

async function makeQueue(more: Partial<Queue<Payload>> = {}): Promise<Queue<Payload>> {
  const queue = defineQueue<Payload>({
    name: `controlled-${'abcdefghijklmnop'[number++]}`,
    payload: z.object({ mark: z.string() }),
    attempts: { retryLimit: 2, retryDelay: 60, retryDelayMax: 120, expireInSeconds: 60 },
    ...more,
  })
  await createQueues(boss, [queue], pool)
  return queue
}

const act = (action: Action, given: Record<string, unknown>) =>
  runAction(action, given, app as never, null)
const jobsIn = ({ name }: Pick<Queue, 'name'>, state: 'ready' | 'later' | 'active') =>
  listJobs(pool, { queue: name, state }, { after: undefined, limit: 50 })

/** Works a queue with a second process, as a worker would after a restart. */
async function openWorker(
  queue: Queue<Payload>,
  handle = (mark: string): Promise<unknown> => Promise.resolve(mark),
) {
  const done: string[] = []
  const worker = await workQueue<Payload>(app, queue, async (payloads) => {
    for (const { mark } of payloads) {
      done.push(mark)
      await handle(mark)
    }
    return payloads.map(() => 'done')
  })
  return { done, worker }
}

const waitFor = (what: string, isTrue: () => boolean) => until(what, () => isTrue() || undefined)

test('a paused queue takes no jobs, also in workers that start later, until resumed', async () => {
  const [paused, running] = [await makeQueue(), await makeQueue()]
  await act(pauseQueues, { queue: paused.name, reason: 'the desk is away' })
  await send(boss, paused, [{ mark: 'waits' }], pool)
  const [first, second] = [await openWorker(paused), await openWorker(running)]
  await send(boss, running, [{ mark: 'runs' }], pool)
  await waitFor('the other queue', () => second.done.length > 0)
  expect(first.done).toEqual([])
  // A second round of the same loop: what it would take, it would take now.
  await send(boss, running, [{ mark: 'again' }], pool)
  await waitFor('the other queue, again', () => second.done.length > 1)
  expect([first.done, (await jobsIn(paused, 'ready')).length]).toEqual([[], 1])
  expect(await act(resumeQueues, { queue: paused.name })).toMatchObject({ done: 'resumed' })
  await waitFor('the paused queue', () => first.done.length > 0)
  await Promise.all([first.worker.close(), second.worker.close()])
})

test('all queues can be paused, and every pause ended at once', async () => {
  const queue = await makeQueue()
  const { done, worker } = await openWorker(queue)
  await act(pauseQueues, { reason: 'the disk is full' })
  await act(pauseQueues, { queue: queue.name, reason: 'and this one' })
  expect(await act(pauseQueues, { reason: 'again' })).toEqual({ unchanged: 'nothing' })
  await waitFor('the pause', () => boss.isPaused(queue.name))
  await send(boss, queue, [{ mark: 'waits' }], pool)
  expect(done).toEqual([])
  await act(resumeQueues, {})
  await waitFor('the job', () => done.length > 0)
  expect(await act(resumeQueues, {})).toEqual({ unchanged: 'nothing' })
  await worker.close()
})

test('the number of batches at the same time changes while a worker runs', async () => {
  const queue = await makeQueue({ concurrency: 1 })
  const gate = Promise.withResolvers<undefined>()
  let running = 0
  const { worker } = await openWorker(queue, async () => {
    running++
    await gate.promise
  })
  await send(
    boss,
    queue,
    Array.from({ length: 5 }, (_, n) => ({ mark: `${n}` })),
    pool,
  )
  await waitFor('the first batch', () => running === 1)
  expect(worker.state()).toMatchObject({ batches: 1, batchesMax: 1 })
  const [held] = await jobsIn(queue, 'active')
  expect(worker.state().jobs).toEqual([held?.id])
  await act(setConcurrency, { queue: queue.name, batches: '3' })
  await waitFor('three batches', () => running === 3)
  expect(worker.state()).toMatchObject({ batches: 3, batchesMax: 3 })
  await act(setConcurrency, { queue: queue.name })
  gate.resolve(undefined)
  await waitFor('all jobs', () => running === 5)
  await worker.close()
})

test('jobs that wait for an instant start now, one or all', async () => {
  const queue = await makeQueue()
  await send(boss, queue, [{ mark: 'a' }, { mark: 'b' }, { mark: 'c' }], pool, { seconds: 3_600 })
  const [one] = await jobsIn(queue, 'later')
  expect(one).toMatchObject({ state: 'later', attempts: 0, reason: null })
  expect(await act(startNow, { queue: queue.name, id: one?.id })).toMatchObject({ count: 1 })
  expect((await jobsIn(queue, 'ready')).map(({ id }) => id)).toEqual([one?.id])
  expect(await act(startNow, { queue: queue.name })).toMatchObject({ count: 2 })
  expect(await jobsIn(queue, 'later')).toEqual([])
})

test('a canceled job becomes a dead letter at once, from where it can be retried', async () => {
  const queue = await makeQueue()
  await send(boss, queue, [{ mark: 'unwanted' }, { mark: 'wanted' }], pool)
  const job = (await jobsIn(queue, 'ready')).find(({ data }) => data['mark'] === 'unwanted')
  const given = { queue: queue.name, id: job?.id }
  expect(await act(cancelJob, given)).toMatchObject({ done: 'canceled' })
  expect(await act(cancelJob, given)).toEqual({ unchanged: 'nothing' })
  expect((await jobsIn(queue, 'ready')).map(({ data }) => data['mark'])).toEqual(['wanted'])
  const { rows } = await pool.query(
    `select source_output ->> 'message' as reason from pgboss.job where name = $1`,
    [deadLetterQueue],
  )
  expect(rows).toEqual([{ reason: 'Canceled by an operator.' }])
  await act(retryDeadLetters, { queue: queue.name })
  expect(await jobsIn(queue, 'ready')).toHaveLength(2)
})

test('a job that is canceled while it runs does not run again', async () => {
  const queue = await makeQueue()
  const gate = Promise.withResolvers<undefined>()
  const { done, worker } = await openWorker(queue, () => gate.promise)
  await send(boss, queue, [{ mark: 'runs' }], pool)
  await waitFor('the job', () => done.length > 0)
  const [job] = await jobsIn(queue, 'active')
  await act(cancelJob, { queue: queue.name, id: job?.id })
  gate.resolve(undefined)
  await worker.close()
  expect([done, await jobsIn(queue, 'ready'), await jobsIn(queue, 'active')]).toEqual([
    ['runs'],
    [],
    [],
  ])
})

test('pages of jobs follow each other without gaps', async () => {
  const queue = await makeQueue()
  await send(
    boss,
    queue,
    Array.from({ length: 5 }, (_, n) => ({ mark: `${n}` })),
    pool,
  )
  const read = (after?: { atMicros: number; id: string }) =>
    listJobs(pool, { queue: queue.name, state: 'ready' }, { after, limit: 2 })
  const seen: string[] = []
  for (let page = await read(); page.length > 0; page = await read(page.at(-1))) {
    seen.push(...page.map(({ id }) => id))
  }
  expect([seen.length, new Set(seen).size]).toEqual([5, 5])
})

test('a scheduled queue runs when asked; others are refused', async () => {
  const [scheduled, other] = [await makeQueue(), await makeQueue()]
  await boss.schedule(scheduled.name, '0 0 1 1 *', {}, { tz: 'UTC' })
  expect(await act(runChore, { queue: scheduled.name })).toMatchObject({ done: 'added' })
  expect(await jobsIn(scheduled, 'ready')).toHaveLength(1)
  const refused = await act(runChore, { queue: other.name })
  expect(refused).toMatchObject({ problems: [{ message: refusal('refused.no-schedule') }] })
  expect(await act(pauseQueues, { queue: 'unknown', reason: 'x' })).toHaveProperty('problems')
})
