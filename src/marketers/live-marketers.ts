import { follow } from '../db/follow.ts'
import { findRegistryVersion, listActingMarketers } from '../db/marketers.ts'
import type { Pool } from '../db/pool.ts'
import type { Logger } from '../log.ts'
import { createMarketerBook, type MarketerBook } from '../pieces/marketer.ts'

/** The marketers that are recognized in one process. */
export type LiveMarketers = {
  /** The present ones. Take them once for each batch. */
  current: () => MarketerBook
  close: () => Promise<void>
}

/**
 * Loads the registry of marketers, and from then on follows it: each process within a second and
 * what loading takes. While the database is away, nothing changes.
 *
 * @throws when the database is away at the beginning
 */
export async function openMarketers({
  pool,
  log,
}: {
  pool: Pool
  log: Pick<Logger, 'info' | 'warn'>
}): Promise<LiveMarketers> {
  let book = createMarketerBook([])
  let seen = 0

  async function look(): Promise<void> {
    // The version first: what changes in between is loaded once more.
    const version = await findRegistryVersion(pool)
    if (version === seen) return
    book = createMarketerBook(await listActingMarketers(pool))
    seen = version
    log.info({ version, marketers: book.count }, 'The registry of marketers was taken.')
  }

  const following = await follow(look, (error) =>
    log.warn({ err: error }, 'The marketers could not be looked up.'),
  )
  return { current: () => book, close: following.close }
}
