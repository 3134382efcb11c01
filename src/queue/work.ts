import type { Job, JobResult } from 'pg-boss'
import { PermanentError, reasonOf } from '../errors.ts'
import type { Logger } from '../log.ts'
import type { Boss } from './boss.ts'
import type { QueueDefinition } from './queues.ts'

/** How one job ended: done, to be tried again later, or beyond saving. */
export type JobOutcome = 'done' | { retry: string } | { hopeless: string }

/**
 * Works a batch: one outcome for each payload, in order. What it throws is the whole batch's fault;
 * the jobs are then tried one by one, so that each pays for itself.
 */
export type Handler<Payload> = (payloads: readonly Payload[]) => Promise<readonly JobOutcome[]>

/** How a queue is worked. */
export type WorkSettings = { batchSize: number; concurrency: number }

/** While NOTIFY works this only finds retries that have come due. */
const NOTIFY_POLL_SECONDS = 5

/**
 * Starts taking jobs of a queue: told of new ones at once, and taking on while batches are full.
 */
export async function work<Payload extends object>(
  app: { boss: Boss; log: Logger },
  queue: QueueDefinition<Payload>,
  settings: WorkSettings,
  handle: Handler<Payload>,
): Promise<void> {
  await app.boss.work<object>(
    queue.name,
    {
      batchSize: settings.batchSize,
      localConcurrency: settings.concurrency,
      burstWhenBatchFull: true,
      notifyPollingIntervalSeconds: NOTIFY_POLL_SECONDS,
      perJobResults: true as const,
    },
    async (jobs: Job<object>[]) => {
      const outcomes = await runBatch(queue, jobs, handle)
      return outcomes.map((outcome, index) => {
        const id = jobs[index]?.id ?? ''
        if (outcome !== 'done') {
          const reason = 'retry' in outcome ? outcome.retry : outcome.hopeless
          app.log.warn({ queue: queue.name, jobId: id, reason }, 'A job failed.')
        }
        return settle(id, outcome)
      })
    },
  )
}

async function runBatch<Payload extends object>(
  queue: QueueDefinition<Payload>,
  jobs: readonly Job<object>[],
  handle: Handler<Payload>,
): Promise<JobOutcome[]> {
  const outcomes = new Array<JobOutcome>(jobs.length).fill('done')
  const sound: { index: number; payload: Payload }[] = []
  jobs.forEach(({ data }, index) => {
    const parsed = queue.payload.safeParse(data)
    if (parsed.success) sound.push({ index, payload: parsed.data })
    else outcomes[index] = { hopeless: `The job's data are malformed: ${parsed.error.message}` }
  })
  const results = await attempt(
    sound.map(({ payload }) => payload),
    handle,
  )
  sound.forEach(({ index }, position) => {
    outcomes[index] = results[position] ?? { retry: 'The handler gave no outcome.' }
  })
  return outcomes
}

async function attempt<Payload>(
  payloads: readonly Payload[],
  handle: Handler<Payload>,
): Promise<readonly JobOutcome[]> {
  if (payloads.length === 0) return []
  try {
    return await handle(payloads)
  } catch (error) {
    if (payloads.length === 1) return [outcomeOf(error)]
    const outcomes: JobOutcome[] = []
    for (const payload of payloads) outcomes.push(...(await attempt([payload], handle)))
    return outcomes
  }
}

function outcomeOf(error: unknown): JobOutcome {
  const reason = reasonOf(error)
  return error instanceof PermanentError ? { hopeless: reason } : { retry: reason }
}

function settle(id: string, outcome: JobOutcome): JobResult {
  if (outcome === 'done') return { id, status: 'completed' }
  if ('hopeless' in outcome) {
    return { id, status: 'deadletter', output: { message: outcome.hopeless } }
  }
  return { id, status: 'failed', output: { message: outcome.retry } }
}

/** Runs a chore at the times of a cron expression (UTC), once whatever the number of processes. */
export async function schedule(
  boss: Boss,
  queue: QueueDefinition<Record<string, never>>,
  cron: string,
): Promise<void> {
  await boss.schedule(queue.name, cron, {}, { tz: 'UTC' })
}
