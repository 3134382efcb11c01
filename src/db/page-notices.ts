import sql, { bulk } from 'sql-template-tag'
import type { ContactOverride, StopperRole } from '../mail/page-notice.ts'
import { type Feedback, type FeedbackKey, feedbackName, listFeedback } from './feedback-reports.ts'
import type { Page } from './pages.ts'
import type { Db } from './pool.ts'
import { numberOf, rowsOf, valuesOf } from './rows.ts'

export type PageNoticeState = 'spare' | 'barred' | 'shown' | 'muted' | 'queued'

/** Somebody who can stop a page; see the table for the states. */
export type PageNotice = {
  pageId: string
  /** A mail address, or the address of a form. */
  contact: string
  role: StopperRole
  name: string
  /** The addresses of the host in the network. */
  ips: readonly string[]
  state: PageNoticeState
  /** Whether an operator set the contact. */
  isOverride: boolean
  place: number
  queuedAt: Date | null
  /** The feedback report that is the notice. */
  reportId: string | null
  number: number | null
  withdrawalNumber: number | null
}

const columns = sql`page_id as "pageId", contact, role, name,
  ips::text[] as ips, state, is_override as "isOverride", place, queued_at as "queuedAt",
  report_id as "reportId", number, withdrawal_number as "withdrawalNumber"`

/** Returns those who can stop a page, in the order in which they are asked. */
export function listPageNotices(db: Db, pageId: string): Promise<PageNotice[]> {
  return rowsOf(db)`
    select ${columns} from page_notices where page_id = ${pageId} order by place, contact`
}

/** Removes contacts of a page that got no notice. */
export async function removeUnasked(
  tx: Db,
  pageId: string,
  contacts: readonly string[],
): Promise<void> {
  await tx.query(sql`
    delete from page_notices
    where page_id = ${pageId} and contact = any(${contacts}) and state <> 'queued'`)
}

/** Returns the latest confirmed pages with a contact of somebody that got no notice, by id. */
export function listPagesWithUnasked(
  db: Db,
  { role, name }: Pick<ContactOverride, 'role' | 'name'>,
  limit: number,
): Promise<string[]> {
  const roles = role === 'platform' ? ['platform', 'redirector'] : [role]
  return valuesOf(db)`
    select id from pages join page_notices on page_id = id
    where pages.state = 'confirmed' and page_notices.state <> 'queued'
      and role = any(${roles}) and lower(name) = lower(${name})
    group by id order by id desc limit ${limit}`
}

/** Returns a function that finds a feedback report that is a notice, or follows one. */
export async function listFeedbackOf(
  db: Db,
  notices: readonly PageNotice[],
): Promise<(key: Pick<PageNotice, 'reportId' | 'number'>) => Feedback | undefined> {
  const ids = [...new Set(notices.flatMap(({ reportId }) => reportId ?? []))]
  const feedback = ids.length > 0 ? await listFeedback(db, ids) : []
  return ({ reportId, number }) =>
    feedback.find((one) => one.reportId === reportId && one.number === number)
}

/** Inserts those who can stop a page; leaves known contacts as they are. */
export async function insertPageNotices(
  tx: Db,
  notices: readonly Pick<
    PageNotice,
    'pageId' | 'contact' | 'role' | 'name' | 'ips' | 'state' | 'isOverride' | 'place'
  >[],
  foundAt: Date,
): Promise<void> {
  if (notices.length === 0) return
  const values = notices.map((one) => [
    ...[one.pageId, one.contact, one.role, one.name, one.ips, one.state, one.isOverride],
    ...[one.place, foundAt],
  ])
  await tx.query(sql`
    insert into page_notices
      (page_id, contact, role, name, ips, state, is_override, place, found_at)
    values ${bulk(values)} on conflict (page_id, contact) do nothing`)
}

