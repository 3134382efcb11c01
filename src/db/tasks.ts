import sql, { join, raw } from 'sql-template-tag'
import { WEEK_MS } from '../durations.ts'
import type { Db } from './pool.ts'
import { preparedRowOf } from './prepared.ts'

/** The rows that wait for a person. */
const waiting = (now: Date) => ({
  deletions: sql`proposed_deletions where expires_at > ${now}`,
  enrollments: sql`enrollment_requests where state = 'proven'`,
  delistings: sql`delisting_requests where state = 'open'`,
  phishingPages: sql`pages where state = 'seen'`,
  proposals: sql`marketer_proposals where state = 'open'`,
  heldFeedback: sql`feedback_reports where state = 'held'`,
  refusedFeedback: sql`feedback_reports where state = 'refused'`,
  heldLetters: sql`letters where state = 'held'`,
  refusedLetters: sql`letters where state = 'refused'`,
  bouncingDesks: sql`consumers where health <> 'healthy' and health_until > ${now}`,
  unreadMail: sql`inbound_mails where needs_look and handled_at is null`,
  senderAlerts: sql`sender_alerts where closed_at is null`,
  /** Reports of the last week with marks of phishing simulations that are not configured. */
  simulationMarks: sql`simulation_marks where seen_at > ${new Date(now.getTime() - WEEK_MS)}`,
  heldReports: sql`reports where shadow = 'held'`,
  deadLetters: sql`pgboss.job where name = 'dead-letter' and state < 'active'`,
})

export type TaskCounts = Record<keyof ReturnType<typeof waiting>, number>

/**
 * Counts what waits for a person, each up to `max`, so that the time is bounded. The statement is
 * prepared, because planning it over all partitions takes longer than running it.
 */
export async function countTasks(db: Db, now: Date, max: number): Promise<TaskCounts> {
  const most = raw(String(max))
  const columns = Object.entries(waiting(now)).map(
    ([name, rows]) =>
      sql`(select count(*) from (select 1 from ${rows} limit ${most}) as found)::int
        as ${raw(`"${name}"`)}`,
  )
  const counts = await preparedRowOf(db)<TaskCounts>`select ${join(columns)}`
  if (!counts) throw new Error('The tasks could not be counted.')
  return counts
}
