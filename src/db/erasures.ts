import sql, { raw } from 'sql-template-tag'
import { removeLinkPartsOf } from './link-parts.ts'
import { removeOriginalRequestsTo } from './original-requests.ts'
import type { Db } from './pool.ts'
import { isId } from './prepared.ts'
import type { ReportState } from './reports.ts'
import { type Packed, rowOf, rowsOf, valuesOf } from './rows.ts'
import { insertSearchNews, removeTerms } from './search.ts'

/**
 * What happens to the reports of an erased account: `keep` anonymizes them, `remove` deletes them.
 */
export type ErasureWay = 'keep' | 'remove'

/** The erasure of an account, in progress or done. */
export type Erasure = {
  id: string
  /** Null once the erasure is done. */
  reporterId: string | null
  /** Replaces the reporter's id in reports that are kept. */
  anonymousId: string
  how: ErasureWay
  /** `waiting`: some reports must be retracted first. */
  state: 'under-way' | 'waiting' | 'done'
  /** The number of reports processed so far. */
  done: number
  /** The last report processed in the current pass; null when a pass begins. */
  afterId: string | null
  askedAt: Date
  endedAt: Date | null
}

const columns = sql`id, reporter_id as "reporterId", anonymous_id as "anonymousId", how, state,
  done, after_id as "afterId", asked_at as "askedAt", ended_at as "endedAt"`

export async function insertErasure(
  tx: Db,
  erasure: Pick<Erasure, 'id' | 'anonymousId' | 'how' | 'askedAt'> & {
    reporterId: string
    tokenHash: Buffer
  },
): Promise<void> {
  await tx.query(sql`
    insert into erasures (id, token_hash, reporter_id, anonymous_id, how, state, asked_at)
    values (${erasure.id}, ${erasure.tokenHash}, ${erasure.reporterId}, ${erasure.anonymousId},
      ${erasure.how}, 'under-way', ${erasure.askedAt})`)
}

export function findErasure(db: Db, id: string): Promise<Erasure | undefined> {
  return rowOf(db)`select ${columns} from erasures where id = ${id}`
}

/** Returns the newest erasures, in progress or done. */
export function listErasures(db: Db, limit: number): Promise<Erasure[]> {
  return rowsOf(db)`select ${columns} from erasures order by asked_at desc, id limit ${limit}`
}

export function findErasureByToken(db: Db, tokenHash: Buffer): Promise<Erasure | undefined> {
  return rowOf(db)`
    select ${columns} from erasures where token_hash = ${tokenHash}`
}

/** Stores the progress of an erasure that is not done; adds `done` to its number of reports. */
export async function markErasure(
  tx: Db,
  id: string,
  progress: { state: 'under-way' | 'waiting'; done: number; afterId: string | null },
): Promise<void> {
  await tx.query(sql`
    update erasures set state = ${progress.state}, done = done + ${progress.done},
      after_id = ${progress.afterId}
    where id = ${id} and state <> 'done'`)
}

/** Marks an erasure as done and deletes the id of its reporter. */
export async function endErasure(tx: Db, id: string, at: Date): Promise<void> {
  await tx.query(sql`
    update erasures set state = 'done', reporter_id = null, after_id = null, ended_at = ${at}
    where id = ${id}`)
}

/** Returns the ids of the erasures that are not done. */
export function listOpenErasures(db: Db): Promise<string[]> {
  return valuesOf(db)`
    select id from erasures where ended_at is null order by id`
}

type Person = { id: string; email: string }

/**
 * Deletes at most `limit` letters to a person, and the inbound mails that answer them. Returns the
 * number of letters deleted.
 */
export async function removeLettersOf(tx: Db, person: Person, limit: number): Promise<number> {
  const ids = await valuesOf(tx)`
    select id from letters where reporter_id = ${person.id} or address = ${person.email}
      order by id limit ${limit}`
  if (ids.length === 0) return 0
  await tx.query(sql`delete from inbound_mails where letter_id = any(${ids}::uuid[])`)
  await tx.query(sql`delete from letters where id = any(${ids}::uuid[])`)
  return ids.length
}

/** Deletes at most `limit` mails that a person sent in; returns the number deleted. */
export async function removeMailsOf(tx: Db, { id }: Person, limit: number): Promise<number> {
  const { rows } = await tx.query<{ id: string }>(sql`
    select id from inbound_mails where reporter_id = ${id} order by id limit ${limit}`)
  const ids = rows.map((row) => row.id)
  if (ids.length === 0) return 0
  await tx.query(sql`delete from inbound_mails where id = any(${ids}::uuid[])`)
  return ids.length
}

/**
 * Deletes the remaining data of a person except the account itself: advice, news, karma, shadow
 * ban, own statistics, mailed links and the suppression of the address. The suppression is kept
 * while the address is also that of a feedback consumer.
 */
export async function removeTraces(tx: Db, { id, email }: Person): Promise<void> {
  await tx.query(sql`delete from advices where reporter_id = ${id}`)
  await tx.query(sql`delete from reporter_news where reporter_id = ${id}`)
  await tx.query(sql`delete from karmas where reporter_id = ${id}`)
  await removeLinkPartsOf(tx, id)
  await removeOriginalRequestsTo(tx, id)
  await tx.query(sql`delete from shadow_bans where reporter_id = ${id}`)
  await tx.query(sql`delete from reporter_days where reporter_id = ${id}`)
  await tx.query(sql`delete from suppressions
    where address = ${email} and not exists (select from consumers
      where consumers.address = ${email})`)
  await tx.query(sql`delete from account_links where reporter_id = ${id} or address = ${email}`)
}

