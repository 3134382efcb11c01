import sql, { empty } from 'sql-template-tag'
import { phrase } from '../phrase.ts'
import type { RecipientRole } from '../verdict/choose-contact.ts'
import { shardOf, uuidFloor } from '../world.ts'
import type { Db } from './pool.ts'
import { isId, isOneOfIds, preparedInsert, preparedRowsOf } from './prepared.ts'
import { changesAny, type Packed, rowOf, rowsOf } from './rows.ts'

/** The states of a feedback report; see the diagram in `src/README.md`. */
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

export type FeedbackState = (typeof feedbackStates)[number]

/**
 * `complaint`: reports a message; `redeemed`: withdraws the complaint (RFC 6430); `original`: the
 * message as it was received, which the desk asked for after the complaint.
 */
export type FeedbackKind = 'complaint' | 'redeemed' | 'original'

/**
 * Whether a feedback report is among those of which the last one tells what a consumer was told
 * about the message: it is not withdrawn, no original, which only follows a complaint, and no
 * notice about a page.
 */
export function isStanding({
  kind,
  state,
  recipientRole,
}: Pick<Feedback, 'kind' | 'state'> & { recipientRole?: RecipientRole }): boolean {
  return state !== 'withdrawn' && kind !== 'original' && recipientRole !== 'page'
}

/**
 * Identifies a feedback report: the report, and its number among the feedback about that report.
 */
export type FeedbackKey = { reportId: string; number: number }

/** Returns the name of a feedback report. Mails to consumers contain it with a dot, not a space. */
export function feedbackName({ reportId, number }: FeedbackKey): string {
  return `${reportId} ${number}`
}

/** A feedback report: what one consumer receives about one report. */
export type Feedback = FeedbackKey & {
  consumerId: string
  kind: FeedbackKind
  state: FeedbackState
  /** Whether it is not sent, because its report has no effect on others. */
  isShadowed: boolean
  /** The number of reported messages: the message of this report, and those merged into it. */
  incidents: number
  recipientRole: RecipientRole
  /** Whether opaque tokens of the message are not redacted, because the consumer issued them. */
  keepsTokens: boolean
  /** Hashes of the parts of links that are shown as they are, 8 bytes each. */
  sharedParts: Buffer | null
  /** Whether it contains the message as it was received. */
  hasOriginal: boolean
  /** Whether it lists the reports merged into it one by one. */
  isDigest: boolean
  /** When a `waiting` feedback report is due to be sent. */
  dueAt: Date | null
  /** The feedback report that covers this one, when it is `merged`. */
  mergedInto: string | null
  mergedNumber: number | null
  /** The consumer's address at the time the feedback report was created. */
  address: string
  createdAt: Date
  finishedAt: Date | null
  messageId: string | null
  /** The last reply of the receiving server. */
  reply: string | null
  bouncedAt: Date | null
  bounceStatus: string | null
  bounceReason: string | null
}

/**
 * The state of a feedback report as its reporter sees it. The feedback of a report without effect
 * on others stays `shadowed` in the table and is never sent; all other queries exclude it. Its
 * reporter sees what the feedback of an ordinary report would be: queued, or waiting until
 * `due_at`; with `finished_at`, held, or sent if `due_at` is set.
 */
export const shownState = sql`case when feedback_reports.state <> 'shadowed'
    then feedback_reports.state
  when feedback_reports.finished_at is null
    then case when feedback_reports.due_at is null then 'queued' else 'waiting' end
  when feedback_reports.due_at is null then 'held' else 'sent' end`

/** Whether a feedback report is not sent yet, as its reporter sees it. */
export const isShownUnsent = sql`(feedback_reports.state in ('queued', 'waiting', 'held')
  or feedback_reports.state = 'shadowed' and ${shownState} <> 'sent')`

const columns = sql`report_id as "reportId", number, consumer_id as "consumerId", kind,
  ${shownState} as state, state = 'shadowed' as "isShadowed", incidents,
  told_as as "recipientRole", keeps_tokens as "keepsTokens",
  shared_parts as "sharedParts", has_original as "hasOriginal", is_digest as "isDigest",
  case when state = 'shadowed' and finished_at is not null then null else due_at end as "dueAt",
  merged_into as "mergedInto", merged_number as "mergedNumber", address,
  created_at as "createdAt", finished_at as "finishedAt", message_id as "messageId", reply,
  bounced_at as "bouncedAt", bounce_status as "bounceStatus", bounce_reason as "bounceReason"`

