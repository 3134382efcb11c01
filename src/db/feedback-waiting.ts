import type { Feedback, FeedbackKey, FeedbackKind } from './feedback-reports.ts'
import type { Db } from './pool.ts'

/** Returns the feedback reports merged into each of these, by report and number. */
export async function listMerged(
  db: Db,
  heads: readonly FeedbackKey[],
): Promise<{ member: FeedbackKey; head: FeedbackKey }[]> {
  const { rows } = await db.query<{
    reportId: string
    number: number
    headId: string
    headNumber: number
  }>(
    `select report_id as "reportId", number, merged_into as "headId", merged_number as "headNumber"
     from feedback_reports
     where merged_into = any($1::uuid[])
       and merged_into::text || ' ' || merged_number = any($2::text[])
     order by report_id, number`,
    keyParams(heads),
  )
  return rows.map(({ headId, headNumber, ...member }) => {
    return { member, head: { reportId: headId, number: headNumber } }
  })
}

/** Withdraws the feedback reports that were merged into withdrawn ones, and returns their keys. */
export async function withdrawMerged(
  tx: Db,
  heads: readonly FeedbackKey[],
  now: Date,
): Promise<FeedbackKey[]> {
  if (heads.length === 0) return []
  const { rows } = await tx.query<FeedbackKey>(
    `update feedback_reports
     set state = 'withdrawn', finished_at = $3, merged_into = null, merged_number = null
     where merged_into = any($1::uuid[])
       and merged_into::text || ' ' || merged_number = any($2::text[])
     returning report_id as "reportId", number`,
    [...keyParams(heads), now],
  )
  return rows
}

/** Query parameters for keys: the ids of their reports, and their names. */
function keyParams(keys: readonly FeedbackKey[]): [string[], string[]] {
  return [
    keys.map(({ reportId }) => reportId),
    keys.map(({ reportId, number }) => `${reportId} ${number}`),
  ]
}

/** A due feedback report, with the campaign of its message if the report is counted. */
export type DueFeedback = FeedbackKey & {
  kind: FeedbackKind
  incidents: number
  isDigest: boolean
  campaignId: string | null
}

/** Returns the consumers with due feedback, those that have waited longest first. */
export async function listDueConsumers(db: Db, now: Date, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select consumer_id as id from feedback_reports
     where state = 'waiting' and due_at <= $1
     group by consumer_id order by min(due_at) limit $2`,
    [now, limit],
  )
  return rows.map(({ id }) => id)
}

/**
 * Locks the pacing of a consumer's feedback until the transaction ends; false when another process
 * holds the lock.
 */
export async function claimPacing(tx: Db, consumerId: string): Promise<boolean> {
  const { rows } = await tx.query<{ free: boolean }>(
    `select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as free`,
    [`pace ${consumerId}`],
  )
  return rows[0]?.free === true
}

/** Returns the due feedback of a consumer, by report and number. */
export async function listDueFeedback(
  tx: Db,
  consumerId: string,
  now: Date,
  limit: number,
): Promise<DueFeedback[]> {
  const { rows } = await tx.query<DueFeedback>(
    `select report_id as "reportId", number, kind, incidents, is_digest as "isDigest",
       campaign_id as "campaignId"
     from feedback_reports left join counted_reports on counted_reports.id = report_id
     where state = 'waiting' and consumer_id = $1 and due_at <= $2
     order by report_id, number limit $3`,
    [consumerId, now, limit],
  )
  return rows
}

/** Postpones queued or waiting feedback until an instant; returns the keys of what it postponed. */
export async function delayFeedback(
  tx: Db,
  keys: readonly FeedbackKey[],
  dueAt: Date,
): Promise<FeedbackKey[]> {
  const { rows } = await tx.query<FeedbackKey>(
    `update feedback_reports set state = 'waiting', due_at = $3
     where report_id = any($1::uuid[]) and report_id::text || ' ' || number = any($2::text[])
       and state in ('queued', 'waiting')
     returning report_id as "reportId", number`,
    [...keyParams(keys), dueAt],
  )
  return rows
}

/** Withdraws unsent feedback and what was merged into it; returns the keys. */
export async function withdrawUnsent(
  tx: Db,
  keys: readonly FeedbackKey[],
  now: Date,
): Promise<FeedbackKey[]> {
  const { rows } = await tx.query<FeedbackKey>(
    `update feedback_reports set state = 'withdrawn', finished_at = $3
     where report_id = any($1::uuid[]) and report_id::text || ' ' || number = any($2::text[])
       and state in ('queued', 'waiting', 'held')
     returning report_id as "reportId", number`,
    [...keyParams(keys), now],
  )
  return [...rows, ...(await withdrawMerged(tx, rows, now))]
}

/** Makes the waiting feedback of a consumer due at an instant, unless it is due earlier. */
export async function advanceDueFeedback(tx: Db, consumerId: string, dueAt: Date): Promise<void> {
  await tx.query(
    `update feedback_reports set due_at = $2
     where consumer_id = $1 and state = 'waiting' and due_at > $2`,
    [consumerId, dueAt],
  )
}

/**
 * Queues a waiting feedback report that now covers `incidents` messages; false when it is no longer
 * waiting.
 */
export async function queueWaiting(
  tx: Db,
  { reportId, number, incidents, isDigest }: Omit<DueFeedback, 'kind' | 'campaignId'>,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update feedback_reports set state = 'queued', due_at = null, incidents = $3, is_digest = $4
     where report_id = $1 and number = $2 and state = 'waiting'`,
    [reportId, number, incidents, isDigest],
  )
  return rowCount === 1
}

