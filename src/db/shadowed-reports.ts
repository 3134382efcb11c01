import type { FeedbackKey } from './feedback-reports.ts'
import type { Db } from './pool.ts'
import { type Report, reportColumns } from './reports.ts'

/**
 * A page of the reports that are held, newest first, of one reporter or of all; `before` is the
 * last id of the page before. Retracted reports are left out.
 */
export async function listHeldReports(
  db: Db,
  page: { reporterId: string | undefined; before: string | undefined; limit: number },
): Promise<Report[]> {
  const { rows } = await db.query<Report>(
    `select ${reportColumns} from reports
     where ($1::uuid is null or reporter_id = $1) and ($2::uuid is null or id < $2)
       and shadow = 'held' and state <> 'retracted'
     order by id desc limit $3`,
    [page.reporterId ?? null, page.before ?? null, page.limit],
  )
  return rows
}

/** Releases or drops held reports that are not retracted; returns the ids of those it changed. */
export async function endHolding(
  tx: Db,
  ids: readonly string[],
  to: 'released' | 'dropped',
): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `update reports set shadow = $2
     where id = any($1::uuid[]) and shadow = 'held' and state <> 'retracted'
     returning id`,
    [ids, to],
  )
  return rows.map(({ id }) => id)
}

/** Those of the reports that have no effect on others, or none yet. */
export async function listShadowedAmong(
  db: Db,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ id: string }>(
    `select id from reports where id = any($1::uuid[]) and shadow is not null`,
    [ids],
  )
  return new Set(rows.map(({ id }) => id))
}

/** Those of the reports that have no effect on others; none of them gets any until `tx` ends. */
export async function keepShadowed(tx: Db, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await tx.query<{ id: string }>(
    `select id from reports
     where id = any($1::uuid[]) and shadow is not null order by id for share`,
    [ids],
  )
  return new Set(rows.map(({ id }) => id))
}

/**
 * Makes released reports that were analyzed while they were held count from now on, and returns
 * the ids of those that did not before: of several runs, one gets an id.
 */
export async function claimReleased(tx: Db, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const { rows } = await tx.query<{ id: string }>(
    `update reports set shadow = null
     where id = any($1::uuid[]) and shadow = 'released'
       and state in ('analyzed', 'forwarded', 'kept', 'failed')
     returning id`,
    [ids],
  )
  return rows.map(({ id }) => id)
}

/** Released reports older than the id `before` that do not count yet, oldest first. */
export async function listUncounted(db: Db, before: string, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from reports
     where shadow = 'released' and id < $1 and state in ('analyzed', 'forwarded', 'kept')
     order by id limit $2`,
    [before, limit],
  )
  return rows.map(({ id }) => id)
}

/** Feedback reports of these reports that only their reporters see, each with its consumer. */
export async function listShadowedFeedback(
  tx: Db,
  reportIds: readonly string[],
): Promise<(FeedbackKey & { consumerId: string })[]> {
  const { rows } = await tx.query<FeedbackKey & { consumerId: string }>(
    `select report_id as "reportId", number, consumer_id as "consumerId" from feedback_reports
     where report_id = any($1::uuid[]) and state = 'shadowed'
     order by report_id, number`,
    [reportIds],
  )
  return rows
}

/** Lets one of them be sent: at once, or when it is due. */
export async function releaseFeedback(
  tx: Db,
  { reportId, number }: FeedbackKey,
  { state, dueAt }: { state: 'queued' | 'waiting'; dueAt: Date | null },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update feedback_reports set state = $3, due_at = $4
     where report_id = $1 and number = $2 and state = 'shadowed'`,
    [reportId, number, state, dueAt],
  )
  return rowCount === 1
}
