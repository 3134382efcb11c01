import type { ToldAs } from '../verdict/choose-contact.ts'
import { withdrawMerged } from './feedback-waiting.ts'
import type { Db } from './pool.ts'
import { first, type Packed, values } from './rows.ts'

/** Where a feedback report may stand; drawn in `src/README.md`. */
export const feedbackStates = [
  'waiting',
  'queued',
  'held',
  'sent',
  'bounced',
  'refused',
  'withdrawn',
  'merged',
] as const

/** One of them. */
export type FeedbackState = (typeof feedbackStates)[number]

/** Whether a message is complained of, or the complaint taken back (RFC 6430). */
export type FeedbackKind = 'complaint' | 'redeemed'

/** Names one feedback report: the report, and which of its consumers. */
export type FeedbackKey = { reportId: string; number: number }

/** The name of one feedback report, as its consumer quotes it but for the space. */
export function nameOf({ reportId, number }: FeedbackKey): string {
  return `${reportId} ${number}`
}

/** What one consumer is told of one report. */
export type Feedback = FeedbackKey & {
  consumerId: string
  kind: FeedbackKind
  state: FeedbackState
  /** How many messages it stands for: itself, and those that were merged into it. */
  incidents: number
  toldAs: ToldAs
  /** Whether opaque tokens of the message are left: for who gave them out. */
  keepsTokens: boolean
  /** Whether it tells of what was merged into it one by one. */
  isDigest: boolean
  /** When one that is `waiting` is to leave. */
  dueAt: Date | null
  /** The one that tells of this one too, where it is `merged`. */
  mergedInto: string | null
  mergedNumber: number | null
  /** Of the consumer, as it was when the report was made. */
  address: string
  createdAt: Date
  finishedAt: Date | null
  messageId: string | null
  /** The far server's last words. */
  reply: string | null
  bouncedAt: Date | null
  bounceStatus: string | null
  bounceReason: string | null
}

/**
 * What would be told of a report that has no effect on others is `shadowed` in the table, and shown
 * to its reporter as it would stand if it had not left yet; nothing else reads it.
 */
const columns = `report_id as "reportId", number, consumer_id as "consumerId", kind,
  case when state <> 'shadowed' then state when due_at is null then 'queued' else 'waiting' end
    as state,
  incidents, told_as as "toldAs", keeps_tokens as "keepsTokens",
  is_digest as "isDigest", due_at as "dueAt",
  merged_into as "mergedInto", merged_number as "mergedNumber", address,
  created_at as "createdAt", finished_at as "finishedAt", message_id as "messageId", reply,
  bounced_at as "bouncedAt", bounce_status as "bounceStatus", bounce_reason as "bounceReason"`

/** A feedback report to be: sent at once, or at `dueAt` when it is `waiting`. */
export type NewFeedback = FeedbackKey & {
  consumerId: string
  kind?: FeedbackKind
  address: string
  createdAt: Date
  state?: 'queued' | 'waiting' | 'shadowed'
  dueAt?: Date | null
  toldAs?: ToldAs
  keepsTokens?: boolean
}

/** Adds feedback reports, still to be composed and sent. */
export async function insertFeedback(tx: Db, feedback: readonly NewFeedback[]): Promise<void> {
  if (feedback.length === 0) return
  const { text, params } = values(
    feedback.map((row) => [
      row.reportId,
      row.number,
      row.consumerId,
      row.kind ?? 'complaint',
      row.state ?? 'queued',
      row.address,
      row.createdAt,
      row.dueAt ?? null,
      row.toldAs ?? 'network',
      row.keepsTokens ?? false,
    ]),
  )
  await tx.query(
    `insert into feedback_reports
       (report_id, number, consumer_id, kind, state, address, created_at, due_at, told_as,
        keeps_tokens)
     values ${text}`,
    params,
  )
}

/** The feedback reports of several reports, by report and number. */
export async function listFeedback(db: Db, reportIds: readonly string[]): Promise<Feedback[]> {
  const { rows } = await db.query<Feedback>(
    `select ${columns} from feedback_reports
     where report_id = any($1::uuid[]) order by report_id, number`,
    [reportIds],
  )
  return rows
}

/** The latest feedback reports to a consumer, newest first. */
export async function listFeedbackTo(
  db: Db,
  consumerId: string,
  limit: number,
): Promise<Feedback[]> {
  const { rows } = await db.query<Feedback>(
    `select ${columns} from feedback_reports
     where consumer_id = $1 and state <> 'shadowed' order by report_id desc, number desc limit $2`,
    [consumerId, limit],
  )
  return rows
}

/** One feedback report. */
export async function findFeedback(db: Db, key: FeedbackKey): Promise<Feedback | undefined> {
  const answer = await db.query<Feedback>(
    `select ${columns} from feedback_reports where report_id = $1 and number = $2`,
    [key.reportId, key.number],
  )
  return first(answer)
}

/**
 * Feedback reports of reports older than the id `before` that wait to be sent and that no job of
 * the queue names, neither in line nor among the dead letters; oldest first.
 */