/** A feedback report to add: to be sent immediately, or at `dueAt` when it is `waiting`. */
export type NewFeedback = FeedbackKey & {
  consumerId: string
  kind?: FeedbackKind
  address: string
  createdAt: Date
  state?: 'queued' | 'waiting' | 'shadowed'
  dueAt?: Date | null
  recipientRole?: RecipientRole
  keepsTokens?: boolean
  sharedParts?: Buffer | null
  hasOriginal?: boolean
}

/** Inserts feedback reports that are still to be composed and sent. */
export async function insertFeedback(tx: Db, feedback: readonly NewFeedback[]): Promise<void> {
  if (feedback.length === 0) return
  const rows = feedback.map((row) => [
    row.reportId,
    shardOf(row.reportId),
    row.number,
    row.consumerId,
    row.kind ?? 'complaint',
    row.state ?? 'queued',
    row.address,
    row.createdAt,
    row.dueAt ?? null,
    row.recipientRole ?? 'network',
    row.keepsTokens ?? false,
    row.sharedParts ?? null,
    row.hasOriginal ?? false,
  ])
  await tx.query(
    preparedInsert(
      rows,
      (values) => sql`insert into feedback_reports
      (report_id, shard, number, consumer_id, kind, state, address, created_at, due_at, told_as,
       keeps_tokens, shared_parts, has_original)
    values ${values}`,
    ),
  )
}

export function listFeedback(db: Db, reportIds: readonly string[]): Promise<Feedback[]> {
  return preparedRowsOf(db)`select ${columns} from feedback_reports
    where ${isOneOfIds('report_id', reportIds)} order by report_id, number`
}

/** Returns the latest feedback reports to a consumer, newest first. */
export function listFeedbackTo(db: Db, consumerId: string, limit: number): Promise<Feedback[]> {
  return rowsOf(db)`select ${columns} from feedback_reports
    where consumer_id = ${consumerId} and state <> 'shadowed' order by report_id desc, number desc
      limit ${limit}`
}

/** Selects the mails that a consumer received: those before a key, and only unanswered ones. */
export type ReceivedFilter = { before?: FeedbackKey | undefined; isOpen: boolean; limit: number }

/**
 * Whether a feedback report is answered. All reports have ids from `from` on; stating it again
 * excludes the partitions of earlier answers.
 */
const isAnswered = (from?: string) => sql`exists (select from feedback_answers
  where feedback_answers.report_id = feedback_reports.report_id
    and feedback_answers.shard = feedback_reports.shard
    and feedback_answers.number = feedback_reports.number
    and feedback_answers.answer <> 'original'
    ${from === undefined ? empty : sql`and feedback_answers.report_id >= ${from}`})`

/**
 * Returns the feedback reports that a consumer received as a mail of their own, newest first. A
 * digest is one mail.
 */
export function listReceived(
  db: Db,
  consumerId: string,
  { before, isOpen, limit }: ReceivedFilter,
): Promise<Feedback[]> {
  return rowsOf(db)`select ${columns} from feedback_reports
    where consumer_id = ${consumerId} and state = 'sent'
      and (${before?.reportId}::uuid is null or (report_id,
        number) < (${before?.reportId}::uuid, ${before?.number}::smallint))
      ${isOpen ? sql`and not ${isAnswered()}` : empty}
    order by report_id desc, number desc limit ${limit}`
}

/** The mails that a consumer received on a day in UTC, by whether they are answered. */
export type ReceivedDay = { day: string; answered: number; open: number }

/** Counts the mails that a consumer received about reports since an instant, by day. */
export function countReceivedDays(db: Db, consumerId: string, from: Date): Promise<ReceivedDay[]> {
  const first = uuidFloor(from)
  return rowsOf(db)`
    select day, count(*) filter (where answered)::integer as answered,
      count(*) filter (where not answered)::integer as open
    from (select (finished_at at time zone 'UTC')::date::text as day,
        ${isAnswered(first)} as answered
      from feedback_reports
      where consumer_id = ${consumerId} and state = 'sent' and report_id >= ${first}
        and finished_at >= ${from}) as received
    group by 1 order by 1`
}

/** The complaints of a reporter about an address on a day, of which a consumer was notified. */
export type ToldComplaints = {
  /** The day of the reports, in UTC. */
  day: string
  ip: string
  reporterId: string
  complaints: number
}

/**
 * Returns the complaints of which a consumer was notified, alone or merged into another feedback
 * report, by day, address and reporter; the newest first. Reports of shadow-banned reporters are
 * left out, as in the mail.
 */
