import sql, { bulk, type Sql } from 'sql-template-tag'
import type { ListedPage } from '../verdict/lists/list.ts'
import type { Db } from './pool.ts'
import { excluded, numberOf, rowOf, rowsOf, valuesOf } from './rows.ts'

/** `cleared`: a person said that it is no page of a phisher, or its owner had it delisted. */
export type PageState = 'seen' | 'confirmed' | 'cleared'
type PageDecision = ListedPage['type'] | 'cleared'

/** A page to which reported messages lead. */
export type Page = Omit<ListedPage, 'confirmedBy' | 'confirmedAt'> & {
  /** Host and path, with placeholders for what differs between recipients. */
  key: string
  /** As a recipient got it. It may leave only if it is `shared`, or if that reporter agrees. */
  url: string
  state: PageState
  /** What an operator said about the page itself; it holds whatever is reported. */
  decision: PageDecision | null
  confirmedBy: ListedPage['confirmedBy'] | null
  /** Since when it is confirmed, or when it last was. */
  confirmedAt: Date | null
  clearedAt: Date | null
  /** Hosts of redirectors whose addresses contain the page. */
  through: string[]
  /** Whether three independent reporters received exactly this URL. */
  shared: boolean
  /** Number of reports that lead to it. */
  reports: number
}

export type ConfirmedPage = Page & ListedPage & { state: 'confirmed' }

/** What a message adds to a page. */
export type SeenPage = Pick<
  Page,
  'id' | 'key' | 'url' | 'host' | 'scope' | 'type' | 'imitates' | 'through' | 'lastSeen'
>

export const columns = sql`id, key, url, host, scope, type, state, decision,
  confirmed_by as "confirmedBy", confirmed_at as "confirmedAt", cleared_at as "clearedAt",
  imitates, through, shared, first_seen as "firstSeen", last_seen as "lastSeen", reports`

export function loadPage(db: Db, id: string): Promise<Page | undefined> {
  return rowOf(db)`select ${columns} from pages where id = ${id}`
}

/**
 * Returns confirmed pages whose exact URL three independent reporters received, in the order of
 * their ids; `after` is the last id of the previous page.
 */
export function readSharedPages(
  db: Db,
  which: { after?: string; limit: number },
): Promise<ConfirmedPage[]> {
  return rowsOf(db)`
    select ${columns} from pages
    where state = 'confirmed' and shared
      and (${which.after}::uuid is null or id > ${which.after}::uuid)
    order by id limit ${which.limit}`
}

/**
 * Inserts pages that are not known, and returns all of them, locked. A known page keeps its id; the
 * latest message decides what it imitates, and whether it is of phishing or malware.
 */
export async function touchPages(tx: Db, seen: readonly SeenPage[]): Promise<Page[]> {
  if (seen.length === 0) return []
  const inOrder = seen.toSorted((a, b) => a.lastSeen.getTime() - b.lastSeen.getTime())
  const latest = new Map(inOrder.map((page) => [page.key, page]))
  const firstSeen = new Map(inOrder.toReversed().map((page) => [page.key, page.lastSeen]))
  const values = [...latest.values()]
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    .map((one) => [
      ...[one.id, one.key, one.url, one.host, one.scope, one.type, 'seen', one.imitates],
      ...[one.through, false, firstSeen.get(one.key), one.lastSeen, 0],
    ])
  return rowsOf(tx)`
    insert into pages (id, key, url, host, scope, type, state, imitates, through, shared,
      first_seen, last_seen, reports)
    values ${bulk(values)}
    on conflict (key) do update set scope = excluded.scope, type = excluded.type,
      through = excluded.through,
      imitates = coalesce(excluded.imitates, pages.imitates),
      first_seen = least(pages.first_seen, excluded.first_seen),
      last_seen = greatest(pages.last_seen, excluded.last_seen)
    returning ${columns}`
}

/** Returns a page, locked; undefined if it is gone. */
export function lockPage(tx: Db, id: string): Promise<Page | undefined> {
  return rowOf(tx)`
    update pages set last_seen = last_seen where id = ${id} returning ${columns}`
}

/** Stores what follows from the reports of a page and from the decision of an operator. */
export async function updatePage(tx: Db, page: Page): Promise<void> {
  await tx.query(sql`
    update pages set url = ${page.url}, type = ${page.type}, state = ${page.state},
      decision = ${page.decision}, confirmed_by = ${page.confirmedBy},
      confirmed_at = ${page.confirmedAt}, cleared_at = ${page.clearedAt}, shared = ${page.shared},
      reports = ${page.reports}
    where id = ${page.id}`)
}

export async function removePage(tx: Db, id: string): Promise<void> {
  await tx.query(sql`delete from pages where id = ${id}`)
}

