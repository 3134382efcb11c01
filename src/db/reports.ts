import sql from 'sql-template-tag'
import type { RebuiltFrom } from '../mail/containers/unpack-file.ts'
import type { CorrectedClass } from '../verdict/verdict.ts'
import { shardOf, uuidFloor } from '../world.ts'
import type { Db } from './pool.ts'
import {
  isId,
  isOneOf,
  isOneOfIds,
  prepared,
  preparedInsert,
  preparedRowsOf,
  preparedValuesOf,
} from './prepared.ts'
import { copyRows, int2, type Packed, rowOf, rowsOf, unpack, uuid, valuesOf } from './rows.ts'

export type RawMessage = Packed & { id: string }

export async function insertRawMessages(tx: Db, messages: readonly RawMessage[]): Promise<void> {
  await copyRows(
    tx,
    'copy raw_messages (id, shard, encoding, content) from stdin (format binary)',
    messages.map(({ id, encoding, content }) => {
      return [uuid(id), int2(shardOf(id)), Buffer.from(encoding), content]
    }),
  )
}

export async function findRawMessage(db: Db, id: string): Promise<Buffer | undefined> {
  const [packed] = await listRawMessages(db, [id])
  return packed && unpack(packed)
}

/** Returns the packed messages of several reports, unordered. */
export function listRawMessages(db: Db, ids: readonly string[]): Promise<RawMessage[]> {
  return preparedRowsOf(db)`
    select id, encoding, content from raw_messages where ${isOneOfIds('id', ids)}`
}

export function listWithMessages(db: Db, ids: readonly string[]): Promise<string[]> {
  return preparedValuesOf(db)`
    select id from raw_messages where ${isOneOfIds('id', ids)}`
}

/** The reporter's statement about a message. */
export type ReportKind = 'spam' | 'phishing' | 'not-spam'

export type Channel =
  | 'api'
  | 'signaler'
  | 'form'
  | 'mail'
  | 'import'
  | 'learn'
  | 'trap'
  | 'feedback-loop'

/** The state of a report; see the diagram in `src/README.md`. */
export const reportStates = [
  'received',
  'analyzed',
  'forwarded',
  'kept',
  'retracted',
  'failed',
] as const

export type ReportState = (typeof reportStates)[number]

export type NewReport = {
  id: string
  reporterId: string
  channel: Channel
  kind: ReportKind
  receivedAt: Date
  messageBytes: number
  author: string | null
  subject: string | null
  messageId: string | null
  datedAt: Date | null
  comment: string | null
  /** CIDR blocks. */
  receivedVia: readonly string[]
  /** The original format of the message, when it was reconstructed from another one. */
  rebuiltFrom: RebuiltFrom | null
  /** `held`: must have no effect on others. */
  shadow?: 'held' | null
}

/**
 * Why a report has no effect on others: `held` until an administrator decides, `dropped`
 * permanently, or `released` but not counted yet. It is not shown to the reporter.
 */
type Shadow = 'held' | 'dropped' | 'released'

/** A report with the fields extracted on receipt. */
export type Report = Omit<NewReport, 'shadow'> & {
  state: ReportState
  shadow: Shadow | null
  /** Whether the reporter was asked, and confirmed that the message is unwanted. */
  isConfirmed: boolean
  /** The class of the verdict as an operator corrected it; null: the rules and the model decide. */
  correctedAs: CorrectedClass | null
}

export const reportColumns = sql`reports.id, reports.reporter_id as "reporterId",
  reports.channel, reports.kind, reports.state, reports.received_at as "receivedAt",
  reports.message_bytes as "messageBytes", reports.author, reports.subject,
  reports.message_id as "messageId", reports.dated_at as "datedAt", reports.comment,
  reports.received_via::text[] as "receivedVia", reports.rebuilt_from as "rebuiltFrom",
  reports.shadow, reports.is_confirmed as "isConfirmed",
  reports.corrected_as as "correctedAs"`

/** Inserts reports in the state `received`. */
export async function insertReports(tx: Db, reports: readonly NewReport[]): Promise<void> {
  const rows = reports.map((report) => [
    report.id,
    shardOf(report.id),
    report.reporterId,
    report.channel,
    report.kind,
    'received',
    report.receivedAt,
    report.messageBytes,
    report.author,
    report.subject,
    report.messageId,
    report.datedAt,
    report.comment,
    report.receivedVia,
    report.rebuiltFrom,
    report.shadow ?? null,
  ])
  await tx.query(
    preparedInsert(
      rows,
      (values) => sql`
    insert into reports (id, shard, reporter_id, channel, kind, state, received_at, message_bytes,
      author, subject, message_id, dated_at, comment, received_via, rebuilt_from, shadow)
    values ${values}`,
    ),
  )
}