export function listToldComplaints(
  db: Db,
  consumerId: string,
  { from, until, limit }: { from: Date; until: Date; limit: number },
): Promise<ToldComplaints[]> {
  const [first, end] = [uuidFloor(from), uuidFloor(until)]
  // Each table is read in its partitions of these weeks only.
  return rowsOf(db)`
    select (reports.received_at at time zone 'UTC')::date::text as day,
      host(analyses.origin_ip) as ip, reports.reporter_id as "reporterId",
      count(*)::integer as complaints
    from feedback_reports
    join reports on reports.id = feedback_reports.report_id
      and reports.shard = feedback_reports.shard
    join analyses on analyses.id = feedback_reports.report_id
      and analyses.shard = feedback_reports.shard
    where feedback_reports.consumer_id = ${consumerId} and feedback_reports.kind = 'complaint'
      and feedback_reports.told_as <> 'page'
      and feedback_reports.state in ('sent', 'bounced', 'merged')
      and feedback_reports.report_id >= ${first} and feedback_reports.report_id < ${end}
      and reports.id >= ${first} and reports.id < ${end}
      and analyses.id >= ${first} and analyses.id < ${end}
      and reports.received_at >= ${from} and reports.received_at < ${until}
      and analyses.origin_ip is not null
    group by 1, 2, 3 order by 1 desc, 2, 3 limit ${limit}`
}

export function findFeedback(db: Db, key: FeedbackKey): Promise<Feedback | undefined> {
  return rowOf(db)`
    select ${columns} from feedback_reports where ${isId('report_id', key.reportId)}
      and number = ${key.number}`
}

/**
 * Returns queued feedback reports that have no job in the queue or among the dead letters, oldest
 * first. Considers only reports with ids below `before`.
 */
export function listQueuedFeedback(
  db: Db,
  before: string,
  { queue, isShadowed }: { queue: string; isShadowed: boolean },
  limit: number,
): Promise<FeedbackKey[]> {
  const isQueued = isShadowed
    ? sql`state = 'shadowed' and finished_at is null and due_at is null`
    : sql`state = 'queued'`
  return rowsOf(db)`
    select report_id as "reportId", number from feedback_reports
    where ${isQueued} and report_id < ${before}
      and report_id::text || ' ' || number::text not in (
        select (data ->> 'reportId') || ' ' || (data ->> 'number') from pgboss.job
        where (name = ${queue} and state <= 'active'
          or name = 'dead-letter' and state < 'active' and source_name = ${queue})
          and data ->> 'reportId' is not null and data ->> 'number' is not null)
    order by report_id, number limit ${limit}`
}

/** Returns a page of the outbox, newest first; `before` is the last key of the previous page. */
export function listOutbox(
  db: Db,
  filter: { state?: FeedbackState | undefined; before?: FeedbackKey | undefined },
  limit: number,
): Promise<Feedback[]> {
  return rowsOf(db)`select ${columns} from feedback_reports
    where state <> 'shadowed' and (${filter.state}::text is null or state = ${filter.state}::text)
      and (${filter.before?.reportId}::uuid is null or (report_id,
        number) < (${filter.before?.reportId}::uuid, ${filter.before?.number}::smallint))
    order by report_id desc, number desc limit ${limit}`
}

export type FeedbackOutcome = FeedbackKey & {
  state: 'held' | 'sent' | 'refused'
  /** Whether nothing was sent, but the reporter must see this outcome. */
  isShadowed?: boolean
  at: Date
  messageId: string
  reply: string | null
}

/**
 * Stores the results of queued feedback reports, and returns the keys of those it updated; those
 * that another run updated before are absent. A feedback report that was withdrawn while it was
 * being sent becomes `sent`. A feedback report that has already bounced stays `bounced`, and one
 * that is shadowed stays so. `isHead`: whether others may be merged into it.
 */
