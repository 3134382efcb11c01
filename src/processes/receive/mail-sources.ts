import type { App } from '../../app.ts'
import {
  addToSourceDays,
  listMailSources,
  type MailSource,
  type SourceDay,
} from '../../db/mail-sources.ts'
import { dateOf } from '../../durations.ts'
import { withoutData } from '../../errors.ts'
import { createThrottle } from '../../people/throttle.ts'

/** The spam traps and feedback loops, as this process knows them. */
export type MailSources = {
  /**
   * Returns the source of an address: of the address itself, or of its domain. Rejects if the
   * database is unavailable.
   */
  find: (address: string) => Promise<MailSource | undefined>
  /** Whether the address was a trap when the sources were last read. */
  isTrap: (address: string) => boolean
  /**
   * Counts a mail to a trap. Returns whether it is above the limits; then it is not stored, only
   * counted.
   */
  isAbove: (trap: string, bytes: number) => boolean
  close: () => Promise<void>
}

/** The limits of each trap, and of all traps together, in one process. */
export type TrapLimits = { mailsPerMinute: number; bytesPerMinute: number; allPerMinute: number }

const FRESH_MS = 10_000
const FLUSH_MS = 5_000
const TRAPS_MAX = 10_000

/** Returns the lookup of sources; they are read again after ten seconds. */
export function mailSourcesOf({ pool }: Pick<App, 'pool'>): Pick<MailSources, 'find' | 'isTrap'> {
  let known: { byAddress: Promise<ByAddress>; readMs: number } | undefined
  let last: ByAddress | undefined

  function read(): Promise<ByAddress> {
    const nowMs = performance.now()
    if (known && nowMs - known.readMs < FRESH_MS) return known.byAddress
    const byAddress = listMailSources(pool).then(
      (rows) => (last = new Map(rows.map((row) => [row.address, row]))),
      (error: unknown) => {
        // While the database is away, the list that was read before is still right.
        if (last) return last
        known = undefined
        throw error
      },
    )
    known = { byAddress, readMs: nowMs }
    return byAddress
  }

  return {
    find: async (address) => findIn(await read(), address),
    isTrap: (address) => (last && findIn(last, address))?.kind === 'trap',
  }
}

type ByAddress = ReadonlyMap<string, MailSource>

function findIn(sources: ByAddress, address: string): MailSource | undefined {
  if (sources.size === 0) return undefined
  const given = address.trim().toLowerCase().replace(/\.$/, '')
  return sources.get(given) ?? sources.get(given.slice(given.lastIndexOf('@')))
}

/**
 * Opens the sources. What is above the limits is stored every five seconds, so a crash loses these
 * counts, but no mail.
 */
export function openMailSources(
  { pool, clock, log }: Pick<App, 'pool' | 'clock' | 'log'>,
  limits: TrapLimits,
): MailSources {
  const tooMany = createThrottle({ perMinute: limits.mailsPerMinute, askersMax: TRAPS_MAX })
  const tooMuch = createThrottle({ perMinute: limits.bytesPerMinute, askersMax: TRAPS_MAX })
  const tooManyInAll = createThrottle({ perMinute: limits.allPerMinute, askersMax: 1 })
  let dropped = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined

  async function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    if (dropped.size === 0) return
    const counts = dropped
    dropped = new Map()
    const day = dateOf(clock())
    const none = { reported: 0, repeated: 0, refused: 0 }
    const days = [...counts].map(([sourceId, count]): SourceDay => {
      return { sourceId, day, received: count, ...none, dropped: count }
    })
    await addToSourceDays(pool, days).catch((error: unknown) => {
      const said = 'Could not store how many mails to spam traps were only counted.'
      log.warn(withoutData(error), said)
    })
  }

  return {
    ...mailSourcesOf({ pool }),
    isAbove(trap, bytes) {
      const now = clock()
      const isWithin =
        tooMany(trap, now) === undefined &&
        tooMuch(trap, now, bytes) === undefined &&
        tooManyInAll('all', now) === undefined
      if (isWithin) return false
      dropped.set(trap, (dropped.get(trap) ?? 0) + 1)
      timer ??= setTimeout(() => void flush(), FLUSH_MS).unref()
      return true
    },
    close: flush,
  }
}
