import sql from 'sql-template-tag'
import type { Db } from './pool.ts'
import { prepared } from './prepared.ts'
import { named, rowOf, rowsOf, valuesOf } from './rows.ts'

export type QueueBacklog = {
  name: string
  /** Jobs a worker could take now. */
  ready: number
  /** Jobs scheduled for a later attempt. */
  deferred: number
  /** Age in seconds of the oldest waiting job, counted from its creation; 0 when no job waits. */
  oldestJobSeconds: number
  /** Time in seconds for which the longest-waiting ready job has waited; 0 when no job is ready. */
  longestWaitSeconds: number
}

/** Sends a notification to the workers of all processes, on the channel of pg-boss. */
export async function notifyWorkers(db: Db, payload: string): Promise<void> {
  await db.query(named('notify-workers')`
    select pg_notify('pgboss_' || left(encode(sha224('pgboss'), 'hex'), 24), ${payload})`)
}

/** Returns the names of the queues, without the one that pg-boss keeps for scheduled jobs. */
export function listQueueNames(db: Db): Promise<string[]> {
  return valuesOf(db)`
    select name from pgboss.queue where not starts_with(name, '__pgboss')`
}

/**
 * Returns the current backlog of each queue. pg-boss updates its own figures only while workers
 * run, so they are out of date exactly when the workers have stopped. Reads only the fetch index of
 * pg-boss.
 */
export async function listBacklogs(
  db: Db,
  names: readonly string[],
  now: Date,
): Promise<QueueBacklog[]> {
  const { rows } = await db.query<QueueBacklog>(sql`select name,
      count(*) filter (where start_after <= ${now}::timestamptz)::int as ready,
      count(*) filter (where start_after > ${now}::timestamptz)::int as deferred,
      greatest(0, extract(epoch from ${now}::timestamptz - min(created_on)))::float8
        as "oldestJobSeconds",
      greatest(0, extract(epoch from ${now}::timestamptz
        - min(start_after) filter (where start_after <= ${now}::timestamptz)))::float8
        as "longestWaitSeconds"
    from pgboss.job
    where name = any(${names}::text[]) and state < 'active' and not blocked
    group by name`)
  const found = new Map(rows.map((row) => [row.name, row]))
  return names.map((name) => found.get(name) ?? { name, ...empty })
}

/**
 * Puts the waiting jobs of a queue behind those that are added later, and returns how many jobs
 * this changed. Among the waiting jobs the order by creation time stays, also if some were put back
 * before. Jobs that another transaction holds are skipped, because it is about to start or to
 * delete them; so this never waits for a worker and cannot deadlock with one.
 */
export async function demoteWaitingJobs(tx: Db, name: string): Promise<number> {
  const { rowCount } = await tx.query(sql`
    with waiting as (
      select id from pgboss.job as pgboss_job
      where name = ${name} and state < 'active' and not blocked and priority > ${DEMOTED}::int
      for update of pgboss_job skip locked)
    update pgboss.job set priority = ${DEMOTED}::int
    from waiting where job.name = ${name} and job.id = waiting.id`)
  return rowCount ?? 0
}

/** The priority of jobs behind the others, which have 0. Workers fetch the highest first. */
const DEMOTED = -1

/**
 * Copies the creation time and the priority of jobs to their successors, so that a postponed job
 * does not look new.
 */
export async function keepFirstDue(
  tx: Db,
  name: string,
  successors: readonly { id: string; formerId: string }[],
): Promise<void> {
  await tx.query(sql`update pgboss.job as next
    set created_on = former.created_on, priority = former.priority
    from unnest(${successors.map(({ id }) => id)}::uuid[],
      ${successors.map(({ formerId }) => formerId)}::uuid[]) as pair (id, former_id)
    join pgboss.job as former on former.name = ${name} and former.id = pair.former_id
    where next.name = ${name} and next.id = pair.id`)
}

/** Postpones jobs that no worker has taken. */
export async function postponeJobs(
  db: Db,
  name: string,
  ids: readonly string[],
  until: Date,
): Promise<void> {
  await db.query(sql`
    update pgboss.job set start_after = ${until}
    where name = ${name} and id = any(${ids}::uuid[]) and state = 'created'`)
}

/**
 * The condition of jobs that wait although no attempt of them may be running. A job in reserve
 * waits for its first minute while the process that created it does its work.
 */
const isIdle = sql`state < 'active' and start_after > pgboss.job_now()
  and not data ? 'isUnderWay'
  and (state = 'retry' or start_after > created_on + interval '65 seconds'
    or data ?| array['postponedSince', 'refusedSince'])`

/**
 * Makes postponed jobs due in two seconds, and returns their number. Jobs whose attempt may still
 * be running keep waiting for its end. With `failedSince`, retries wait on unless they failed since
 * then, so that those with other causes do not use up their attempts. With `reportIds`, only jobs
 * about these reports.
 */
