import sql from 'sql-template-tag'
import type { Db } from './pool.ts'
import { changesAny, rowOf, rowsOf } from './rows.ts'

/** `dropped`: the page was no longer to be sent; `given-up`: the partner took it at no attempt. */
export type SubmissionState =
  | 'waiting'
  | 'accepted'
  | 'duplicate'
  | 'refused'
  | 'given-up'
  | 'dropped'

/** A page that is sent to a partner over HTTP. */
export type PageSubmission = {
  pageId: string
  partner: string
  state: SubmissionState
  tries: number
  createdAt: Date
  triedAt: Date | null
  /** The last HTTP status; null if there was no answer. */
  status: number | null
}

type Key = Pick<PageSubmission, 'pageId' | 'partner'>

const columns = sql`page_id as "pageId", partner, state, tries, created_at as "createdAt",
  tried_at as "triedAt", status`

/** Adds a submission; false if the page was sent to the partner, or waits for it. */
export function insertSubmission(tx: Db, { pageId, partner }: Key, now: Date): Promise<boolean> {
  return changesAny(tx)`
    insert into page_submissions (page_id, partner, state, tries, created_at)
    values (${pageId}, ${partner}, 'waiting', 0, ${now})
    on conflict (page_id, partner) do update
      set state = 'waiting', tries = 0, created_at = excluded.created_at
      where page_submissions.state = 'dropped'`
}

export function findSubmission(db: Db, { pageId, partner }: Key) {
  return rowOf(db)<PageSubmission>`
    select ${columns} from page_submissions where page_id = ${pageId} and partner = ${partner}`
}

export function listSubmissions(db: Db, pageId: string): Promise<PageSubmission[]> {
  return rowsOf(db)`
    select ${columns} from page_submissions where page_id = ${pageId} order by partner`
}

/** Returns how many pages a partner got since an instant, and of the latest hour of that time. */
export async function countSubmissions(
  db: Db,
  partner: string,
  { daySince, hourSince }: { daySince: Date; hourSince: Date },
): Promise<{ day: number; hour: number }> {
  const row = await rowOf(db)<{ day: number; hour: number }>`
    select count(*)::int as day, (count(*) filter (where tried_at >= ${hourSince}))::int as hour
    from page_submissions where partner = ${partner} and tried_at >= ${daySince}`
  return row ?? { day: 0, hour: 0 }
}

export async function keepSubmission(
  db: Db,
  { pageId, partner, state, tries, triedAt, status }: Omit<PageSubmission, 'createdAt'>,
): Promise<void> {
  await db.query(sql`
    update page_submissions set state = ${state}, tries = ${tries}, tried_at = ${triedAt},
      status = ${status}
    where page_id = ${pageId} and partner = ${partner}`)
}
