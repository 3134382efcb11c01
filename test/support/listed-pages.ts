import { type Page, touchPages, updatePage } from '../../src/db/pages.ts'
import type { Db } from '../../src/db/pool.ts'
import { uuidv7 } from '../../src/world.ts'

/** A page of a test. By default a person confirmed it now, and its URL is shared. */
export type GivenPage = { url: string; at: Date } & Partial<Page>

/** Stores confirmed pages, as if they had been reported; returns them. */
export async function confirmPages(db: Db, given: readonly GivenPage[]): Promise<Page[]> {
  const pages: Page[] = []
  for (const { url, at, ...change } of given) {
    const { host, pathname } = new URL(url)
    const seen = { id: uuidv7(at), key: `${host}${pathname}`, url, host, lastSeen: at, through: [] }
    const kind = { scope: 'host', type: 'phishing', imitates: null } as const
    const [page] = await touchPages(db, [{ ...seen, ...kind, ...change }])
    if (!page) throw new Error('The page is missing.')
    const confirmed = { state: 'confirmed', confirmedBy: 'person', confirmedAt: at } as const
    const whole: Page = { ...page, ...confirmed, shared: true, reports: 3, ...change }
    await updatePage(db, whole)
    pages.push(whole)
  }
  return pages
}