export function findReport(db: Db, id: string): Promise<Report | undefined> {
  return rowOf(db)`select ${reportColumns} from reports where ${isId('id', id)}`
}

/** Returns reports by id, unordered. */
export function listReportsByIds(db: Db, ids: readonly string[]): Promise<Report[]> {
  return preparedRowsOf(db)`
    select ${reportColumns} from reports where ${isOneOfIds('id', ids)}`
}

/**
 * Moves reports from one of the states `from` to `to`, and returns the ids of those it moved.
 * Reports that another run moved before are absent.
 */
export async function markReports(
  tx: Db,
  ids: readonly string[],
  from: readonly ReportState[],
  to: ReportState,
): Promise<string[]> {
  if (ids.length === 0) return []
  return preparedValuesOf(tx)`update reports set state = ${to}
    where ${isOneOfIds('id', ids)} and state = any(${from}::text[])
    returning id`
}

/**
 * Corrects the verdicts of reports, or removes the corrections with null, and moves the reports
 * from one of the states `from` to `received`. Returns the ids of those that it changed.
 */
export function markCorrected(
  tx: Db,
  ids: readonly string[],
  from: readonly ReportState[],
  as: CorrectedClass | null,
): Promise<string[]> {
  return valuesOf(tx)`
    update reports set corrected_as = ${as}, state = 'received'
    where ${isOneOfIds('id', ids)} and state = any(${from}::text[])
      and corrected_as is distinct from ${as}::text
    returning id`
}

/**
 * Stores that the reporter confirms a complaint, and moves the report from `kept` to `received`.
 * Returns false if the reporter is not being asked.
 */
export async function markConfirmed(tx: Db, id: string): Promise<boolean> {
  const { rowCount } = await tx.query(sql`
    update reports set state = 'received', is_confirmed = true
    where ${isId('id', id)} and state = 'kept' and exists (
      select from analyses where analyses.id = reports.id and analyses.shard = reports.shard
        and judgment -> 'consequence' ->> 'action' = 'confirm')`)
  return rowCount === 1
}

export type WantedAuthor = { reporterId: string; author: string }

/** Returns the authors, of those given, whose mail a reporter called wanted since an instant. */
export function listWantedAuthors(
  db: Db,
  asked: readonly WantedAuthor[],
  since: Date,
): Promise<WantedAuthor[]> {
  const reporterIds = [...new Set(asked.map(({ reporterId }) => reporterId))]
  const authors = [...new Set(asked.map(({ author }) => author))]
  return rowsOf(db)`
    select distinct reporter_id as "reporterId", author from reports
    where kind = 'not-spam' and reporter_id = any(${reporterIds}::uuid[])
      and author = any(${authors}::text[]) and state <> 'retracted' and id >= ${uuidFloor(since)}`
}

/** Returns reports that wait for their analysis, with ids below `before`, oldest first. */
export function listReceivedReports(db: Db, before: string, limit: number): Promise<string[]> {
  return valuesOf(db)`
    select id from reports where state = 'received' and id < ${before} order by id limit ${limit}`
}

/**
 * Returns analyzed reports that still wait for a contact, with ids below `before`, oldest first.
 * They have no feedback reports yet.
 */
export function listLookUps(db: Db, before: string, limit: number): Promise<string[]> {
  return valuesOf(db)`
    select id from reports where state = 'analyzed' and id < ${before}
      and not exists (
        select from feedback_reports where report_id = reports.id and shard = reports.shard)
    order by id limit ${limit}`
}

/**
 * Returns the ids of a reporter's reports that are kept only because the reporter was asked about
 * an address in one of the blocks `about`: newest first, with ids from `from` on. Reports with any
 * feedback are excluded.
 */
export function listAskedReports(
  tx: Db,
  reporterId: string,
  page: { about: readonly string[] | 'all'; from: string; limit: number },
): Promise<string[]> {
  const about = page.about === 'all' ? ['0.0.0.0/0', '::/0'] : page.about
  return valuesOf(tx)`
    select reports.id from reports
      join analyses on analyses.id = reports.id and analyses.shard = reports.shard
    where reporter_id = ${reporterId} and state = 'kept' and reports.id >= ${page.from}
      and analyses.id >= ${page.from}
      and judgment -> 'consequence' ->> 'action' = 'ask'
      and exists (
        select from jsonb_array_elements_text(judgment -> 'consequence' -> 'about') as asked (ip)
        where asked.ip::inet <<= any(${about}::cidr[]))
      and not exists (
        select from feedback_reports where report_id = reports.id and shard = reports.shard)
    order by reports.id desc limit ${page.limit}`
}

