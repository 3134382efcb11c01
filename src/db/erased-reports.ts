import type { Packed } from './packed.ts'
import type { Db } from './pool.ts'
import type { ReportState } from './reports.ts'

/** A report of somebody who is being erased, and what still has to happen to it. */
export type ReportToErase = {
  id: string
  state: ReportState
  author: string | null
  subject: string | null
  /** Whether it is counted, or evidence: a retraction has not been worked yet. */
  isCounted: boolean
  /** Whether anybody was or is to be told of it. */
  isTold: boolean
  /** Whether a feedback report of it is still to leave. */
  isLeaving: boolean
}

/** A page of the reports of a reporter, oldest first, from behind the id `after`. */
export async function listReportsToErase(
  tx: Db,
  reporterId: string,
  page: { after: string | null; limit: number },
): Promise<ReportToErase[]> {
  const { rows } = await tx.query<ReportToErase>(
    `select id, state, author, subject,
       exists (select from counted_reports where counted_reports.id = reports.id)
         or exists (select from reported_evidence where reported_evidence.id = reports.id)
         as "isCounted",
       exists (select from feedback_reports
         where report_id = reports.id and feedback_reports.state <> 'shadowed') as "isTold",
       exists (select from feedback_reports
         where report_id = reports.id and feedback_reports.state in ('waiting', 'queued'))
         as "isLeaving"
     from reports
     where reporter_id = $1 and ($2::uuid is null or id > $2)
     order by id limit $3`,
    [reporterId, page.after, page.limit],
  )
  return rows
}

/** Puts a nameless id in the place of a reporter, and takes away what only a person could say. */
export async function anonymizeReport(
  tx: Db,
  id: string,
  what: { anonymousId: string; author: string | null; subject: string | null },
): Promise<void> {
  await tx.query(
    `update reports set reporter_id = $2, author = $3, subject = $4, comment = null,
       message_id = null, received_via = '{}'
     where id = $1`,
    [id, what.anonymousId, what.author, what.subject],
  )
  await tx.query(`update analyses set subject_words = to_tsvector('simple', $2) where id = $1`, [
    id,
    what.subject,
  ])
}

/** Writes what was found without the person in it. */
export async function replaceAnalysis(
  tx: Db,
  id: string,
  { packed, judgment }: { packed: Packed; judgment: unknown },
): Promise<void> {
  await tx.query(`update analyses set encoding = $2, content = $3, judgment = $4 where id = $1`, [
    id,
    packed.encoding,
    packed.content,
    JSON.stringify(judgment),
  ])
}

/** Forgets the message itself, and what would find the report again by it. */
export async function removeMessages(tx: Db, ids: readonly string[]): Promise<void> {
  await tx.query(`delete from raw_messages where id = any($1::uuid[])`, [ids])
  await tx.query(`delete from report_keys where report_id = any($1::uuid[])`, [ids])
  await tx.query(`delete from unsubscribe_requests where report_id = any($1::uuid[])`, [ids])
}

/**
 * Removes reports with all that hangs on them. A feedback report that told of other people's
 * reports too stays, because theirs say so; nobody is named in it.
 */
export async function removeReports(tx: Db, ids: readonly string[]): Promise<void> {
  await removeMessages(tx, ids)
  for (const table of ['analyses', 'counted_reports', 'reported_evidence'] as const) {
    await tx.query(`delete from ${table} where id = any($1::uuid[])`, [ids])
  }
  for (const table of ['report_events', 'feedback_answers', 'inbound_mails'] as const) {
    await tx.query(`delete from ${table} where report_id = any($1::uuid[])`, [ids])
  }
  const { rows } = await tx.query<{ id: string; number: number }>(
    `select distinct merged_into as id, merged_number as number from feedback_reports
     where merged_into = any($1::uuid[]) and report_id <> all($1::uuid[])`,
    [ids],
  )
  const heads = rows.map(({ id, number }) => `${id} ${number}`)
  for (const table of ['feedback_messages', 'feedback_reports'] as const) {
    await tx.query(
      `delete from ${table}
       where report_id = any($1::uuid[]) and report_id || ' ' || number <> all($2::text[])`,
      [ids, heads],
    )
  }
  await tx.query(`delete from reports where id = any($1::uuid[])`, [ids])
}
