import { z } from 'zod'
import { type ActionContext, defineAction } from '../actions.ts'
import { restartRetries } from '../db/dead-letters.ts'
import { bossDb } from './boss.ts'
import { deadLetterQueue } from './define-queue.ts'

const REDRIVEN_AT_ONCE = 1_000

/** A queue, by its name. */
const queueField = z
  .string()
  .regex(/^[a-z-]{1,60}$/, 'Give the name of a queue. "queue list" shows the queues.')

/**
 * Returns dead letters to their original queues: those with the given ids, those of one queue, or
 * all.
 */
export const retryDeadLetters = defineAction({
  name: 'queue retry',
  summary: 'return dead letters to their queues',
  audit: 'redrive',
  input: z.object({
    queue: queueField.optional().meta({ argument: 'QUEUE' }),
    id: z.array(z.uuid()).optional().meta({ value: 'ID,ID' }),
  }),
  messages: {
    moved: (count: number) =>
      count === 1
        ? '1 dead letter was returned to its queue.'
        : `${count} dead letters were returned to their queues.`,
  },
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

export const purgeQueue = defineAction({
  name: 'queue purge',
  summary: 'delete the waiting jobs of a queue',
  audit: 'purge',
  input: z.object({ queue: queueField.meta({ argument: 'QUEUE' }) }),
  messages: { purged: 'Deleted the waiting jobs.' },
  async run(_, { queue }, { boss }: ActionContext<'boss'>) {
    await boss.deleteQueuedJobs(queue)
    const audit = `Deleted the waiting jobs of ${queue}.`
    return { done: 'purged', audit, text: audit }
  },
})