/** Stores the feedback report that is the notice, in place of an earlier one that was not sent. */
export async function markNoticeQueued(
  tx: Db,
  { pageId, contact }: Pick<PageNotice, 'pageId' | 'contact'>,
  { reportId, number }: FeedbackKey,
  at: Date,
): Promise<void> {
  await tx.query(sql`
    update page_notices set state = 'queued', queued_at = ${at}, report_id = ${reportId},
      number = ${number}, exact_number = null, withdrawal_number = null
    where page_id = ${pageId} and contact = ${contact}`)
}

/** Stores the number of a feedback report that follows a notice; null if it no longer does. */
export async function markNoticeFollowed(
  tx: Db,
  { pageId, contact }: Pick<PageNotice, 'pageId' | 'contact'>,
  by: 'exact' | 'withdrawal',
  number: number | null,
): Promise<void> {
  const column = by === 'exact' ? sql`exact_number` : sql`withdrawal_number`
  await tx.query(sql`
    update page_notices set ${column} = ${number}
    where page_id = ${pageId} and contact = ${contact}`)
}

/** Stores that the recipient of a notice is not responsible for the page. */
export async function markNoticeDisowned(
  tx: Db,
  { pageId, contact }: Pick<PageNotice, 'pageId' | 'contact'>,
  at: Date,
): Promise<void> {
  await tx.query(sql`
    update page_notices set disowned_at = ${at}
    where page_id = ${pageId} and contact = ${contact}`)
}

/** Returns the contacts that are not responsible for pages of a host, as they answered. */
export async function listDisowning(db: Db, host: string, since: Date): Promise<Set<string>> {
  const contacts = await valuesOf(db)`
    select distinct contact from page_notices join pages on pages.id = page_id
    where host = ${host} and disowned_at >= ${since}`
  return new Set(contacts)
}

/** Returns the number of notices that were queued since an instant. */
export function countPageNotices(db: Db, since: Date): Promise<number> {
  return numberOf(db)`
    select count(*)::int as notices from page_notices where queued_at >= ${since}`
}

/** The page that a feedback report is about, and what its report knows of it. */
export type NoticeOfFeedback = FeedbackKey &
  Pick<PageNotice, 'role' | 'name' | 'ips'> &
  Pick<
    Page,
    | 'key'
    | 'url'
    | 'type'
    | 'state'
    | 'confirmedBy'
    | 'imitates'
    | 'through'
    | 'shared'
    | 'firstSeen'
    | 'lastSeen'
    | 'reports'
  > & { pageId: string; contact: string; reportUrl: string | null }

/** Returns the pages of feedback reports that are notices or follow one, by `feedbackName`. */
export async function listNoticesOfFeedback(
  db: Db,
  reportIds: readonly string[],
): Promise<Map<string, NoticeOfFeedback>> {
  if (reportIds.length === 0) return new Map()
  type Row = NoticeOfFeedback & { exactNumber: number | null; withdrawalNumber: number | null }
  const { rows } = await db.query<Row>(sql`
    select page_notices.report_id as "reportId", number, exact_number as "exactNumber",
      withdrawal_number as "withdrawalNumber", role, name, ips::text[] as ips, contact,
      pages.id as "pageId", key, pages.url, type, pages.state, confirmed_by as "confirmedBy",
      imitates, through, shared,
      first_seen as "firstSeen", last_seen as "lastSeen", reports, page_reports.url as "reportUrl"
    from page_notices join pages on pages.id = page_notices.page_id
      left join page_reports on page_reports.page_id = pages.id
        and page_reports.report_id = page_notices.report_id
    where page_notices.report_id = any(${reportIds}::uuid[])`)
  const numbered = rows.flatMap(({ exactNumber, withdrawalNumber, ...row }) => {
    const numbers = [row.number, exactNumber, withdrawalNumber].filter((one) => one !== null)
    return numbers.map((number) => [feedbackName({ ...row, number }), row] as const)
  })
  return new Map(numbered)
}
