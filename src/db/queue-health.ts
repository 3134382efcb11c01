import type { Db } from './pool.ts'

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
