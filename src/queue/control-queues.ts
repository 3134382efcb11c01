import { z } from 'zod'
import { type ActionContext, defineAction, textField, wholeNumber } from '../actions.ts'
import {
  allQueues,
  giveUpJob,
  pauseQueue,
  resumeQueue,
  setQueueConcurrency,
  startJobsNow,
} from '../db/queue-controls.ts'
import { refusal } from '../phrase.ts'
import { type Boss, bossDb, send } from './boss.ts'
import { queueField } from './redrive.ts'

const REASON_CHARS_MAX = 300
const CONCURRENCY_MAX = 64
const queueArgument = queueField.meta({ argument: 'QUEUE' })
const anyQueue = queueField.default(allQueues).meta({ argument: 'QUEUE' })
const reason = textField(REASON_CHARS_MAX, refusal('refused.reason')).meta({ option: 'why' })
const queueText = (queue: string) => (queue === allQueues ? 'all queues' : queue)
const unknown = [{ field: 'queue', message: refusal('refused.no-queue') }]

async function isQueue(boss: Boss, queue: string): Promise<boolean> {
  return queue === allQueues || (await boss.getQueue(queue)) !== null
}

/** Pauses a queue or all. Jobs in progress end; others wait, in every process, until resumed. */
export const pauseQueues = defineAction({
  name: 'queue pause',
  summary: 'pause a queue, or all; jobs in progress still end',
  audit: 'pause queue',
  role: 'operator',
  input: z.object({ queue: anyQueue, reason }),
  async run(tx, { queue, reason: why }, { boss, at, reporterId }: ActionContext<'boss'>) {
    if (!(await isQueue(boss, queue))) return { problems: unknown }
    const isNew = await pauseQueue(tx, { queue, at, by: reporterId, reason: why })
    return isNew
      ? { done: 'paused', audit: `${queueText(queue)}: ${why}` }
      : { unchanged: 'nothing' }
  },
})

/** Resumes a queue. Without one, ends every pause. */
export const resumeQueues = defineAction({
  name: 'queue resume',
  summary: 'resume a paused queue, or end every pause',
  audit: 'resume queue',
  role: 'operator',
  input: z.object({ queue: anyQueue }),
  async run(tx, { queue }) {
    const isDone = await resumeQueue(tx, queue)
    return isDone ? { done: 'resumed', audit: queueText(queue) } : { unchanged: 'nothing' }
  },
})

export const setConcurrency = defineAction({
  name: 'queue concurrency',
  summary: 'set how many batches of a queue each process handles at the same time',
  audit: 'set queue',
  role: 'operator',
  input: z.object({
    queue: queueArgument,
    batches: wholeNumber(1, CONCURRENCY_MAX).optional().meta({ argument: 'N' }),
  }),
  async run(tx, { queue, batches }, { boss }: ActionContext<'boss'>) {
    if (!(await isQueue(boss, queue))) return { problems: unknown }
    await setQueueConcurrency(tx, queue, batches ?? null)
    const words = batches === undefined ? 'as in the program' : `${batches} batches`
    return { done: batches === undefined ? 'usual' : 'set', audit: `${queue}: ${words}` }
  },
})

const job = z.uuid({ error: refusal('refused.job') })

/** Starts jobs now that wait for their next attempt or for an instant: one, or all of a queue. */
export const startNow = defineAction({
  name: 'queue now',
  summary: 'start jobs of a queue now that wait for their next attempt',
  audit: 'start jobs',
  role: 'operator',
  input: z.object({ queue: queueArgument, id: job.optional().meta({ value: 'ID' }) }),
  async run(tx, { queue, id }) {
    const count = await startJobsNow(tx, queue, id ?? null)
    return { done: 'started', count, audit: count > 0 ? `${queue}: ${count} jobs` : [] }
  },
})

/**
 * Cancels a job: it becomes a dead letter, so that it can be retried later, and its report counts
 * as failed. A handler that works on it at the moment still ends.
 */
export const cancelJob = defineAction({
  name: 'queue cancel',
  summary: 'cancel a job; it becomes a dead letter',
  audit: 'cancel job',
  role: 'operator',
  input: z.object({ queue: queueArgument, id: job.meta({ argument: 'ID' }) }),
  async run(tx, { queue, id }, { boss }: ActionContext<'boss'>) {
    if (!(await giveUpJob(tx, queue, id))) return { unchanged: 'nothing' }
    await boss.fail(queue, id, { message: 'Canceled by an operator.' }, { db: bossDb(tx) })
    return { done: 'canceled', audit: `${queue}: ${id}` }
  },
})

/** Adds a job to a scheduled queue, as its schedule does. */
export const runChore = defineAction({
  name: 'queue run',
  summary: 'run a scheduled queue now',
  audit: 'run chore',
  role: 'operator',
  input: z.object({ queue: queueArgument }),
  async run(tx, { queue }, { boss }: ActionContext<'boss'>) {
    if ((await boss.getSchedule(queue)) === null) {
      return { problems: [{ field: 'queue', message: refusal('refused.no-schedule') }] }
    }
    await send(boss, { name: queue }, [{}], tx)
    return { done: 'added', audit: queue }
  },
})
