import sql from 'sql-template-tag'
import type { Db } from './pool.ts'
import { changesAny, excluded, named, rowsOf } from './rows.ts'

/** The name that stands for all queues. */
export const allQueues = '*'

/** What operators set about a queue, or about all (`*`). */
export type QueueControl = {
  queue: string
  /** Null: not paused. */
  pausedAt: Date | null
  /** Null for the command line. */
  pausedBy: string | null
  reason: string | null
  /** Batches that a process handles at the same time; null: as in the program. */
  concurrency: number | null
}

export async function listQueueControls(db: Db): Promise<QueueControl[]> {
  const { rows } = await db.query<QueueControl>(named('list-queue-controls')`
    select queue, paused_at as "pausedAt", paused_by as "pausedBy", reason, concurrency
    from queue_controls order by queue`)
  return rows
}

/** Pauses a queue; false when it is paused already. */
export function pauseQueue(
  tx: Db,
  { queue, at, by, reason }: { queue: string; at: Date; by: string | null; reason: string },
): Promise<boolean> {
  return changesAny(tx)`
    insert into queue_controls (queue, paused_at, paused_by, reason)
    values (${queue}, ${at}, ${by}, ${reason})
    on conflict (queue) do update set ${excluded`paused_at, paused_by, reason`}
      where queue_controls.paused_at is null`
}

/** Resumes a queue, or ends every pause; false when nothing was paused. */
export function resumeQueue(tx: Db, queue: string): Promise<boolean> {
  return changesAny(tx)`
    update queue_controls set paused_at = null, paused_by = null, reason = null
    where (queue = ${queue} or ${queue} = ${allQueues}) and paused_at is not null`
}

/** Sets how many batches of a queue a process handles at the same time; null: as in the program. */
export async function setQueueConcurrency(
  tx: Db,
  queue: string,
  concurrency: number | null,
): Promise<void> {
  await tx.query(sql`
    insert into queue_controls (queue, concurrency) values (${queue}, ${concurrency})
    on conflict (queue) do update set concurrency = excluded.concurrency`)
}

/** The last run of a scheduled queue. */
export type ChoreRun = { queue: string; startedAt: Date; endedAt: Date; fault: string | null }

export async function keepChoreRun(db: Db, run: ChoreRun): Promise<void> {
  await db.query(sql`
    insert into chore_runs (queue, started_at, ended_at, fault)
    values (${run.queue}, ${run.startedAt}, ${run.endedAt}, ${run.fault})
    on conflict (queue) do update set ${excluded`started_at, ended_at, fault`}`)
}

export function listChoreRuns(db: Db): Promise<ChoreRun[]> {
  return rowsOf(db)`
    select queue, started_at as "startedAt", ended_at as "endedAt", fault from chore_runs`
}

/** `later`: waits for an instant. `ended`: kept for an hour at most. */
export const jobStates = ['ready', 'later', 'active', 'ended'] as const

export type JobState = (typeof jobStates)[number]

export type ListedJob = {
  id: string
  state: JobState
  /** The ids of what the job is about, by name. */
  data: Readonly<Record<string, unknown>>
  attempts: number
  createdAt: Date
  /** When it may start or started. */
  at: Date
  /** `at` in microseconds, because a Date rounds to milliseconds. */
  atMicros: number
  /** The error of its last attempt. */
  reason: string | null
}

const conditions = {
  ready: sql`state < 'active' and not blocked and start_after <= pgboss.job_now()`,
  later: sql`state < 'active' and not blocked and start_after > pgboss.job_now()`,
  active: sql`state = 'active'`,
  ended: sql`state > 'active'`,
} as const satisfies Record<JobState, unknown>

/** Returns a page of the jobs of a queue in a state, in the order of their times. */
export function listJobs(
  db: Db,
  { queue, state }: { queue: string; state: JobState },
  page: { after: { atMicros: number; id: string } | undefined; limit: number },
): Promise<ListedJob[]> {
  const at = sql`case when state < 'active' then start_after else started_on end`
  return rowsOf(db)`
    select id, ${state}::text as state, coalesce(data, '{}'::jsonb) as data,
      retry_count + (state >= 'active')::int as attempts, created_on as "createdAt", at,
      (extract(epoch from at) * 1000000)::bigint as "atMicros",
      coalesce(output ->> 'message', output -> 'value' ->> 'message') as reason
    from (select id, state, data, retry_count, created_on, output,
        coalesce(${at}, created_on) as at
      from pgboss.job where name = ${queue} and ${conditions[state]}) as job
    where ${page.after?.atMicros}::bigint is null or (at, id)
      > (timestamptz 'epoch' + ${page.after?.atMicros}::bigint * interval '1 microsecond',
        ${page.after?.id}::uuid)
    order by at, id limit ${page.limit}`
}

/** Makes jobs of a queue that wait for an instant due now: one, or all. Returns their number. */
export async function startJobsNow(tx: Db, queue: string, id: string | null): Promise<number> {
  const { rowCount } = await tx.query(sql`
    update pgboss.job set start_after = pgboss.job_now()
    where name = ${queue} and ${conditions.later} and (${id}::uuid is null or id = ${id}::uuid)`)
  return rowCount ?? 0
}

/** Makes the next failure of an unfinished job final; false if no such job has this id. */
export function giveUpJob(tx: Db, queue: string, id: string): Promise<boolean> {
  return changesAny(tx)`
    update pgboss.job set retry_limit = retry_count
    where name = ${queue} and id = ${id} and state <= 'active'`
}
