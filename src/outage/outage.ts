import { setTimeout as wait } from 'node:timers/promises'
import { isOutage } from '../db/follow.ts'
import { isWritable } from '../db/installation.ts'
import { BusyError } from '../errors.ts'
import type { Logger } from '../log.ts'
import { type Clock, inTime } from '../world.ts'

/** Whether the database, or the main installation of a front, is away as this process sees it. */
export type Outage = {
  /** When it went away; undefined while it answers. */
  since: () => Date | undefined
  /**
   * Runs `work`; during an outage, or if one begins during `work`, runs `instead`. `work` may have
   * taken effect in spite of an error.
   */
  run: <T>(work: () => Promise<T>, instead: () => T | Promise<T>) => Promise<T>
  close: () => Promise<void>
}

/** Time in milliseconds after which a database that does not answer counts as away. */
const SILENT_MS = 10_000
const PROBE_MS = 1_000
const silent = Symbol('silent')

/** What may be away. */
export type Watched = {
  /** Whether an error says that it is away. */
  isOutage: (error: unknown) => boolean
  /** Whether it answers again. */
  isBack: () => Promise<boolean>
  /** Sentences for the log. */
  messages: { away: string; back: string }
  /** Why it is away, if that is known. */
  reason?: () => string
}

/** The database, as something that may be away. */
export function watchedDatabase({ databaseUrl }: { databaseUrl: string }): Watched {
  return {
    isOutage,
    isBack: () => isWritable(databaseUrl),
    messages: {
      away: 'The database is away. New reports are stored on disk.',
      back: 'The database answers again.',
    },
  }
}

/**
 * Watches for outages, usually of the database. During one, no request waits for it: one probe each
 * second looks whether it is back. Calls `onBegin` when an outage begins.
 */
export function createOutage(
  app: { clock: Clock; log: Logger },
  watched: Watched,
  onBegin: () => void = () => undefined,
): Outage {
  const stop = new AbortController()
  let since: Date | undefined
  let probing: Promise<void> | undefined

  async function probe(): Promise<void> {
    while (since && !stop.signal.aborted) {
      await wait(PROBE_MS, undefined, { signal: stop.signal, ref: false }).catch(() => undefined)
      if (stop.signal.aborted || !(await watched.isBack())) continue
      app.log.info({ since }, watched.messages.back)
      since = undefined
    }
  }

  function begin(): void {
    if (since) return
    since = app.clock()
    app.log.warn({ reason: watched.reason?.() }, watched.messages.away)
    onBegin()
    probing = probe()
  }

  return {
    since: () => since,
    async run(work, instead) {
      if (since) return instead()
      try {
        const result = await inTime(work(), SILENT_MS, silent)
        if (result !== silent) return result
      } catch (error) {
        if (!watched.isOutage(error)) throw error
      }
      begin()
      return instead()
    },
    async close() {
      stop.abort()
      await probing
    },
  }
}

/** The outage of a process without a database: a front, or one that starts during an outage. */
export function endlessOutage(began: Date): Outage {
  return {
    since: () => began,
    run: (_work, instead) => Promise.resolve().then(instead),
    close: () => Promise.resolve(),
  }
}

/** Takes the place of a database that is always asked, where no spool is. */
export const noOutage: Pick<Outage, 'since' | 'run'> = {
  since: () => undefined,
  run: (work) => work(),
}

/** The refusal of what cannot be done without the database. */
export function needsDatabase(): BusyError {
  const advice = 'Nothing was stored. Try again shortly.'
  return new BusyError(`The database is temporarily unavailable. ${advice}`, 5)
}