/**
 * Returns the latest reports of a reporter, since the id `from`, whose origin is in one of the CIDR
 * blocks.
 */
export function listReportsFrom(
  tx: Db,
  reporterId: string,
  page: { blocks: readonly string[]; from: string; limit: number },
): Promise<string[]> {
  return valuesOf(tx)`
    select reports.id from reports
      join analyses on analyses.id = reports.id and analyses.shard = reports.shard
    where reporter_id = ${reporterId} and state in ('analyzed', 'forwarded', 'kept', 'failed')
      and reports.id >= ${page.from} and analyses.id >= ${page.from}
      and origin_ip <<= any(${page.blocks}::cidr[])
    order by reports.id desc limit ${page.limit}`
}

/**
 * Returns those of the reports that are kept, call their message unwanted and were not learned from
 * a mail server.
 */
export async function listKeptComplaints(db: Db, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  return valuesOf(db)`
    select id from reports where ${isOneOfIds('id', ids)} and state = 'kept'
      and kind <> 'not-spam' and channel <> 'learn'`
}

/** Returns the latest analyzed reports of a reporter, newest first. */
export function listAnalyzedReports(
  db: Db,
  reporterId: string,
  limit: number,
): Promise<Pick<Report, 'id' | 'receivedAt' | 'kind' | 'author'>[]> {
  return rowsOf(db)`
    select id, received_at as "receivedAt", kind, author from reports
    where reporter_id = ${reporterId} and state in ('analyzed', 'forwarded', 'kept')
    order by reporter_id desc, id desc limit ${limit}`
}

/**
 * Returns at most `limit` reporters with reports since the id `from`, and the id of the last report
 * of each. Ordered by reporter id, in the range from `after` (exclusive) to `to` (inclusive).
 */
export function listActiveReporters(
  db: Db,
  from: string,
  page: { after: string; to: string; limit: number },
): Promise<{ reporterId: string; lastId: string }[]> {
  return rowsOf(db)`
    select reporter_id as "reporterId", max(id::text)::uuid as "lastId" from reports
    where id >= ${from} and reporter_id > ${page.after} and reporter_id <= ${page.to}
    group by reporter_id order by reporter_id limit ${page.limit}`
}

/** Whether accounts with addresses outside a domain have more than so many reports. */
export async function hasReportsOfOthers(db: Db, domain: string, most = 0): Promise<boolean> {
  const found = await rowOf(db)<{ exists: boolean }>`
    select exists (select 1 from reports join reporters on reporters.id = reports.reporter_id
      where right(email, ${domain.length + 1}::int) <> ${`@${domain}`}
      offset ${most}::int)`
  return found?.exists ?? false
}

export async function countReportsBetween(
  db: Db,
  reporterIds: readonly string[],
  { from, to }: { from: string; to: string },
): Promise<Map<string, number>> {
  const { rows } = await db.query<{ reporterId: string; count: number }>(prepared`
    select reporter_id as "reporterId", count(*)::integer as count from reports
    where ${isOneOf('reporter_id', reporterIds, 'uuid[]')} and id >= ${from} and id < ${to}
    group by reporter_id`)
  return new Map(rows.map(({ reporterId, count }) => [reporterId, count]))
}

/**
 * Returns the ids of those reports that are in one of the states `from`, and lets no other
 * transaction change them until this one ends.
 */
export async function lockReports(
  tx: Db,
  ids: readonly string[],
  from: readonly ReportState[],
): Promise<string[]> {
  // One statement for each: a distributed database locks the rows of one node at a time.
  const found = await Promise.all(
    ids.toSorted().map((id) =>
      tx.query<{ id: string }>(prepared`update reports set state = state
        where ${isOneOfIds('id', [id])} and state = any(${from}::text[]) returning id`),
    ),
  )
  return found.flatMap(({ rows }) => rows.map(({ id }) => id))
}

/** Returns the state of a report, and locks the report until the transaction ends. */
export async function holdReport(tx: Db, id: string): Promise<ReportState | undefined> {
  const { rows } = await tx.query<{ state: ReportState }>(sql`
    select state from reports where ${isId('id', id)} for share`)
  return rows[0]?.state
}