/** A report that leads to a page, and what shows how much it weighs. */
export type PageReport = {
  pageId: string
  reportId: string
  url: string
  seenAt: Date
  campaignId: string | null
  reporterId: string
  isVouched: boolean
  isProven: boolean
  /** Whether the account was created on the day of the report. */
  isYoung: boolean
  circle: number
  /** A hash of the address that received the message. */
  recipient: Buffer
  /** Whether the reporter called the message phishing. */
  isAccusing: boolean
  /** Whether the content of the message supports that. */
  isSupported: boolean
  /** What a person of the site said about the report; `other`: it is neither. */
  decision: ListedPage['type'] | 'other' | null
  /** What in the message speaks for and against a phishing page. */
  signs: string[]
}

/** Inserts reports of pages, or replaces what is known of them. */
export async function putPageReports(tx: Db, rows: readonly PageReport[]): Promise<void> {
  if (rows.length === 0) return
  const values = rows.map((row) => [
    ...[row.pageId, row.reportId, row.url, row.seenAt, row.campaignId, row.reporterId],
    ...[row.isVouched, row.isProven, row.isYoung, row.circle, row.recipient],
    ...[row.isAccusing, row.isSupported, row.decision, row.signs],
  ])
  await tx.query(sql`
    insert into page_reports (page_id, report_id, url, seen_at, campaign_id, reporter_id,
      is_vouched, is_proven, is_young, circle, recipient, is_accusing, is_supported, decision,
      signs)
    values ${bulk(values)}
    on conflict (page_id, report_id) do update set ${excluded`url, campaign_id,
      reporter_id, is_vouched, is_proven, circle, recipient, is_accusing, is_supported,
      decision, signs`}`)
}

/** Removes what reports said about pages, and returns the ids of these pages. */
export async function removePageReports(tx: Db, reportIds: readonly string[]): Promise<string[]> {
  return valuesOf(tx)`
    delete from page_reports where report_id = any(${reportIds}::uuid[]) returning page_id`
}

/** Returns those of the reports that say something about a page. */
export function listReportsWithPages(db: Db, reportIds: readonly string[]): Promise<string[]> {
  return valuesOf(db)`
    select distinct report_id from page_reports where report_id = any(${reportIds}::uuid[])`
}

export function countPageReports(db: Db, pageId: string): Promise<number> {
  return numberOf(db)`
    select count(*)::integer as reports from page_reports where page_id = ${pageId}`
}

/** Returns the latest reports of a page, newest first. */
export function listPageReports(db: Db, pageId: string, limit: number): Promise<PageReport[]> {
  return rowsOf(db)`
    select page_id as "pageId", report_id as "reportId", url, seen_at as "seenAt",
      campaign_id as "campaignId", reporter_id as "reporterId", is_vouched as "isVouched",
      is_proven as "isProven", is_young as "isYoung", circle, recipient,
      is_accusing as "isAccusing", is_supported as "isSupported", decision, signs
    from page_reports where page_id = ${pageId} order by seen_at desc, report_id limit ${limit}`
}

/** Returns some pages in a state, newest first; `before` is the last id of the previous ones. */
export function listPages(
  db: Db,
  page: {
    state: PageState
    /** A host, or a domain of it. */
    host: string | undefined
    before: string | undefined
    limit: number
  },
): Promise<Page[]> {
  return rowsOf(db)`
    select ${columns} from pages
    where state = ${page.state} and (${page.before}::uuid is null or id < ${page.before}::uuid)
      and (${page.host}::text is null or ${isAt(page.host ?? '')})
    order by id desc limit ${page.limit}`
}

function isAt(name: string): Sql {
  return sql`(host = ${name} or right(host, length(${name}) + 1) = '.' || ${name})`
}

/** Returns the ids of the confirmed pages of a host, of a domain and its hosts, or with a key. */
export function listConfirmedAt(db: Db, name: string, limit: number): Promise<string[]> {
  return valuesOf(db)`
    select id from pages where state = 'confirmed' and (key = ${name} or ${isAt(name)})
    order by key limit ${limit}`
}

/** What the reports of a page are worth. */
export type PageEvidence = {
  pageId: string
  reporters: number
  /** Reporters who called it phishing, and those of them who are proven. */
  accusing: number
  proven: number
  /** Reporters whose messages support that by their content. */
  supported: number
}

export function sumPageReports(db: Db, pageIds: readonly string[]): Promise<PageEvidence[]> {
  return rowsOf(db)`
    select page_id as "pageId", count(distinct reporter_id)::integer as reporters,
      (count(distinct reporter_id) filter (where is_accusing))::integer as accusing,
      (count(distinct reporter_id) filter (where is_accusing and is_proven))::integer as proven,
      (count(distinct reporter_id) filter (where is_supported))::integer as supported
    from page_reports where page_id = any(${pageIds}::uuid[]) group by page_id`
}
