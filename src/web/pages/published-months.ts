import type { App } from '../../app.ts'
import { listMonths, publishesStatistics } from '../../db/month-figures.ts'
import type { MonthFigures } from '../../reports/month-figures.ts'

/** A month (its first day) with its figures. */
export type PublishedMonth = MonthFigures & { month: string }

/** The figures for the public, from the memory of the process. */
export type Statistics = {
  /** False while the database is unavailable. */
  isPublic: () => Promise<boolean>
  /** The months with enough reports, oldest first. */
  months: () => Promise<readonly PublishedMonth[]>
  /** Reads the database at the next call, because this process changed it. */
  forget: () => void
}

const SWITCH_FRESH_MS = 10_000
const MONTHS_FRESH_MS = 300_000

/** Returns the statistics, which all requests of a process share. */
export function createStatistics({ pool, clock }: Pick<App, 'pool' | 'clock'>): Statistics {
  const [isPublic, months] = [
    remembered(() => publishesStatistics(pool), SWITCH_FRESH_MS),
    remembered(() => listMonths<MonthFigures>(pool), MONTHS_FRESH_MS),
  ]
  return {
    isPublic: () => isPublic.get(clock()).catch(() => false),
    async months() {
      const stored = await months.get(clock())
      return stored.flatMap(({ month, figures }) => (figures ? [{ month, ...figures }] : []))
    },
    forget() {
      isPublic.forget()
      months.forget()
    },
  }
}

/** Calls `read` at most once per period, also after a failure. */
function remembered<T>(read: () => Promise<T>, freshMs: number) {
  let known: { value: Promise<T>; at: number } | undefined
  return {
    get(now: Date): Promise<T> {
      if (!known || now.getTime() - known.at >= freshMs)
        known = { value: read(), at: now.getTime() }
      return known.value
    },
    forget() {
      known = undefined
    },
  }
}