/** A report of an account that is being erased, and what must still be done with it. */
export type ReportToErase = {
  id: string
  state: ReportState
  author: string | null
  subject: string | null
  /**
   * Whether the report is still counted or used as evidence, because its retraction is not
   * processed yet.
   */
  isCounted: boolean
  /** Whether a feedback report about it exists, sent or not, except a shadowed one. */
  hasFeedback: boolean
  /** Whether a feedback report about it still has to be sent. */
  hasUnsentFeedback: boolean
}

/** Returns a page of the reports of a reporter, oldest first, starting after the id `after`. */
export function listReportsToErase(
  tx: Db,
  reporterId: string,
  page: { after: string | null; limit: number },
): Promise<ReportToErase[]> {
  return rowsOf(tx)`select id, state, author, subject,
      exists (select from counted_reports where counted_reports.id = reports.id
          and counted_reports.shard = reports.shard)
        or exists (select from reported_evidence where reported_evidence.id = reports.id
          and reported_evidence.shard = reports.shard)
        as "isCounted",
      exists (select from feedback_reports
        where report_id = reports.id and feedback_reports.shard = reports.shard
          and feedback_reports.state <> 'shadowed') as "hasFeedback",
      exists (select from feedback_reports
        where report_id = reports.id and feedback_reports.shard = reports.shard
          and feedback_reports.state in ('waiting', 'queued'))
        as "hasUnsentFeedback"
    from reports
    where reporter_id = ${reporterId} and (${page.after}::uuid is null or id > ${page.after}::uuid)
    order by id limit ${page.limit}`
}

/** Replaces the reporter of a report with an anonymous id, and deletes its personal data. */
export async function anonymizeReport(
  tx: Db,
  id: string,
  what: { anonymousId: string; author: string | null; subject: string | null; at: Date },
): Promise<void> {
  await tx.query(sql`
    update reports set reporter_id = ${what.anonymousId}, author = ${what.author},
      subject = ${what.subject}, comment = null,
      message_id = null, received_via = '{}'
    where ${isId('id', id)}`)
  // The job that writes terms reads the report again.
  await removeTerms(tx, [id])
  await insertSearchNews(tx, [id], what.at)
}

/** Replaces an analysis with one without personal data. */
export async function replaceAnalysis(
  tx: Db,
  id: string,
  { packed, judgment }: { packed: Packed; judgment: unknown },
): Promise<void> {
  await tx.query(sql`
    update analyses set encoding = ${packed.encoding}, content = ${packed.content},
      judgment = ${JSON.stringify(judgment)} where ${isId('id', id)}`)
}

/**
 * Deletes the raw messages of reports, the stored mails that contain them, their content keys and
 * their unsubscribe requests.
 */
export async function removeMessages(tx: Db, ids: readonly string[]): Promise<void> {
  await removeOriginals(tx, ids)
  await tx.query(sql`delete from raw_messages where id = any(${ids}::uuid[])`)
  await tx.query(sql`delete from report_keys where report_id = any(${ids}::uuid[])`)
  await tx.query(sql`delete from unsubscribe_requests where report_id = any(${ids}::uuid[])`)
}

/** Deletes the copies of mails in which the originals of reports left, digests included. */
async function removeOriginals(tx: Db, ids: readonly string[]): Promise<void> {
  const mails = await rowsOf(tx)<{ id: string; number: number }>`
    select coalesce(merged_into, report_id) as id, coalesce(merged_number, number) as number
    from feedback_reports where report_id = any(${ids}::uuid[]) and has_original`
  for (const { id, number } of mails) {
    await tx.query(sql`
      delete from feedback_messages where ${isId('report_id', id)} and number = ${number}`)
  }
}

/**
 * Deletes reports and everything that belongs to them. A feedback report that also covers reports
 * of other people is kept, because those reports refer to it; it names no reporter.
 */
export async function removeReports(tx: Db, ids: readonly string[]): Promise<void> {
  await removeMessages(tx, ids)
  for (const table of ['analyses', 'counted_reports', 'reported_evidence'] as const) {
    await tx.query(sql`delete from ${raw(table)} where id = any(${ids}::uuid[])`)
  }
  for (const table of ['report_events', 'feedback_answers', 'inbound_mails'] as const) {
    await tx.query(sql`delete from ${raw(table)} where report_id = any(${ids}::uuid[])`)
  }
  const { rows } = await tx.query<{ id: string; number: number }>(sql`
    select distinct merged_into as id, merged_number as number from feedback_reports
    where merged_into = any(${ids}::uuid[]) and report_id <> all(${ids}::uuid[])`)
  const heads = rows.map(({ id, number }) => `${id} ${number}`)
  for (const table of ['feedback_messages', 'feedback_reports'] as const) {
    await tx.query(sql`
      delete from ${raw(table)} where report_id = any(${ids}::uuid[])
        and report_id::text || ' ' || number::text <> all(${heads}::text[])`)
  }
  await tx.query(sql`delete from reports where id = any(${ids}::uuid[])`)
  // After the reports: a job that writes their terms holds the reports.
  await removeTerms(tx, ids)
}
