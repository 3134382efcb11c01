import type { Db } from './pool.ts'
import type { JobKey } from './queue-health.ts'

/** A job that no retry could save. */
export type DeadLetter = {
  id: string
  /** The queue in which it failed. */
  source: string | null
  /** When the job was made, before all its attempts. */
  createdAt: Date
  /** When it was given up. */
  givenUpAt: Date
  /** The same to the microsecond: a batch is given up in one instant, and a Date would round it. */
  givenUpMicros: number
  attempts: number | null
  /** The last words of its last attempt. */
  reason: string | null
  reportId: string | null
}

/** Where a page of dead letters ends. */
export type DeadLetterKey = { givenUpMicros: number; id: string }

/**
 * A page of the dead letters that still wait, newest first. Read from pg-boss's table, because its
 * own `findJobs` gives all at once and in no order.
 */
export async function listDeadLetters(
  db: Db,
  queue: string,
  page: { before: DeadLetterKey | undefined; limit: number },
): Promise<DeadLetter[]> {
  const { rows } = await db.query<DeadLetter>(
    `select id, source_name as source, coalesce(source_created_on, created_on) as "createdAt",
       created_on as "givenUpAt",
       (extract(epoch from created_on) * 1000000)::bigint as "givenUpMicros",
       source_retry_count + 1 as attempts,
       coalesce(source_output ->> 'message', source_output -> 'value' ->> 'message',
         source_output::text) as reason,
       data ->> 'reportId' as "reportId"
     from pgboss.job
     where name = $1 and state < 'active' and not blocked
       and ($2::bigint is null or (created_on, id)
         < (timestamptz 'epoch' + $2::bigint * interval '1 microsecond', $3::uuid))
     order by created_on desc, id desc limit $4`,
    [queue, page.before?.givenUpMicros ?? null, page.before?.id ?? null, page.limit],
  )
  return rows
}

/** The ids that jobs of the queues name which are among the dead letters since an instant. */
export async function listDeadIds(
  db: Db,
  key: JobKey,
  queues: readonly string[],
  since: Date,
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select data ->> $3::text as id from pgboss.job
     where name = 'dead-letter' and state < 'active' and created_on >= $1
       and source_name = any($2::text[])`,
    [since, queues, key],
  )
  return rows.map(({ id }) => id)
}

/** Where a job keeps since when it is put off, by which it is given up at last. */
const patience = ['putOffSince', 'refusedSince', 'firstAskedAt']

/**
 * Has dead letters begin anew when they are put back to work: those of the ids, or all that there
 * were at an instant. Else what was given up for its age would be given up again at once.
 */
export async function renewPatience(
  tx: Db,
  which: { ids: readonly string[] } | { createdBefore: Date },
): Promise<void> {
  const isChosen = 'ids' in which
  await tx.query(
    `update pgboss.job set data = data - $3::text[]
     where name = 'dead-letter' and state < 'active' and data ?| $3::text[]
       and ($1::uuid[] is null or id = any($1::uuid[]))
       and ($2::timestamptz is null or created_on <= $2)`,
    [isChosen ? which.ids : null, isChosen ? null : which.createdBefore, patience],
  )
}
