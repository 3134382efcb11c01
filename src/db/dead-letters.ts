import type { Db } from './pool.ts'

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

/** What waits in a queue. */
export type QueueBacklog = {
  name: string
  /** Jobs a worker could take now. */
  ready: number
  /** Jobs that wait for their next attempt. */
  deferred: number
  /** Age of the oldest job that waits, since it was first due, in seconds; 0 when none does. */
  oldestJobSeconds: number
  /** How long the first job in line has been waiting for a worker; 0 when none is ready. */
  longestWaitSeconds: number
}

/**
 * The backlog of each queue, counted now: pg-boss counts only when a worker passes by, so that its
 * figures stand still when the workers are gone, which is when somebody looks. Read from pg-boss's
 * own fetch index alone.
 */
export async function listBacklogs(
  db: Db,
  names: readonly string[],
  now: Date,
): Promise<QueueBacklog[]> {
  const { rows } = await db.query<QueueBacklog>(
    `select name,
       count(*) filter (where start_after <= $2::timestamptz)::int as ready,
       count(*) filter (where start_after > $2::timestamptz)::int as deferred,
       greatest(0, extract(epoch from $2::timestamptz - min(created_on)))::float8
         as "oldestJobSeconds",
       greatest(0, extract(epoch from $2::timestamptz
         - min(start_after) filter (where start_after <= $2::timestamptz)))::float8
         as "longestWaitSeconds"
     from pgboss.job
     where name = any($1::text[]) and state < 'active' and not blocked
     group by name`,
    [names, now],
  )
  const found = new Map(rows.map((row) => [row.name, row]))
  return names.map((name) => found.get(name) ?? { name, ...empty })
}

/** Makes jobs as old as those that they succeed, so that a postponed job does not look new. */
export async function keepFirstDue(
  tx: Db,
  name: string,
  successors: readonly { id: string; formerId: string }[],
): Promise<void> {
  await tx.query(
    `update pgboss.job as next set created_on = former.created_on
     from unnest($2::uuid[], $3::uuid[]) as pair (id, former_id)
     join pgboss.job as former on former.name = $1 and former.id = pair.former_id
     where next.name = $1 and next.id = pair.id`,
    [name, successors.map(({ id }) => id), successors.map(({ formerId }) => formerId)],
  )
}

/** By what a job names the thing it is about. */
export type JobKey = 'reportId' | 'letterId' | 'mailId' | 'erasureId'

/**
 * Those ids that an unfinished job of a queue names: in line, put off, or in hand. Reads all
 * unfinished jobs of the queue.
 */
export async function listIdsWithJobs(
  db: Db,
  name: string,
  key: JobKey,
  ids: readonly string[],
): Promise<Set<string>> {
  const { rows } = await db.query<{ id: string }>(
    `select distinct data ->> $3::text as id from pgboss.job
     where name = $1 and state <= 'active' and data ->> $3::text = any($2::text[])`,
    [name, ids, key],
  )
  return new Set(rows.map(({ id }) => id))
}

/** Tells the planner what the queues hold; pg-boss itself never does. */
export async function gatherQueueStatistics(db: Db): Promise<void> {
  await db.query('analyze pgboss.job_common')
}

const empty = { ready: 0, deferred: 0, oldestJobSeconds: 0, longestWaitSeconds: 0 }

/** Bytes on disk of tables with all their partitions, indexes and long values, by their names. */
export async function measureTables(
  db: Db,
  tables: readonly string[],
): Promise<{ table: string; bytes: number }[]> {
  const { rows } = await db.query<{ table: string; bytes: number }>(
    `select name as table, table_bytes(name) as bytes from unnest($1::text[]) as name`,
    [tables],
  )
  return rows
}
