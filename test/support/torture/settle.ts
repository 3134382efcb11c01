import { listShardBacklogs } from '../../../src/db/counter-rows.ts'
import type { Pool } from '../../../src/db/pool.ts'
import { until } from '../process.ts'
import type { Ledger } from './reporters.ts'

const PATIENCE_MS = 120_000

/** The queues whose jobs count, retract and send. */
const worked = ['analyze-report', 'redeem-report', 'forward-report']

/**
 * Makes current jobs look as if their workers had been silent for long. Jobs of dead workers are
 * then found without waiting, and jobs of living workers are processed twice concurrently.
 */
export async function silenceWorkers(pool: Pool): Promise<void> {
  await pool.query(
    `update pgboss.job set heartbeat_on = heartbeat_on - interval '1 minute'
     where state = 'active' and name = any($1::text[])`,
    [worked],
  )
}

type OpenJob = { name: string; data: { reportId: string; number?: number } }

/** Returns the jobs that are not done, created before an instant if one is given. */
async function listOpenJobs(pool: Pool, before?: Date): Promise<OpenJob[]> {
  const { rows } = await pool.query<OpenJob>(
    `select name, state, data, retry_count, start_after, started_on, heartbeat_on, output
     from pgboss.job
     where name = any($1::text[]) and state in ('created', 'retry', 'active')
       and created_on < coalesce($2::timestamptz, 'infinity')`,
    [worked, before],
  )
  return rows
}

/**
 * Returns the open jobs that keep something waiting. The job of a mail that takes long to send is
 * repeated much later, and finds that the mail was sent.
 */
export async function listWaitingJobs(pool: Pool, before: Date): Promise<OpenJob[]> {
  const open = await listOpenJobs(pool, before)
  const { rows } = await pool.query<{ name: string }>(
    `select report_id || ' ' || number as name from feedback_reports
     where state <> 'queued' and report_id = any($1::uuid[])`,
    [open.map(({ data }) => data.reportId)],
  )
  const ended = new Set(rows.map(({ name }) => name))
  return open.filter(({ data }) => !ended.has(`${data.reportId} ${data.number}`))
}

/**
 * Waits until the reports that were accepted without the database are stored, and gives each the id
 * of its row: another report of the same message may have been stored before without an answer.
 */
export async function untilStored(pool: Pool, ledger: Ledger): Promise<void> {
  const ids = [...ledger.told.keys(), ...ledger.aliases.keys()]
  const aliases = await until('the reports of the spool', async () => {
    const { rows } = await pool.query<{ id: string; of: string }>(
      `select id, id as of from reports where id = any($1::uuid[])
       union select id, report_id from report_aliases where id = any($1::uuid[])`,
      [ids],
    )
    return rows.length === ids.length ? new Map(rows.map(({ id, of }) => [id, of])) : undefined
  })
  const told = [...ledger.told.values()]
  ledger.told.clear()
  for (const one of told) {
    one.id = aliases.get(one.id) ?? one.id
    ledger.told.set(one.id, one)
  }
}

/**
 * Waits until no job and no delta is left; jobs that wait for a retry or for an hour are made due.
 */
export async function settle(pool: Pool): Promise<void> {
  const silenced = Date.now()
  await until('the database', async () => {
    await silenceWorkers(pool)
    return true
  })
  const quiet = async () => {
    // The mail server may have failed a moment ago.
    await pool.query('update mail_relay set next_try_at = now() where next_try_at > now()')
    await pool.query(
      `update pgboss.job set start_after = now()
       where state in ('created', 'retry') and start_after > now() and name = any($1::text[])`,
      [worked],
    )
    if ((await listOpenJobs(pool)).length > 0) return undefined
    return (await listShardBacklogs(pool)).length === 0 ? true : undefined
  }
  const patienceMs = PATIENCE_MS - (Date.now() - silenced)
  await until('the end of all jobs and deltas', quiet, patienceMs).catch(async (cause: unknown) => {
    throw new Error(`Work is stuck: ${await describeWork(pool)}`, { cause })
  })
}

/** What is left to do, and what each session of the database does or waits for. */
async function describeWork(pool: Pool): Promise<string> {
  const { rows } = await pool.query(
    `select pid, application_name, state, wait_event_type, wait_event, pg_blocking_pids(pid),
       now() - xact_start as "open", query
     from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
  )
  const jobs = await listOpenJobs(pool)
  const counts = await listShardBacklogs(pool)
  return JSON.stringify({ jobs, counts, sessions: rows }, undefined, 1)
}
