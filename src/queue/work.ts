import { hash } from 'node:crypto'
import type { Job } from 'pg-boss'
import { keepFirstDue } from '../db/jobs.ts'
import { isOutage, throughOutage } from '../db/follow.ts'
import { inTransaction, type Pool } from '../db/pool.ts'
import { forLog, PermanentError, reasonOf } from '../errors.ts'
import type { Logger } from '../log.ts'
import type { Clock } from '../world.ts'
import { type Boss, bossDb, secondsUntil } from './boss.ts'
import { idsIn, type Queue } from './define-queue.ts'
import { QueueWorker } from './worker.ts'

/** Time in milliseconds after which a job runs again that met an outage of the database. */
const OUTAGE_MS = 10_000

/**
 * The result of one job: done, to be retried, permanently failed, or postponed. A postponed job
 * runs again at an instant with another payload, like a new job; this uses none of its attempts.
 * After an outage of the database, or of one of its servers, a job runs again soon in the same way.
 * `ended`: the attempt continues, and certainly ends before the instant; with its outcome, the job
 * is done or runs again earlier.
 */
export type JobOutcome =
  | 'done'
  | { retry: string }
  | { outage: string }
  | { failed: string }
  | { postponedTo: Date; payload: object; ended?: Promise<JobOutcome> }

type Settled = Exclude<JobOutcome, { outage: string }>

/**
 * Processes a batch and returns one outcome for each payload, in order. An exception fails the
 * whole batch; its jobs are then processed one by one, so that only those at fault fail.
 */
export type Handler<Payload> = (payloads: readonly Payload[]) => Promise<readonly JobOutcome[]>

/** Starts a worker for a queue, which closes when its jobs in progress have ended. */
export async function workQueue<Payload extends object>(
  app: { boss: Boss; pool: Pool; clock: Clock; log: Logger },
  queue: Queue<Payload>,
  handle: Handler<Payload>,
): Promise<QueueWorker> {
  const worker = new QueueWorker(app, queue, async (jobs) => {
    const again = () => new Date(app.clock().getTime() + OUTAGE_MS)
    const given = await runBatch(queue, jobs, handle)
    const outcomes = given.map((outcome, index): Settled => {
      if (outcome === 'done' || !('outage' in outcome)) return outcome
      const { id: jobId = '', data: payload = {} } = jobs[index] ?? {}
      const facts = { queue: queue.name, jobId, ...idsIn(payload) }
      app.log.warn({ ...facts, reason: forLog(outcome.outage) }, 'A job waits for the database.')
      return { postponedTo: again(), payload }
    })
    const now = app.clock()
    const due = await postpone(app, queue, jobs, { outcomes, now })
    if (due.length > 0) worker.wakeAt(due, now)
    outcomes.forEach((outcome, index) => {
      const { id = '' } = jobs[index] ?? {}
      if (outcome === 'done' || !('ended' in outcome) || !outcome.ended) return
      giveBack(app, queue, { id: successorId(id), payload: outcome.payload }, outcome.ended)
    })
    return jobs.flatMap((job, index) => {
      const outcome = outcomes[index] ?? { retry: 'The handler returned no outcome.' }
      if (outcome === 'done') return { job, status: 'done' }
      if ('postponedTo' in outcome) return []
      const isFinal = 'failed' in outcome
      const reason = isFinal ? outcome.failed : outcome.retry
      const facts = { queue: queue.name, jobId: job.id, ...idsIn(job.data) }
      app.log.warn({ ...facts, reason: forLog(reason) }, 'A job failed.')
      return { job, status: isFinal ? 'failed' : 'retry', reason }
    })
  })
  return worker
}

/**
 * Completes postponed jobs and inserts their successors in one transaction, so that exactly one of
 * each exists at any time. A job that another worker has claimed meanwhile gets no successor. A
 * successor inherits the creation time, so that its age is counted from the first job. Returns when
 * the successors are due.
 */
