import { columns, type ConfirmedPage } from './pages.ts'
import type { Db } from './pool.ts'
import { rowsOf, valuesOf } from './rows.ts'

/** A page that was in the feeds, and no longer is. */
export type EndedPage = Pick<ConfirmedPage, 'id' | 'url' | 'host' | 'scope' | 'confirmedAt'> & {
  /** Null for a page that was not reported any more. */
  clearedAt: Date | null
  /** The last report, or the confirmation if it came later. */
  lastAt: Date
}

/**
 * Returns the pages that were cleared since an instant, and those that expired: confirmed ones with
 * their last report or confirmation between two instants. In the order of their ids, after `after`;
 * only those whose exact URL independent reporters received.
 */
export function readEndedPages(
  db: Db,
  which: { clearedSince: Date; lastAt: { from: Date; to: Date }; after?: string; limit: number },
): Promise<EndedPage[]> {
  return rowsOf(db)`
    select id, url, host, scope, confirmed_at as "confirmedAt", cleared_at as "clearedAt",
      greatest(confirmed_at, last_seen) as "lastAt"
    from pages
    where shared and confirmed_at is not null and (cleared_at >= ${which.clearedSince}
        or state = 'confirmed' and greatest(confirmed_at, last_seen) >= ${which.lastAt.from}
          and greatest(confirmed_at, last_seen) <= ${which.lastAt.to})
      and (${which.after}::uuid is null or id > ${which.after}::uuid)
    order by id limit ${which.limit}`
}

/** Returns a value that changes when pages are confirmed, or are confirmed no longer. */
export async function readPageEdition(db: Db): Promise<string> {
  const [edition = ''] = await valuesOf(db)<string>`
    select count(*) || ' ' || coalesce(max(confirmed_at)::text, '') from pages
    where state = 'confirmed' and shared`
  return edition
}

const OF_HOSTS_MAX = 100

/**
 * Returns confirmed pages of hosts, or with some keys, at most 100, whose URL independent reporters
 * received.
 */
export function findSharedPages(
  db: Db,
  { hosts = [], keys = [] }: { hosts?: readonly string[]; keys?: readonly string[] },
): Promise<ConfirmedPage[]> {
  if (hosts.length + keys.length === 0) return Promise.resolve([])
  return rowsOf(db)`select ${columns} from pages
    where (host = any(${hosts}::text[]) or key = any(${keys}::text[]))
      and state = 'confirmed' and shared
    order by id desc limit ${OF_HOSTS_MAX}`
}
