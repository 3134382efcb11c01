import { follow } from '../db/follow.ts'
import type { Pool } from '../db/pool.ts'
import type { Logger } from '../log.ts'
import { createMarketerBook, type MarketerBook } from '../pieces/marketer.ts'
import { listRecognized } from './registry.ts'

/** The marketers that a process recognizes. */
export type LiveMarketers = {
  /** Returns the current marketers. Call it once for each batch. */
  current: () => MarketerBook
  close: () => Promise<void>
}

/**
 * Loads the registry of marketers and follows its changes: they take effect in each process within
 * a second plus the time of loading. While the database is unavailable, the last loaded state stays
 * in use.
 *
 * @throws when the database is unavailable at the first load
 */
export async function openMarketers({
  pool,
  log,
}: {
  pool: Pool
  log: Pick<Logger, 'info' | 'warn'>
}): Promise<LiveMarketers> {
  let book = createMarketerBook([])
  // The version is read first, so that a change made during the load is loaded again.
  const following = await follow(pool, 'marketers', {
    async load(version) {
      book = createMarketerBook(await listRecognized(pool))
      log.info({ version, marketers: book.count }, 'Loaded the registry of marketers.')
    },
    onFailure: (err) =>
      log.warn({ err }, 'Could not read the registry of marketers from the database.'),
  })
  return { current: () => book, close: following.close }
}
