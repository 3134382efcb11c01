import type { z } from 'zod'

export type Queue<Payload extends object = object> = {
  name: string
  /** The schema of the job data: ids, never content. */
  payload: z.ZodType<Payload>
  /** The attempts at one job, with the names of pg-boss. Times are in seconds. */
  attempts: {
    /** Attempts after the first. */
    retryLimit: number
    /** Time before the second attempt; doubled, with random variation, for each further one. */
    retryDelay: number
    retryDelayMax: number
    /** Maximum duration of one attempt. */
    expireInSeconds: number
  }
  /** Maximum number of jobs in one call of the handler. */
  batchSize: number
  /** Number of batches that a process handles at the same time. */
  concurrency: number
  /**
   * Maximum time in milliseconds for which jobs that come in a stream wait for others, so that one
   * batch takes all. A single job does not wait, nor does a full batch, nor a job that somebody
   * waits for (`hurry`). Absent: no job waits.
   */
  gatherMs?: number
  /** When to create a job, as a cron expression in UTC. */
  cron?: string
}

/**
 * Defines a queue that handles one job at a time by default. Definitions are in `queues.ts` of
 * each subject, apart from their handlers, so that senders load nothing else.
 */
export function defineQueue<Payload extends object>(
  queue: Omit<Queue<Payload>, 'batchSize' | 'concurrency'> &
    Partial<Pick<Queue<Payload>, 'batchSize' | 'concurrency'>>,
): Queue<Payload> {
  return { batchSize: 1, concurrency: 1, ...queue }
}

/** The queue that receives the jobs that ran out of retries, each with the reason. */
export const deadLetterQueue = 'dead-letter'

/** The queue that imports the tables of networks again. Health shows how its last run ended. */
export const refreshNetworksName = 'refresh-networks'

/** The queue that adds the sample data of a trial. Health does not count its reports as late. */
export const fillSamplesName = 'fill-samples'

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** The fields of a payload that say what its job is about, for the log. */
export function idsIn(payload: object): Record<string, string | number> {
  const fields: [string, unknown][] = Object.entries(payload)
  const isId = ([name, value]: [string, unknown]): boolean =>
    typeof value === 'string' ? ID.test(value) : name === 'number' && typeof value === 'number'
  return Object.fromEntries(fields.filter(isId)) as Record<string, string | number>
}
