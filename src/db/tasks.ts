import { raw } from 'sql-template-tag'
import { WEEK_MS } from '../durations.ts'
import type { Db } from './pool.ts'
import { preparedRowOf } from './prepared.ts'

/** What waits for a person; each number is exact up to a maximum. */
export type TaskCounts = {
  deletions: number
  enrollments: number
  delistings: number
  proposals: number
  heldFeedback: number
  refusedFeedback: number
  heldLetters: number
  refusedLetters: number
  bouncingDesks: number
  unreadMail: number
  senderAlerts: number
  /** Reports of the last week with marks of phishing simulations that are not configured. */
  simulationMarks: number
  heldReports: number
  deadLetters: number
}

/**
 * Counts what waits for a person, each up to `max`, so that the time is bounded. The statement is
 * prepared, because planning it over all partitions takes longer than running it.
 */
export async function countTasks(db: Db, now: Date, max: number): Promise<TaskCounts> {
  const most = raw(String(max))
  const counts = await preparedRowOf(db)<TaskCounts>`
    select
      (select count(*) from (select 1 from proposed_deletions
        where expires_at > ${now} limit ${most}) as found)::int as deletions,
      (select count(*) from (select 1 from enrollment_requests
        where state = 'proven' limit ${most}) as found)::int as enrollments,
      (select count(*) from (select 1 from delisting_requests
        where state = 'open' limit ${most}) as found)::int as delistings,
      (select count(*) from (select 1 from marketer_proposals
        where state = 'open' limit ${most}) as found)::int as proposals,
      (select count(*) from (select 1 from feedback_reports
        where state = 'held' limit ${most}) as found)::int as "heldFeedback",
      (select count(*) from (select 1 from feedback_reports
        where state = 'refused' limit ${most}) as found)::int as "refusedFeedback",
      (select count(*) from (select 1 from letters
        where state = 'held' limit ${most}) as found)::int as "heldLetters",
      (select count(*) from (select 1 from letters
        where state = 'refused' limit ${most}) as found)::int as "refusedLetters",
      (select count(*) from (select 1 from consumers
        where health <> 'healthy' and health_until > ${now} limit ${most}) as found)::int
        as "bouncingDesks",
      (select count(*) from (select 1 from inbound_mails
        where needs_look and handled_at is null limit ${most}) as found)::int as "unreadMail",
      (select count(*) from (select 1 from sender_alerts
        where closed_at is null limit ${most}) as found)::int as "senderAlerts",
      (select count(*) from (select 1 from simulation_marks
        where seen_at > ${new Date(now.getTime() - WEEK_MS)} limit ${most}) as found)::int
        as "simulationMarks",
      (select count(*) from (select 1 from reports
        where shadow = 'held' limit ${most}) as found)::int as "heldReports",
      (select count(*) from (select 1 from pgboss.job
        where name = 'dead-letter' and state < 'active' limit ${most}) as found)::int
        as "deadLetters"`
  if (!counts) throw new Error('The tasks could not be counted.')
  return counts
}