export function markFeedback(
  tx: Db,
  outcomes: readonly FeedbackOutcome[],
): Promise<(FeedbackKey & { consumerId: string; isHead: boolean })[]> {
  // The outcomes are one JSON object, because in a distributed database an update cannot join
  // VALUES.
  const byKey = Object.fromEntries(
    outcomes.map(({ reportId, number, at, ...outcome }) => {
      return [`${reportId} ${number}`, { ...outcome, atMs: at.getTime() }]
    }),
  )
  const all = JSON.stringify(byKey)
  const outcome = sql`${all}::jsonb -> (report_id::text || ' ' || number::text)`
  const ids = outcomes.map(({ reportId }) => reportId)
  return preparedRowsOf(tx)`
    update feedback_reports
    set state = case when state in ('bounced', 'shadowed') then state
        else ${outcome} ->> 'state' end,
      finished_at = to_timestamp((${outcome} ->> 'atMs')::float8 / 1000),
      due_at = case when state = 'shadowed' and ${outcome} ->> 'state' = 'sent'
        then to_timestamp((${outcome} ->> 'atMs')::float8 / 1000) end,
      message_id = case when state <> 'shadowed' then ${outcome} ->> 'messageId' end,
      reply = ${outcome} ->> 'reply'
    where ${isOneOfIds('report_id', ids)}
      and message_id is null
      and case when (${outcome} -> 'isShadowed')::boolean
        then state = 'shadowed' and finished_at is null and due_at is null
        else state = 'queued' or state in ('withdrawn', 'bounced')
          and ${outcome} ->> 'state' = 'sent' end
      and ${all}::jsonb ? (report_id::text || ' ' || number::text)
    returning report_id as "reportId", number, consumer_id as "consumerId",
      incidents > 1 or is_digest as "isHead"`
}

/** Stores the bounce of a feedback report; false when a bounce is stored already. */
export function markBounced(
  tx: Db,
  bounce: FeedbackKey & { at: Date; status: string | null; reason: string | null },
): Promise<boolean> {
  return changesAny(tx)`update feedback_reports
    set state = 'bounced', bounced_at = ${bounce.at}, bounce_status = ${bounce.status},
      bounce_reason = ${bounce.reason}
    where ${isId('report_id', bounce.reportId)} and number = ${bounce.number}
      and state <> 'bounced'`
}

/** Stores the copies of feedback reports that were sent or are held, without their keys. */
export async function insertFeedbackMessages(
  tx: Db,
  messages: readonly (FeedbackKey & Packed)[],
): Promise<void> {
  const rows = messages.map(({ reportId, number, encoding, content }) => [
    reportId,
    shardOf(reportId),
    number,
    encoding,
    content,
    true,
  ])
  await tx.query(
    preparedInsert(
      rows,
      (values) => sql`
    insert into feedback_messages (report_id, shard, number, encoding, content, is_masked)
    values ${values}
    on conflict (report_id, number, shard) do nothing`,
    ),
  )
}

/** Returns the copies of feedback reports whose packed size is at most `bytesMax`. */
export function listSmallCopies(
  db: Db,
  keys: readonly FeedbackKey[],
  bytesMax: number,
): Promise<(FeedbackKey & Packed)[]> {
  const ids = keys.map(({ reportId }) => reportId)
  return rowsOf(db)`
    select report_id as "reportId", number, encoding, content from feedback_messages
    where ${isOneOfIds('report_id', ids)} and octet_length(content) <= ${bytesMax}
      and report_id::text || ' ' || number::text = any(${keys.map(feedbackName)}::text[])`
}

/** Returns the names of complaints whose reports have got another origin since they were made. */
export async function listOutdated(db: Db, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const { rows } = await db.query<FeedbackKey>(sql`
    select distinct feedback.report_id as "reportId", number from feedback_reports as feedback
      join report_events as events on events.report_id = feedback.report_id
        and events.shard = feedback.shard
    where ${isOneOfIds('feedback.report_id', ids)} and ${isOneOfIds('events.report_id', ids)}
      and kind = 'complaint' and event = 'reopened' and at > created_at
      and phrases @> ${JSON.stringify([phrase('origin-corrected')])}`)
  return new Set(rows.map(feedbackName))
}

/** The copy of a feedback report, packed: with masks in place of its keys, except in old rows. */
export type FeedbackCopy = Packed & { isMasked: boolean }

export function findFeedbackMessage(db: Db, key: FeedbackKey): Promise<FeedbackCopy | undefined> {
  return rowOf(db)`
    select encoding, content, is_masked as "isMasked" from feedback_messages
    where ${isId('report_id', key.reportId)}
      and number = ${key.number}`
}

/** Returns copies that are not masked yet, in the order of their reports. */
export function listUnmaskedFeedback(db: Db, limit: number): Promise<(FeedbackKey & Packed)[]> {
  return rowsOf(db)`
    select report_id as "reportId", number, encoding, content from feedback_messages
    where not is_masked order by report_id, number limit ${limit}`
}

export async function maskFeedback(
  db: Db,
  { reportId, number, encoding, content }: FeedbackKey & Packed,
): Promise<void> {
  await db.query(sql`
    update feedback_messages set encoding = ${encoding}, content = ${content}, is_masked = true
    where ${isId('report_id', reportId)} and number = ${number}`)
}
