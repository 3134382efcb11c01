import sql, { bulk } from 'sql-template-tag'
import type { FeedbackKey } from './feedback-reports.ts'
import type { Page } from './pages.ts'
import type { Db } from './pool.ts'
import { excluded, rowOf, rowsOf } from './rows.ts'

/** The reports of a page around the notice to one who can stop it. */
export type PageEnding = {
  pageId: string
  contact: string
  consumerId: string
  reportId: string
  noticedAt: Date
  lastAt: Date
  before: number
  after: number
  silentAt: Date | null
}

/** A notice about a page, of which the reports are to be counted. */
export type OpenNotice = FeedbackKey & { pageId: string; contact: string }

/**
 * Returns notices since an instant about pages that were reported after their reports were counted,
 * or whose reports were never counted.
 */
export function listOpenNotices(
  db: Db,
  { from, to, limit }: { from: Date; to: Date; limit: number },
): Promise<OpenNotice[]> {
  return rowsOf(db)`
    select page_notices.page_id as "pageId", page_notices.contact,
      page_notices.report_id as "reportId", page_notices.number
    from page_notices join pages on pages.id = page_notices.page_id
      left join page_endings on page_endings.page_id = page_notices.page_id
        and page_endings.contact = page_notices.contact
    where page_notices.state = 'queued' and role <> 'partner'
      and queued_at >= ${from} and queued_at < ${to}
      and (changed_at is null or last_seen > changed_at)
    order by queued_at desc limit ${limit}`
}

/** Returns when a page was reported, the latest first. */
export async function listTimesOfPage(db: Db, pageId: string, limit: number): Promise<Date[]> {
  const rows = await rowsOf(db)<{ at: Date }>`
    select seen_at as at from page_reports where page_id = ${pageId}
    order by seen_at desc limit ${limit}`
  return rows.map(({ at }) => at)
}

export async function upsertPageEndings(
  tx: Db,
  rows: readonly PageEnding[],
  now: Date,
): Promise<void> {
  if (rows.length === 0) return
  const values = rows.map((row) => [
    ...[row.pageId, row.contact, row.consumerId, row.reportId, row.noticedAt, row.lastAt],
    ...[row.before, row.after, row.silentAt, now],
  ])
  await tx.query(sql`
    insert into page_endings (page_id, contact, consumer_id, report_id, noticed_at, last_at, before,
      after, silent_at, changed_at)
    values ${bulk(values)}
    on conflict (page_id, contact) do update set ${excluded`consumer_id, report_id,
      noticed_at, last_at, before, after, silent_at, changed_at`}`)
}

/** A look-up of the host of a page. */
export type HostLook = { pageId: string; askedAt: Date; goneAt: Date | null; misses: number }

/** The page whose host is to be looked up, and what the last look-up found. */
export type PageToAsk = Pick<Page, 'host' | 'shared'> & Omit<HostLook, 'askedAt'>

/** Returns notified pages whose hosts were not looked up since an instant, the oldest first. */
export function listPagesToAsk(
  db: Db,
  { noticedSince, askedBefore, limit }: { noticedSince: Date; askedBefore: Date; limit: number },
): Promise<PageToAsk[]> {
  return rowsOf(db)`
    select pages.id as "pageId", host, shared, gone_at as "goneAt", coalesce(misses, 0) as misses
    from pages left join page_hosts on page_hosts.page_id = pages.id
    where exists (select from page_endings
        where page_endings.page_id = pages.id and noticed_at >= ${noticedSince})
      and (asked_at is null or asked_at < ${askedBefore})
    order by asked_at nulls first, pages.id limit ${limit}`
}

export async function upsertHostLooks(tx: Db, looks: readonly HostLook[]): Promise<void> {
  if (looks.length === 0) return
  const values = looks.map((one) => [one.pageId, one.askedAt, one.goneAt, one.misses])
  await tx.query(sql`
    insert into page_hosts (page_id, asked_at, gone_at, misses) values ${bulk(values)}
    on conflict (page_id) do update set ${excluded`asked_at, gone_at, misses`}`)
}

/** Since when the host of a page has no address. Null: it has one, or too few look-ups. */
const goneAt = sql`case when misses >= 2 then gone_at end as "goneAt"`

/** Returns the pages about which a consumer was notified, the latest first. */
export function listNoticedPages(
  db: Db,
  consumerId: string,
  limit: number,
): Promise<(PageEnding & { host: string; goneAt: Date | null })[]> {
  return rowsOf(db)`
    select page_endings.page_id as "pageId", contact, consumer_id as "consumerId",
      report_id as "reportId", noticed_at as "noticedAt", last_at as "lastAt", before, after,
      silent_at as "silentAt", host, ${goneAt}
    from page_endings join pages on pages.id = page_endings.page_id
      left join page_hosts on page_hosts.page_id = pages.id
    where consumer_id = ${consumerId} order by noticed_at desc, pages.id limit ${limit}`
}

/** What is known of the page of a campaign after the first notice about it. */
export type NoticedPage = { lastAt: Date; noticedAt: Date; goneAt: Date | null }

/** Returns the page of a campaign that was reported last; undefined if nobody was notified. */
export function findPageOfCampaign(db: Db, campaignId: string): Promise<NoticedPage | undefined> {
  return rowOf(db)`
    select last_seen as "lastAt", noticed_at as "noticedAt", ${goneAt}
    from pages join (select page_id, min(noticed_at) as noticed_at from page_endings
        where page_id in (select page_id from page_reports where campaign_id = ${campaignId})
        group by page_id) as noticed on noticed.page_id = pages.id
      left join page_hosts on page_hosts.page_id = pages.id
    where state = 'confirmed' order by last_seen desc, id limit 1`
}
