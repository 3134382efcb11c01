import sql from 'sql-template-tag'
import type { JobKey } from './jobs.ts'
import type { Db } from './pool.ts'
import { rowsOf, valuesOf } from './rows.ts'

/** A job that ran out of retries. */
export type DeadLetter = {
  id: string
  /** The queue in which the job failed. */
  source: string | null
  /** When the job was created, before its first attempt. */
  createdAt: Date
  /** When the job ran out of retries. */
  givenUpAt: Date
  /**
   * `givenUpAt` in microseconds: a batch fails at one instant, and a Date rounds to milliseconds.
   */
  givenUpMicros: number
  attempts: number | null
  /** The error of its last attempt. */
  reason: string | null
  reportId: string | null
}

export type DeadLetterKey = { givenUpMicros: number; id: string }

/**
 * Returns a page of the dead letters that are not handled yet, newest first. Reads the table of
 * pg-boss, because its `findJobs` returns all jobs in one unordered list.
 */
export function listDeadLetters(
  db: Db,
  queue: string,
  page: { before: DeadLetterKey | undefined; limit: number },
): Promise<DeadLetter[]> {
  return rowsOf(db)`
    select id, source_name as source, coalesce(source_created_on, created_on) as "createdAt",
      created_on as "givenUpAt",
      (extract(epoch from created_on) * 1000000)::bigint as "givenUpMicros",
      source_retry_count + 1 as attempts,
      coalesce(source_output ->> 'message', source_output -> 'value' ->> 'message',
        source_output::text) as reason,
      data ->> 'reportId' as "reportId"
    from pgboss.job
    where name = ${queue} and state < 'active' and not blocked
      and (${page.before?.givenUpMicros}::bigint is null or (created_on, id)
        < (timestamptz 'epoch' + ${page.before?.givenUpMicros}::bigint * interval '1 microsecond',
          ${page.before?.id}::uuid))
    order by created_on desc, id desc limit ${page.limit}`
}

/**
 * Returns the ids (the data field `key`) of jobs of these queues that became dead letters since an
 * instant.
 */
export function listDeadIds(
  db: Db,
  key: JobKey,
  queues: readonly string[],
  since: Date,
): Promise<string[]> {
  return valuesOf(db)`
    select data ->> ${key}::text as id from pgboss.job
    where name = 'dead-letter' and state < 'active' and created_on >= ${since}
      and source_name = any(${queues}::text[])`
}

/**
 * Deletes the dead letters of scheduled queues that a later run has made superfluous, such as that
 * of a job whose process was killed: each run does all the work that there is.
 */
export async function deleteOvertaken(db: Db): Promise<void> {
  await db.query(sql`
    delete from pgboss.job using chore_runs as run
    where job.name = 'dead-letter' and job.state < 'active' and job.source_name = run.queue
      and run.fault is null and run.started_at > job.source_created_on`)
}

/**
 * The data fields that contain the time since which a job has been postponed. A job that has been
 * postponed for too long is given up.
 */
const patience = ['postponedSince', 'refusedSince', 'firstAskedAt']

/**
 * Resets the age of dead letters that are retried: those with these ids, or all that existed at an
 * instant. Otherwise a job that was given up for its age would immediately be given up again.
 */
export async function restartRetries(
  tx: Db,
  which: { ids: readonly string[] } | { createdBefore: Date },
): Promise<void> {
  const ids = 'ids' in which ? which.ids : null
  const createdBefore = 'ids' in which ? null : which.createdBefore
  await tx.query(sql`
    update pgboss.job set data = data - ${patience}::text[]
    where name = 'dead-letter' and state < 'active' and data ?| ${patience}::text[]
      and (${ids}::uuid[] is null or id = any(${ids}::uuid[]))
      and (${createdBefore}::timestamptz is null or created_on <= ${createdBefore}::timestamptz)`)
}