/** Merges waiting feedback reports, and those merged into them before, into `head`. */
export async function mergeWaiting(
  tx: Db,
  head: FeedbackKey,
  members: readonly FeedbackKey[],
): Promise<void> {
  if (members.length === 0) return
  await tx.query(
    `update feedback_reports set merged_into = $3, merged_number = $4
     where merged_into = any($1::uuid[])
       and merged_into::text || ' ' || merged_number = any($2::text[])`,
    [...keyParams(members), head.reportId, head.number],
  )
  await tx.query(
    `update feedback_reports
     set state = 'merged', due_at = null, incidents = 1, is_digest = false, merged_into = $3,
       merged_number = $4
     where report_id = any($1::uuid[]) and report_id::text || ' ' || number = any($2::text[])
       and state = 'waiting'`,
    [...keyParams(members), head.reportId, head.number],
  )
}

/**
 * Withdraws the unsent feedback of a retracted report; returns the number withdrawn. Feedback that
 * was merged into it waits again. When it was itself merged into another feedback report, that one
 * covers one message less.
 */
export async function withdrawFeedback(tx: Db, reportId: string, now: Date): Promise<number> {
  const { rows } = await tx.query<{ number: number }>(
    `update feedback_reports set state = 'withdrawn', finished_at = $2
     where report_id = $1 and state in ('queued', 'held', 'waiting', 'shadowed')
     returning number`,
    [reportId, now],
  )
  await tx.query(
    `update feedback_reports
     set state = 'waiting', due_at = $3, merged_into = null, merged_number = null
     where merged_into = $1 and merged_number = any($2::smallint[])`,
    [reportId, rows.map(({ number }) => number), now],
  )
  return rows.length + (await leaveHeads(tx, reportId, now))
}

async function leaveHeads(tx: Db, reportId: string, now: Date): Promise<number> {
  const { rows } = await tx.query<Pick<Feedback, 'number' | 'mergedInto' | 'mergedNumber'>>(
    `select number, merged_into as "mergedInto", merged_number as "mergedNumber"
     from feedback_reports where report_id = $1 and state = 'merged'`,
    [reportId],
  )
  let left = 0
  for (const { number, mergedInto, mergedNumber } of rows) {
    const { rowCount } = await tx.query(
      `update feedback_reports set incidents = greatest(1, incidents - 1)
       where report_id = $1 and number = $2 and state in ('queued', 'held', 'waiting')`,
      [mergedInto, mergedNumber],
    )
    if (rowCount !== 1) continue
    await tx.query(
      `update feedback_reports
       set state = 'withdrawn', finished_at = $3, merged_into = null, merged_number = null
       where report_id = $1 and number = $2`,
      [reportId, number, now],
    )
    left++
  }
  return left
}

/** The state from which a mail is queued again: it was held, or our mail server refused it. */
export type ReleasedState = 'held' | 'refused'

/** Selects held or refused mails: one, those of a consumer, or all. */
export type HeldChoice = FeedbackKey | { consumerId: string } | 'all'

/**
 * Queues held or refused feedback reports again and deletes their copies, because they are composed
 * again. Skips refused ones whose address is suppressed or unhealthy. The caller must create their
 * jobs. Returns their keys, at most `limit`.
 */
export async function releaseFeedback(
  tx: Db,
  { which, from, now }: { which: HeldChoice; from: ReleasedState; now: Date },
  limit: number,
): Promise<FeedbackKey[]> {
  const one = which !== 'all' && 'reportId' in which ? which : undefined
  const consumerId = which !== 'all' && 'consumerId' in which ? which.consumerId : null
  const { rows: held } = await tx.query<FeedbackKey>(
    `select report_id as "reportId", number from feedback_reports
     where state = $5 and ($1::uuid is null or consumer_id = $1)
       and ($2::uuid is null or (report_id = $2 and number = $3))
       and ($5 = 'held' or not exists (select from suppressions
           where suppressions.address = lower(feedback_reports.address)
             and (until is null or until > $6))
         and not exists (select from consumers where consumers.id = consumer_id
             and health <> 'healthy' and (health_until is null or health_until > $6)))
     order by report_id, number limit $4`,
    [consumerId, one?.reportId ?? null, one?.number ?? null, limit, from, now],
  )
  const released: FeedbackKey[] = []
  for (const { reportId, number } of held) {
    const { rowCount } = await tx.query(
      `update feedback_reports
       set state = 'queued', finished_at = null, message_id = null, reply = null
       where report_id = $1 and number = $2 and state = $3`,
      [reportId, number, from],
    )
    if (rowCount !== 1) continue
    await tx.query(`delete from feedback_messages where report_id = $1 and number = $2`, [
      reportId,
      number,
    ])
    released.push({ reportId, number })
  }
  return released
}