export async function listQueuedFeedback(
  db: Db,
  before: string,
  queue: string,
  limit: number,
): Promise<FeedbackKey[]> {
  const { rows } = await db.query<FeedbackKey>(
    `select report_id as "reportId", number from feedback_reports
     where state = 'queued' and report_id < $1
       and report_id::text || ' ' || number not in (
         select (data ->> 'reportId') || ' ' || (data ->> 'number') from pgboss.job
         where (name = $2 and state <= 'active'
           or name = 'dead-letter' and state < 'active' and source_name = $2)
           and data ->> 'reportId' is not null and data ->> 'number' is not null)
     order by report_id, number limit $3`,
    [before, queue, limit],
  )
  return rows
}

/** A page of the outbox, newest first; `before` is the last key of the page before. */
export async function listOutbox(
  db: Db,
  filter: { state?: FeedbackState | undefined; before?: FeedbackKey | undefined },
  limit: number,
): Promise<Feedback[]> {
  const { rows } = await db.query<Feedback>(
    `select ${columns} from feedback_reports
     where state <> 'shadowed' and ($1::text is null or state = $1)
       and ($2::uuid is null or (report_id, number) < ($2::uuid, $3::smallint))
     order by report_id desc, number desc limit $4`,
    [filter.state ?? null, filter.before?.reportId ?? null, filter.before?.number ?? null, limit],
  )
  return rows
}

/** How sending a feedback report ended. */
export type FeedbackOutcome = FeedbackKey & {
  state: 'held' | 'sent' | 'refused'
  at: Date
  messageId: string
  reply: string | null
}

/**
 * Ends feedback reports that are still queued, and returns those it ended: what another run of the
 * same work had ended already is not among them. One that was withdrawn while it was being sent
 * did leave: then the truth is `sent`. One whose bounce was quicker than we stays `bounced`.
 */
export async function markFeedback(
  tx: Db,
  outcomes: readonly FeedbackOutcome[],
): Promise<FeedbackKey[]> {
  // The outcomes travel as one map, because an update that joins VALUES cannot be distributed.
  const byKey = Object.fromEntries(
    outcomes.map(({ reportId, number, ...outcome }) => [`${reportId} ${number}`, outcome]),
  )
  const { rows } = await tx.query<FeedbackKey>(
    `update feedback_reports
     set state = case when state = 'bounced' then state
         else $2::jsonb -> (report_id::text || ' ' || number) ->> 'state' end,
       finished_at = ($2::jsonb -> (report_id::text || ' ' || number) ->> 'at')::timestamptz,
       message_id = $2::jsonb -> (report_id::text || ' ' || number) ->> 'messageId',
       reply = $2::jsonb -> (report_id::text || ' ' || number) ->> 'reply'
     where report_id = any($1::uuid[])
       and message_id is null
       and (state = 'queued' or state in ('withdrawn', 'bounced')
         and $2::jsonb -> (report_id::text || ' ' || number) ->> 'state' = 'sent')
       and $2::jsonb ? (report_id::text || ' ' || number)
     returning report_id as "reportId", number`,
    [outcomes.map(({ reportId }) => reportId), JSON.stringify(byKey)],
  )
  return rows
}

/**
 * Calls back all that has not left to a consumer, and what would have been told by it; returns
 * which that was.
 */
export async function withdrawFeedbackOf(
  tx: Db,
  consumerId: string,
  now: Date,
): Promise<FeedbackKey[]> {
  const { rows } = await tx.query<FeedbackKey>(
    `update feedback_reports set state = 'withdrawn', finished_at = $2
     where consumer_id = $1 and state in ('queued', 'held', 'waiting', 'shadowed')
     returning report_id as "reportId", number`,
    [consumerId, now],
  )
  return [...rows, ...(await withdrawMerged(tx, rows, now))]
}

/** Marks the bounce of a feedback report that was sent; false when it had bounced already. */
export async function markBounced(
  tx: Db,
  bounce: FeedbackKey & { at: Date; status: string | null; reason: string | null },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update feedback_reports
     set state = 'bounced', bounced_at = $3, bounce_status = $4, bounce_reason = $5
     where report_id = $1 and number = $2 and state <> 'bounced'`,
    [bounce.reportId, bounce.number, bounce.at, bounce.status, bounce.reason],
  )
  return rowCount === 1
}

/** Keeps the exact copies that left, or that are held. */
export async function insertFeedbackMessages(
  tx: Db,
  messages: readonly (FeedbackKey & Packed)[],
): Promise<void> {
  const { text, params } = values(
    messages.map(({ reportId, number, encoding, content }) => [
      reportId,
      number,
      encoding,
      content,
    ]),
  )
  await tx.query(
    `insert into feedback_messages (report_id, number, encoding, content) values ${text}
     on conflict (report_id, number) do nothing`,
    params,
  )
}

/** The exact copy of one feedback report, packed. */
export async function findFeedbackMessage(db: Db, key: FeedbackKey): Promise<Packed | undefined> {
  const answer = await db.query<Packed>(
    `select encoding, content from feedback_messages where report_id = $1 and number = $2`,
    [key.reportId, key.number],
  )
  return first(answer)
}
