import { z } from 'zod'
import { type ActionContext, defineAction } from '../actions.ts'
import { restartRetries } from '../db/dead-letters.ts'
import { demoteWaitingJobs } from '../db/jobs.ts'
import { refusal } from '../phrase.ts'
import { bossDb } from './boss.ts'
import { deadLetterQueue } from './define-queue.ts'

const REDRIVEN_AT_ONCE = 1_000

/** A queue, by its name; `*` for all, where an action permits it. */
export const queueField = z.string().regex(/^(?:[a-z-]{1,60}|\*)$/, refusal('refused.queue'))

/**
 * Returns dead letters to their original queues: those with the given ids, those of one queue, or
 * all.
 */
export const retryDeadLetters = defineAction({
  name: 'queue retry',
  summary: 'return dead letters to their queues',
  audit: 'redrive',
  role: 'operator',
  input: z.object({
    queue: queueField.optional().meta({ argument: 'QUEUE' }),
    id: z.array(z.uuid()).optional().meta({ value: 'ID,ID' }),
  }),
  async run(tx, { queue, id: ids }, { boss, at }: ActionContext<'boss'>) {
    if (ids?.length === 0) return { done: 'moved', count: 0 }
    const source = queue === undefined ? {} : { sourceName: queue }
    const filter = ids ? { ids } : { ...source, createdBefore: at }
    await restartRetries(tx, filter)
    let moved = 0
    for (;;) {
      const limit = REDRIVEN_AT_ONCE
      const step = await boss.redrive(deadLetterQueue, { ...filter, limit, db: bossDb(tx) })
      moved += step
      if (step < REDRIVEN_AT_ONCE) break
    }
    if (moved === 0) return { done: 'moved', count: 0 }
    const which = ids ? 'chosen' : queue === undefined ? 'all' : `of ${queue}`
    const audit = `${moved} dead letters were returned to their queues (${which}).`
    return { done: 'moved', count: moved, audit }
  },
})

/**
 * Lets the jobs that are added from now on overtake those that wait in a queue, so that new reports
 * are handled at once while workers catch up after an outage. There is no mode to end: the order is
 * as before as soon as the waiting jobs are done.
 */
export const demoteWaiting = defineAction({
  name: 'queue demote',
  summary: 'process new jobs of a queue before those that wait now',
  audit: 'demote',
  role: 'operator',
  input: z.object({ queue: queueField.meta({ argument: 'QUEUE' }) }),
  async run(tx, { queue }) {
    const count = await demoteWaitingJobs(tx, queue)
    if (count === 0) return { unchanged: 'none' }
    const jobs = count === 1 ? '1 waiting job' : `${count} waiting jobs`
    const audit = `New jobs of ${queue} are processed before ${jobs}.`
    return { done: 'demoted', count, audit }
  },
})

export const purgeQueue = defineAction({
  name: 'queue purge',
  summary: 'delete the waiting jobs of a queue',
  audit: 'purge',
  role: 'operator',
  asksPassword: true,
  input: z.object({ queue: queueField.meta({ argument: 'QUEUE' }) }),
  async run(_, { queue }, { boss }: ActionContext<'boss'>) {
    await boss.deleteQueuedJobs(queue)
    const audit = `Deleted the waiting jobs of ${queue}.`
    return { done: 'purged', audit, text: audit }
  },
})
