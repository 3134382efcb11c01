import { addHistograms, histogramOf } from './slots.ts'

/** What happened in a process since the tally was last taken, by the names of the series. */
type Tallied = {
  counts: Record<string, number>
  durations: Record<string, number[]>
}

/** Counts what only a process knows, in memory. */
export type Tally = {
  count: (series: string, amount?: number) => void
  /** Adds a duration in milliseconds. */
  time: (series: string, ms: number) => void
  /** Returns what was counted, and starts again from zero. */
  take: () => Tallied
  /** Adds what could not be stored. */
  giveBack: (tallied: Tallied) => void
}

/** Further series of a process are not counted until the tally is taken. */
const SERIES_MAX = 1_000

export function createTally(): Tally {
  let counts = new Map<string, number>()
  let durations = new Map<string, number[]>()
  const add = (series: string, amount: number) => {
    if (!counts.has(series) && counts.size >= SERIES_MAX) return
    counts.set(series, (counts.get(series) ?? 0) + amount)
  }
  const addDurations = (series: string, histogram: readonly number[]) => {
    const known = durations.get(series)
    durations.set(series, known ? addHistograms([known, histogram]) : [...histogram])
  }
  return {
    count: (series, amount = 1) => add(series, amount),
    time: (series, ms) => addDurations(series, histogramOf([ms])),
    take() {
      const taken = {
        counts: Object.fromEntries(counts),
        durations: Object.fromEntries(durations),
      }
      counts = new Map()
      durations = new Map()
      return taken
    },
    giveBack(tallied) {
      for (const [series, amount] of Object.entries(tallied.counts)) add(series, amount)
      for (const [series, one] of Object.entries(tallied.durations)) addDurations(series, one)
    },
  }
}

/** The tally of this process, which `keepActivity` stores every ten seconds. */
export const tally = createTally()
