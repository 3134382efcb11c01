import type { OneClickOutcome } from '../mail/list-unsubscribe.ts'
import type { Db } from './pool.ts'
import { first } from './rows.ts'

/** What is known of whether and how to advise a reporter. */
export type AdvisedReporter = {
  email: string
  language: 'en' | 'fr' | 'ru' | null
  wantsAdvice: boolean
}

/** A reporter as advice is concerned. */
export async function findAdvisedReporter(
  db: Db,
  id: string,
): Promise<AdvisedReporter | undefined> {
  return first(
    await db.query<AdvisedReporter>(
      `select email, language, wants_advice as "wantsAdvice" from reporters where id = $1`,
      [id],
    ),
  )
}

/** Switches the advice of a reporter on or off. */
export async function setWantsAdvice(tx: Db, id: string, wants: 'wanted' | 'off'): Promise<void> {
  await tx.query(`update reporters set wants_advice = $2 where id = $1`, [id, wants === 'wanted'])
}

/**
 * Claims the one letter of a reporter, of what it is about, and of a week: false when there has
 * been one. Of several who claim it at once, one gets it.
 */
export async function insertAdvice(
  tx: Db,
  advice: { reporterId: string; about: string; week: Date; reportId: string; at: Date },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into advices (reporter_id, about, week, report_id, advised_at)
     values ($1, $2, $3, $4, $5) on conflict (reporter_id, about, week) do nothing`,
    [
      ...[advice.reporterId, advice.about, advice.week.toISOString().slice(0, 10)],
      ...[advice.reportId, advice.at],
    ],
  )
  return rowCount === 1
}

/** Forgets the advice of weeks before an instant. */
export async function removeAdvices(db: Db, before: Date): Promise<void> {
  await db.query(`delete from advices where week < $1`, [before.toISOString().slice(0, 10)])
}

/** Where a wish to be unsubscribed stands; from `under-way` on it is never sent again. */
export type UnsubscribeState = 'queued' | 'under-way' | OneClickOutcome['state']

/** What we asked, or are to ask, a sender to do for a reporter. */
export type UnsubscribeRequest = {
  reportId: string
  state: UnsubscribeState
  /** Whose machine is asked. */
  host: string
  askedAt: Date
  begunAt: Date | null
  finishedAt: Date | null
  outcome: string | null
}

const columns = `report_id as "reportId", state, host, asked_at as "askedAt",
  begun_at as "begunAt", finished_at as "finishedAt", outcome`

/** Keeps a wish; false when there is one for the report already. */
export async function insertUnsubscribe(
  tx: Db,
  wish: { reportId: string; reporterId: string; host: string; askedAt: Date },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into unsubscribe_requests (report_id, reporter_id, state, host, asked_at)
     values ($1, $2, 'queued', $3, $4) on conflict (report_id) do nothing`,
    [wish.reportId, wish.reporterId, wish.host, wish.askedAt],
  )
  return rowCount === 1
}

/** The wish for a report. */
export async function findUnsubscribe(
  db: Db,
  reportId: string,
): Promise<UnsubscribeRequest | undefined> {
  return first(
    await db.query<UnsubscribeRequest>(
      `select ${columns} from unsubscribe_requests where report_id = $1`,
      [reportId],
    ),
  )
}

/** Takes a wish that is still to be sent; false when somebody has taken it before. */
export async function beginUnsubscribe(db: Db, reportId: string, now: Date): Promise<boolean> {
  const { rowCount } = await db.query(
    `update unsubscribe_requests set state = 'under-way', begun_at = $2
     where report_id = $1 and state = 'queued'`,
    [reportId, now],
  )
  return rowCount === 1
}

/**
 * Writes down what became of a wish, unless that is known. That it is unknown gives way to what a
 * slow run finds out later.
 */
export async function endUnsubscribe(
  tx: Db,
  reportId: string,
  { state, outcome, at }: OneClickOutcome & { at: Date },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update unsubscribe_requests set state = $2, outcome = $3, finished_at = $4
     where report_id = $1
       and (state in ('queued', 'under-way') or (state = 'unknown' and $2 <> 'unknown'))`,
    [reportId, state, outcome, at],
  )
  return rowCount === 1
}

/** Wishes that were to be over long ago: their job is lost, and perhaps they left before. */
export async function listStuckUnsubscribes(
  db: Db,
  before: Date,
  limit: number,
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select report_id as id from unsubscribe_requests
     where state in ('queued', 'under-way') and asked_at < $1 order by report_id limit $2`,
    [before, limit],
  )
  return rows.map(({ id }) => id)
}
