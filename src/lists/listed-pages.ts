import type { App } from '../app.ts'
import { type ConfirmedPage, readConfirmedPages } from '../db/pages.ts'
import { DAY_MS } from '../durations.ts'
import { accusable } from '../phishing/accusable.ts'
import type { OwnNames } from '../verdict/lists/spare.ts'
import { exemptedAmong, PAGE } from './renew-listings.ts'

/** Days after the last report or the confirmation for which a page is listed. */
const PAGE_DAYS = 7

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
  const since = new Date(now.getTime() - PAGE_DAYS * DAY_MS)
  let [left, after] = [LISTED_PAGES_MAX, undefined as string | undefined]
  while (left > 0) {
    const some = after === undefined ? {} : { after }
    const read = await readConfirmedPages(pool, { sharedOnly: true, limit: PAGE, ...some })
    const fresh = read.filter(({ confirmedAt, lastSeen }) => {
      return confirmedAt > since || lastSeen > since
    })
    const hosts = fresh.map(({ host }) => host)
    const exempted = await exemptedAmong(pool, hosts, now)
    const listed = fresh
      .filter(({ host }) => !exempted(host))
      .flatMap((page) => present(page, own) ?? [])
      .slice(0, left)
    left -= listed.length
    yield listed
    after = read.at(-1)?.id
    if (read.length < PAGE) return
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
