import { columns, type ConfirmedPage } from './pages.ts'
import type { Db } from './pool.ts'
import { rowsOf, valuesOf } from './rows.ts'

/** A page that was confirmed before it was cleared. */
export type ClearedPage = {
  id: string
  url: string
  host: string
  scope: 'host' | 'path'
  confirmedAt: Date
  clearedAt: Date
}

/**
 * Returns the pages that were cleared since an instant, in the order of their ids, whose exact URL
 * independent reporters received.
 */
export function readClearedPages(
  db: Db,
  which: { since: Date; limit: number },
): Promise<ClearedPage[]> {
  return rowsOf(db)`
    select id, url, host, scope, confirmed_at as "confirmedAt", cleared_at as "clearedAt" from pages
    where state = 'cleared' and shared and confirmed_at is not null
      and cleared_at >= ${which.since}
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

/** Returns confirmed pages of hosts, at most 100, whose URL independent reporters received. */
export function findSharedPages(db: Db, hosts: readonly string[]): Promise<ConfirmedPage[]> {
  if (hosts.length === 0) return Promise.resolve([])
  return rowsOf(db)`select ${columns} from pages
    where host = any(${hosts}::text[]) and state = 'confirmed' and shared
    order by id desc limit ${OF_HOSTS_MAX}`
}