export async function startPostponedJobs(
  tx: Db,
  names: readonly string[],
  { failedSince, reportIds }: { failedSince?: Date; reportIds?: readonly string[] } = {},
): Promise<number> {
  const { rowCount } = await tx.query(sql`
    update pgboss.job set start_after = pgboss.job_now() + interval '2 seconds'
    where name = any(${names}::text[]) and ${isIdle}
      and (${failedSince}::timestamptz is null or state = 'created'
        or started_on >= ${failedSince}::timestamptz)
      and (${reportIds}::text[] is null or data ->> 'reportId' = any(${reportIds}::text[]))`)
  return rowCount ?? 0
}

/**
 * Makes one of the postponed jobs due, which depends on the random `seed`, so that none that keeps
 * failing is tried each time.
 * Returns whether there was one; `none` if there are no unfinished jobs at all.
 */
export async function startOneJob(
  tx: Db,
  names: readonly string[],
  seed: string,
): Promise<'started' | 'busy' | 'none'> {
  const { rowCount } = await tx.query(sql`
    with next as (
      select name, id from pgboss.job as pgboss_job
      where name = any(${names}::text[]) and ${isIdle}
      order by md5(id::text || ${seed}::text) limit 1 for update of pgboss_job skip locked)
    update pgboss.job set start_after = pgboss.job_now() from next
    where job.name = next.name and job.id = next.id`)
  if ((rowCount ?? 0) > 0) return 'started'
  const { rows } = await tx.query(sql`
    select from pgboss.job where name = any(${names}::text[]) and state <= 'active' limit 1`)
  return rows.length > 0 ? 'busy' : 'none'
}

/** Returns when the latest job of a queue started and ended; `endedAt` is null while it runs. */
export function findLastRun(
  db: Db,
  name: string,
): Promise<{ startedAt: Date; endedAt: Date | null } | undefined> {
  return rowOf(db)`
    select started_on as "startedAt", completed_on as "endedAt" from pgboss.job
    where name = ${name} and started_on is not null order by started_on desc limit 1`
}

/** Returns which queues have a job that a worker could take now. */
export async function listDueQueues(db: Db, names: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(named('list-due-queues')`
    select name from unnest(${names}::text[]) as asked (name) where exists (
      select from pgboss.job
      where job.name = asked.name and state < 'active' and not blocked
        and start_after <= pgboss.job_now())`)
  return rows.map(({ name }) => name)
}

/**
 * Has the statements of a transaction on the job table use its indexes, and its commit not wait for
 * the disk. The plan of a prepared statement is kept: one made while the table was empty would read
 * the whole table when it is full.
 */
export async function readByIndex(tx: Db): Promise<void> {
  await tx.query(prepared`
    select set_config('enable_seqscan', 'off', true),
      set_config('synchronous_commit', 'off', true)`)
}

/** Makes a failure of the present attempt of active jobs final. */
export async function endRetries(
  tx: Db,
  name: string,
  jobs: readonly { id: string; retryCount: number }[],
): Promise<void> {
  await tx.query(sql`
    update pgboss.job set retry_limit = retry_count
    where name = ${name} and id = any(${jobs.map(({ id }) => id)}::uuid[]) and state = 'active'`)
}

/** The data fields that contain the id of a job's subject. */
export type JobKey = 'reportId' | 'letterId' | 'mailId' | 'erasureId'

/**
 * Returns which of the given ids an unfinished job of a queue contains: a queued, postponed or
 * active one. Reads all unfinished jobs of the queue.
 */
export async function listIdsWithJobs(
  db: Db,
  name: string,
  key: JobKey,
  ids: readonly string[],
): Promise<Set<string>> {
  const found = await valuesOf(db)`
    select distinct data ->> ${key}::text from pgboss.job
    where name = ${name} and state <= 'active' and data ->> ${key}::text = any(${ids}::text[])`
  return new Set(found)
}

/** Updates the planner statistics of the job table; pg-boss itself never does. */
export async function gatherQueueStatistics(db: Db): Promise<void> {
  await db.query('analyze pgboss.job_common')
}

const empty = { ready: 0, deferred: 0, oldestJobSeconds: 0, longestWaitSeconds: 0 }

/** When the jobs with some ids in their data start, with the error of their last attempt. */
export type NextTry = { id: string; at: Date; reason: string | null }

/** Returns the next attempts of the jobs of a queue whose data field `key` is one of `ids`. */
export function listNextTries(
  db: Db,
  queue: string,
  key: JobKey,
  ids: readonly string[],
): Promise<NextTry[]> {
  return rowsOf(db)`
    select data ->> ${key}::text as id, min(start_after) as at,
      max(coalesce(output ->> 'message', output -> 'value' ->> 'message')) as reason
    from pgboss.job
    where name = ${queue} and state < 'active' and data ->> ${key}::text = any(${ids}::text[])
    group by 1`
}
