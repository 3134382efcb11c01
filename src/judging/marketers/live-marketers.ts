import { createMarketerBook, type MarketerBook } from '../../analysis/marketer.ts'
import { findRegistryVersion, listActingMarketers } from '../../db/marketers.ts'
import type { Pool } from '../../db/pool.ts'
import type { Logger } from '../../log.ts'

/** The marketers that are recognized in one process. */
export type LiveMarketers = {
  /** The present ones. Take them once for each batch. */
  current: () => MarketerBook
  close: () => Promise<void>
}

/** How often it is asked whether the registry changed: half of the two seconds it may take. */
const LOOK_MS = 800

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
  let isClosed = false
  let complaint = false
  let timer: NodeJS.Timeout | undefined

  async function look(): Promise<void> {
    // The version first: what changes in between is loaded once more.
    const version = await findRegistryVersion(pool)
    if (version === seen) return
    book = createMarketerBook(await listActingMarketers(pool))
    seen = version
    log.info({ version, marketers: book.count }, 'The registry of marketers was taken.')
  }

  function lookLater(): void {
    timer = setTimeout(() => {
      looking = look()
        .then(() => void (complaint = false))
        .catch((error: unknown) => {
          if (!complaint) log.warn({ err: error }, 'The marketers could not be looked up.')
          complaint = true
        })
        .finally(() => {
          if (!isClosed) lookLater()
        })
    }, LOOK_MS)
    timer.unref()
  }

  let looking: Promise<void> = look()
  await looking
  lookLater()
  return {
    current: () => book,
    async close() {
      isClosed = true
      clearTimeout(timer)
      await looking.catch(() => undefined)
    },
  }
}
