import { z } from 'zod'

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
 * Defines a queue; by default, it handles one job at a time, and its jobs have no data. Definitions
 * are in `queues.ts` of each subject, apart from their handlers, so that senders load nothing else.
 */
export function defineQueue<Payload extends object = Record<string, never>>(
  queue: Pick<Queue<Payload>, 'name' | 'attempts'> & Partial<Queue<Payload>>,
): Queue<Payload> {
  return { payload: noData as z.ZodType<Payload>, batchSize: 1, concurrency: 1, ...queue }
}

const noData: z.ZodType<object> = z.object({})

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
