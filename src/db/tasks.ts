import type { Db } from './pool.ts'
import { rowOf } from './rows.ts'

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
  heldReports: number
  deadLetters: number
}

/** Counts what waits for a person, each up to `max`, so that the time is bounded. */
export async function countTasks(db: Db, now: Date, max: number): Promise<TaskCounts> {
  const counts = await rowOf(db)<TaskCounts>`
    select
      (select count(*) from (select 1 from proposed_deletions
        where expires_at > ${now} limit ${max}) as found)::int as deletions,
      (select count(*) from (select 1 from enrollment_requests
        where state = 'proven' limit ${max}) as found)::int as enrollments,
      (select count(*) from (select 1 from delisting_requests
        where state = 'open' limit ${max}) as found)::int as delistings,
      (select count(*) from (select 1 from marketer_proposals
        where state = 'open' limit ${max}) as found)::int as proposals,
      (select count(*) from (select 1 from feedback_reports
        where state = 'held' limit ${max}) as found)::int as "heldFeedback",
      (select count(*) from (select 1 from feedback_reports
        where state = 'refused' limit ${max}) as found)::int as "refusedFeedback",
      (select count(*) from (select 1 from letters
        where state = 'held' limit ${max}) as found)::int as "heldLetters",
      (select count(*) from (select 1 from letters
        where state = 'refused' limit ${max}) as found)::int as "refusedLetters",
      (select count(*) from (select 1 from consumers
        where health <> 'healthy' and health_until > ${now} limit ${max}) as found)::int
        as "bouncingDesks",
      (select count(*) from (select 1 from inbound_mails
        where needs_look and handled_at is null limit ${max}) as found)::int as "unreadMail",
      (select count(*) from (select 1 from sender_alerts
        where closed_at is null limit ${max}) as found)::int as "senderAlerts",
      (select count(*) from (select 1 from reports
        where shadow = 'held' limit ${max}) as found)::int as "heldReports",
      (select count(*) from (select 1 from pgboss.job
        where name = 'dead-letter' and state < 'active' limit ${max}) as found)::int
        as "deadLetters"`
  if (!counts) throw new Error('The tasks could not be counted.')
  return counts
}
