import sql, { raw } from 'sql-template-tag'
import { dateOf } from '../durations.ts'
import { uuidFloor } from '../world.ts'
import type { Db } from './pool.ts'

/** The tables whose old rows housekeeping deletes, by the column that says how old a row is. */
const columns = {
  account_links: 'expires_at',
  advices: 'week',
  campaign_decisions: 'decided_at',
  campaign_link_parts: 'seen_on',
  contact_corrections: 'until',
  delisting_requests: 'id',
  enrollment_requests: 'id',
  erasures: 'ended_at',
  hand_overs: 'seen_on',
  idempotency_keys: 'created_at',
  inbound_keys: 'created_at',
  listings: 'listed_until',
  mail_exchangers: 'named_on',
  mail_probes: 'came_at',
  mail_source_campaigns: 'reported_on',
  mail_source_days: 'day',
  mass_actions: 'started_at',
  networks: 'expires_at',
  original_requests: 'asked_at',
  page_reports: 'report_id',
  pages: 'last_seen',
  proposed_deletions: 'expires_at',
  report_aliases: 'id',
  reported_origins: 'changed_at',
  reporter_days: 'day',
  reporter_news: 'at',
  rule_list_entries: 'expires_at',
  sender_alerts: 'id',
  simulation_marks: 'seen_at',
  suppressions: 'until',
  webhook_deliveries: 'id',
} as const

type ExpiringTable = keyof typeof columns

/** For each table, the instant before which its rows are deleted. */
export type Expiry = Readonly<Record<ExpiringTable, Date>>

const dateColumns: readonly string[] = ['day', 'week', 'seen_on', 'named_on', 'reported_on']

/** Deletes expired rows. A row without an instant, such as a suppression without an end, stays. */
export async function deleteExpiredRows(db: Db, expiry: Partial<Expiry>): Promise<void> {
  for (const [table, before] of Object.entries(expiry)) {
    const column = columns[table as ExpiringTable]
    const isId = column === 'id' || column === 'report_id'
    const bound = isId ? uuidFloor(before) : dateColumns.includes(column) ? dateOf(before) : before
    await db.query(sql`delete from ${raw(table)} where ${raw(column)} < ${bound}`)
  }
}
