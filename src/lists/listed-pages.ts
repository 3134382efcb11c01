import type { App } from '../app.ts'
import { type EndedPage, findSharedPages, readEndedPages } from '../db/page-feeds.ts'
import { type ConfirmedPage, readSharedPages } from '../db/pages.ts'
import type { Db } from '../db/pool.ts'
import { DAY_MS } from '../durations.ts'
import { accusable } from '../phishing/accusable.ts'
import { pageKey } from '../phishing/askable-host.ts'
import { pageTarget } from '../phishing/page-target.ts'
import type { Listing, PublicListing } from '../verdict/lists/list.ts'
import type { OwnNames } from '../verdict/lists/spare.ts'
import { exemptedAmong, PAGE } from './renew-listings.ts'

/** Days after the last report or the confirmation for which a page is listed. */
const PAGE_DAYS = 7

/** Days for which a page that is no longer listed is named to those who keep what they read. */
const ENDED_DAYS = 30

/** The number of independent reporters who received the URL of each listed page. */
const SHARING_REPORTERS = 3

/** Maximum number of listed pages, the oldest first. Feeds and checks keep them in memory. */
const LISTED_PAGES_MAX = 100_000

/**
 * Yields the pages that are listed at an instant, in the order of their ids: confirmed, with a URL
 * that independent reporters share, and reported lately. Leaves out those of exempted hosts, and
 * those that may no longer be accused by the data of this version, which also decides between the
 * host and the path.
 */
export async function* listedPages(
  { pool }: Pick<App, 'pool'>,
  { own, now }: { own: OwnNames; now: Date },
): AsyncGenerator<ConfirmedPage[]> {
  let [left, after] = [LISTED_PAGES_MAX, undefined as string | undefined]
  while (left > 0) {
    const some = after === undefined ? {} : { after }
    const read = await readSharedPages(pool, { limit: PAGE, ...some })
    const listed = (await keepListed(pool, read, { own, now })).slice(0, left)
    left -= listed.length
    yield listed
    after = read.at(-1)?.id
    if (read.length < PAGE) return
  }
}

/**
 * Yields the pages that left the lists in the last 30 days, in the order of their ids: cleared, or
 * reported for the last time a week before. `endedAt`: when each of them left.
 */
export async function* endedPages(
  { pool }: Pick<App, 'pool'>,
  now: Date,
): AsyncGenerator<(EndedPage & { endedAt: Date })[]> {
  const ago = (days: number) => new Date(now.getTime() - days * DAY_MS)
  const lastAt = { from: ago(PAGE_DAYS + ENDED_DAYS), to: ago(PAGE_DAYS) }
  let after: string | undefined
  do {
    const some = after === undefined ? {} : { after }
    const which = { clearedSince: ago(ENDED_DAYS), lastAt, limit: PAGE, ...some }
    const read = await readEndedPages(pool, which)
    yield read.map((page) => ({ ...page, endedAt: page.clearedAt ?? endAfter(page.lastAt) }))
    after = read.length < PAGE ? undefined : read.at(-1)?.id
  } while (after !== undefined)
}

/** Returns those of some confirmed pages with a shared URL that are listed. */
async function keepListed(
  db: Db,
  pages: readonly ConfirmedPage[],
  { own, now }: { own: OwnNames; now: Date },
): Promise<ConfirmedPage[]> {
  const fresh = pages.filter((page) => endOf(page) > now)
  const hosts = fresh.map(({ host }) => host)
  const exempted = await exemptedAmong(db, hosts, now)
  return fresh.filter(({ host }) => !exempted(host)).flatMap((page) => present(page, own) ?? [])
}

/** When a page leaves the feeds if nobody reports it again. */
function endOf({ confirmedAt, lastSeen }: ConfirmedPage): Date {
  return endAfter(confirmedAt > lastSeen ? confirmedAt : lastSeen)
}

function endAfter(lastAt: Date): Date {
  return new Date(lastAt.getTime() + PAGE_DAYS * DAY_MS)
}

/**
 * Returns what the public may know about the pages, and the hosts, that are listed for confirmed
 * pages and have one of some names.
 */
export async function findListedPages(
  db: Db,
  named: readonly Pick<PublicListing, 'list' | 'name'>[],
  now: Date,
): Promise<PublicListing[]> {
  const namesIn = (its: PublicListing['list']) =>
    named.flatMap(({ list, name }) => (list === its ? [name] : []))
  const paths = await findListedPaths(db, namesIn('pages'), now)
  return [...paths, ...(await findListedHosts(db, namesIn('hosts'), now))]
}

/**
 * Returns what the public may know about hosts that are listed as a whole for their pages, as an
 * entry of the list of hosts.
 */
async function findListedHosts(db: Db, names: readonly string[], now: Date): Promise<Listing[]> {
  const shared = await findSharedPages(db, { hosts: names })
  const pages = await keepListed(db, shared, { own: [], now })
  const byHost = Map.groupBy(
    pages.filter(({ scope }) => scope === 'host'),
    ({ host }) => host,
  )
  return [...byHost].map(([name, its]) => ({ list: 'hosts', name, ...entryOf(its) }))
}

/**
 * Returns what the public may know about pages that are listed by their path, to which some links
 * lead. Their names are host and path, with placeholders where recipients have tokens.
 */
async function findListedPaths(
  db: Db,
  links: readonly string[],
  now: Date,
): Promise<PublicListing[]> {
  const shared = await findSharedPages(db, { keys: links.flatMap((link) => keyOfLink(link) ?? []) })
  const pages = await keepListed(db, shared, { own: [], now })
  return pages
    .filter(({ scope }) => scope === 'path')
    .map((page) => ({ list: 'pages', name: page.key, ...entryOf([page]) }))
}

function keyOfLink(link: string): string | undefined {
  const url = pageTarget(link)?.url
  const accused = url && accusable(url, [])
  return !accused || 'spared' in accused ? undefined : pageKey(url, accused)
}

function entryOf(pages: readonly ConfirmedPage[]): Omit<Listing, 'list' | 'name'> {
  const latest = (times: readonly Date[]) => new Date(Math.max(...times.map(Number)))
  return {
    ...{ times: 1, delistedAt: null, delistedReporters: null },
    category: pages.some(({ type }) => type === 'malware') ? 'malware' : 'phishing',
    since: new Date(Math.min(...pages.map(({ confirmedAt }) => confirmedAt.getTime()))),
    until: latest(pages.map(endOf)),
    lastSeen: latest(pages.map(({ lastSeen }) => lastSeen)),
    reportersAtLeast: SHARING_REPORTERS,
  }
}

/** The page with what may be accused now; undefined if nothing may be. */
function present(page: ConfirmedPage, own: OwnNames): ConfirmedPage | undefined {
  const url = URL.parse(page.url)
  const accused = url ? accusable(url, own) : undefined
  if (!accused || 'spared' in accused) return undefined
  // What was accused when the page was confirmed is never extended.
  return accused.scope === 'path' ? { ...page, scope: 'path' } : page
}
