import type { App } from '../app.ts'
import { lookAgainEvery } from '../db/follow.ts'
import { readPageEdition } from '../db/page-feeds.ts'
import { listedPages } from '../lists/listed-pages.ts'
import { ListedLinks } from '../verdict/facts/page-facts.ts'

/** The listed pages in one process. */
export type LivePages = {
  /** Returns the pages that are listed now. */
  current: () => ListedLinks
  close: () => Promise<void>
}

const LOOK_MS = 30_000
/** Pages that are no longer reported or become exempt change no edition. */
const FRESH_MS = 600_000

/**
 * Loads the listed pages, and follows changes within half a minute. While the database is
 * unreachable, the last ones stay in use.
 *
 * @throws when the database is unreachable
 */
export async function openPages(
  { pool, clock, log }: Pick<App, 'pool' | 'clock' | 'log'>,
  lookMs = LOOK_MS,
): Promise<LivePages> {
  let links = new ListedLinks()
  let [edition, loadedAt] = [undefined as string | undefined, 0]

  async function look(): Promise<void> {
    const now = clock()
    const present = await readPageEdition(pool)
    if (present === edition && now.getTime() - loadedAt < FRESH_MS) return
    const next = new ListedLinks()
    for await (const pages of listedPages({ pool }, { own: [], now })) {
      for (const page of pages) next.add(page)
    }
    if (next.size !== links.size) log.info({ pages: next.size }, 'Loaded the listed pages.')
    ;[links, edition, loadedAt] = [next, present, now.getTime()]
  }

  await look()
  const { close } = lookAgainEvery(lookMs, look, (err) =>
    log.warn({ err }, 'Could not read the listed pages. Will retry.'),
  )
  return { current: () => links, close }
}