async function postpone<Payload extends object>(
  { boss, pool }: { boss: Boss; pool: Pool },
  { name }: Queue<Payload>,
  jobs: readonly Job<object>[],
  { outcomes, now }: { outcomes: readonly Settled[]; now: Date },
): Promise<Date[]> {
  const those = jobs.flatMap((job, index) => {
    const outcome = outcomes[index]
    if (outcome === undefined || outcome === 'done' || !('postponedTo' in outcome)) return []
    const data = outcome.ended ? underWay(outcome.payload) : outcome.payload
    return [{ job, data, at: outcome.postponedTo }]
  })
  if (those.length === 0) return []
  await inTransaction(pool, async (tx) => {
    const db = bossDb(tx)
    const claims = those.map(({ job }) => job)
    const ended = new Set(settledOf(await boss.complete(name, claims, null, { db })))
    const successors = those
      .filter(({ job }) => ended.has(job.id))
      .map(({ job, data, at }) => {
        const next = { id: successorId(job.id), data, startAfter: secondsUntil(at, now) }
        return { formerId: job.id, next }
      })
    if (successors.length === 0) return
    const next = successors.map((one) => one.next)
    await boss.insert(name, next, { db, returnId: false })
    await keepFirstDue(
      tx,
      name,
      successors.map(({ formerId, next: { id } }) => ({ id, formerId })),
    )
  })
  return those.map(({ at }) => at)
}

/** Marks the payload of a job that must wait, because an attempt continues without it. */
export function underWay<Payload extends object>(payload: Payload): Payload {
  return { ...payload, isUnderWay: true }
}

type WaitingJob = { id: string; payload: object }

/**
 * Returns a job to its queue as soon as the attempt that continues without it has ended, or drops
 * it if that attempt has done its work.
 */
export function giveBack(
  { boss, clock, log }: { boss: Boss; clock: Clock; log: Logger },
  { name, attempts }: Pick<Queue, 'name' | 'attempts'>,
  { id, payload }: WaitingJob,
  ended: Promise<JobOutcome>,
): void {
  const settle = async (outcome: JobOutcome): Promise<void> => {
    if (outcome === 'done') return void (await boss.deleteJob(name, id))
    const isPostponed = 'postponedTo' in outcome
    const startAfter = isPostponed
      ? secondsUntil(outcome.postponedTo, clock())
      : attempts.retryDelay
    const isChanged = isPostponed && Object.keys(outcome.payload).length > 0
    await boss.update(name, isChanged ? outcome.payload : payload, { id, startAfter })
  }
  const left = ended
    .then((outcome) => throughOutage(() => settle(outcome)))
    .catch((error: unknown) => {
      const facts = { queue: name, jobId: id, ...idsIn(payload), reason: reasonOf(error) }
      log.warn(facts, 'A job waits longer than needed.')
    })
  boss.givingBack.add(left)
  void left.then(() => boss.givingBack.delete(left))
}

/** Returns the id of a job's successor, which is the same for each call. */
function successorId(formerId: string): string {
  return hash('md5', formerId)
}

/** Returns the ids that were completed; pg-boss returns them, but its types do not declare it. */
function settledOf(response: object): readonly string[] {
  return 'settled' in response && Array.isArray(response.settled) ? response.settled : []
}

async function runBatch<Payload extends object>(
  queue: Queue<Payload>,
  jobs: readonly Job<object>[],
  handle: Handler<Payload>,
): Promise<JobOutcome[]> {
  const outcomes = new Array<JobOutcome>(jobs.length).fill('done')
  const sound: { index: number; payload: Payload }[] = []
  jobs.forEach(({ data }, index) => {
    const parsed = queue.payload.safeParse(data)
    if (parsed.success) sound.push({ index, payload: parsed.data })
    else outcomes[index] = { failed: `The job's data are malformed: ${parsed.error.message}` }
  })
  const results = await attempt(
    sound.map(({ payload }) => payload),
    handle,
  )
  sound.forEach(({ index }, position) => {
    outcomes[index] = results[position] ?? { retry: 'The handler returned no outcome.' }
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
    if (payloads.length === 1) return [failureOf(error)]
    const outcomes: JobOutcome[] = []
    for (const payload of payloads) outcomes.push(...(await attempt([payload], handle)))
    return outcomes
  }
}

export function failureOf(error: unknown): JobOutcome {
  const reason = reasonOf(error)
  if (error instanceof PermanentError) return { failed: reason }
  return isOutage(error) ? { outage: reason } : { retry: reason }
}
