import type { Db } from './pool.ts'
import type { ReportState } from './reports.ts'
import { first, type Packed } from './rows.ts'

/** What becomes of the reports: they stay without the person, or go too. */
export type ErasureWay = 'keep' | 'remove'

/** An account that is being erased, or was. */
export type Erasure = {
  id: string
  /** Null: done. */
  reporterId: string | null
  /** Stands in reports that stay, in place of the person. */
  anonymousId: string
  how: ErasureWay
  /** `waiting` for reports that have to be taken back first. */
  state: 'under-way' | 'waiting' | 'done'
  /** Reports done so far. */
  done: number
  /** The last report of the walk under way; null: it begins. */
  afterId: string | null
  askedAt: Date
  endedAt: Date | null
}

const columns = `id, reporter_id as "reporterId", anonymous_id as "anonymousId", how, state, done,
  after_id as "afterId", asked_at as "askedAt", ended_at as "endedAt"`

/** Writes down that an account is to be erased. */
export async function insertErasure(
  tx: Db,
  erasure: Pick<Erasure, 'id' | 'anonymousId' | 'how' | 'askedAt'> & {
    reporterId: string
    tokenHash: Buffer
  },
): Promise<void> {
  await tx.query(
    `insert into erasures (id, token_hash, reporter_id, anonymous_id, how, state, asked_at)
     values ($1, $2, $3, $4, $5, 'under-way', $6)`,
    [
      erasure.id,
      erasure.tokenHash,
      erasure.reporterId,
      erasure.anonymousId,
      erasure.how,
      erasure.askedAt,
    ],
  )
}

/** One erasure. */
export async function findErasure(db: Db, id: string): Promise<Erasure | undefined> {
  return first(await db.query<Erasure>(`select ${columns} from erasures where id = $1`, [id]))
}

/** The erasure whose page has a secret of this hash. */
export async function findErasureByToken(db: Db, tokenHash: Buffer): Promise<Erasure | undefined> {
  const answer = await db.query<Erasure>(`select ${columns} from erasures where token_hash = $1`, [
    tokenHash,
  ])
  return first(answer)
}

/** Writes down how far it has come. */
export async function markErasure(
  tx: Db,
  id: string,
  progress: { state: 'under-way' | 'waiting'; done: number; afterId: string | null },
): Promise<void> {
  await tx.query(
    `update erasures set state = $2, done = done + $3, after_id = $4
     where id = $1 and state <> 'done'`,
    [id, progress.state, progress.done, progress.afterId],
  )
}

/** Ends it, and forgets whose it was. */
export async function endErasure(tx: Db, id: string, at: Date): Promise<void> {
  await tx.query(
    `update erasures set state = 'done', reporter_id = null, after_id = null, ended_at = $2
     where id = $1`,
    [id, at],
  )
}

/** Ids of those that are not done. */
export async function listOpenErasures(db: Db): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from erasures where ended_at is null order by id`,
  )
  return rows.map(({ id }) => id)
}

/** Forgets erasures that ended before an instant: their pages end too. */
export async function removeErasures(db: Db, before: Date): Promise<void> {
  await db.query(`delete from erasures where ended_at < $1`, [before])
}

/** Whose letters and mails. */
type Person = { id: string; email: string }

/**
 * Removes letters to a person, and the mails that came back for them, some at a time; returns how
 * many letters.
 */
export async function removeLettersOf(tx: Db, person: Person, limit: number): Promise<number> {
  const { rows } = await tx.query<{ id: string }>(
    `select id from letters where reporter_id = $1 or address = $2 order by id limit $3`,
    [person.id, person.email, limit],
  )
  const ids = rows.map(({ id }) => id)
  if (ids.length === 0) return 0
  await tx.query(`delete from inbound_mails where letter_id = any($1::uuid[])`, [ids])
  await tx.query(`delete from letters where id = any($1::uuid[])`, [ids])
  return ids.length
}

/** Removes the mails that a person sent in, some at a time; returns how many. */
export async function removeMailsOf(tx: Db, { id }: Person, limit: number): Promise<number> {
  const { rows } = await tx.query<{ id: string }>(
    `select id from inbound_mails where reporter_id = $1 order by id limit $2`,
    [id, limit],
  )
  const ids = rows.map((row) => row.id)
  if (ids.length === 0) return 0
  await tx.query(`delete from inbound_mails where id = any($1::uuid[])`, [ids])
  return ids.length
}

/**
 * Removes what is left of a person besides the account itself: advice, karma, a ban, own
 * statistics, and that mail to the address came back. That an address wants no mail from us stays
 * as long as an abuse desk has that address.
 */
export async function removeTraces(tx: Db, { id, email }: Person): Promise<void> {
  await tx.query(`delete from advices where reporter_id = $1`, [id])
  await tx.query(`delete from karmas where reporter_id = $1`, [id])
  await tx.query(`delete from shadow_bans where reporter_id = $1`, [id])
  await tx.query(`delete from reporter_days where reporter_id = $1`, [id])
  await tx.query(
    `delete from suppressions
     where address = $1 and not exists (select from consumers where consumers.address = $1)`,
    [email],
  )
  await tx.query(`delete from account_links where reporter_id = $1 or address = $2`, [id, email])
}

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
