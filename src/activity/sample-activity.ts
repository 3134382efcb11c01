import { lockActivity, seriesIds, type SlotRow, upsertSlots } from '../db/activity.ts'
import { inTransaction } from '../db/pool.ts'
import type { App } from '../app.ts'
import { deleteSampleActivity, families, sampleFamily } from './families.ts'
import { levels, packSlot, type Slot, slotStart, TICK_MS } from './slots.ts'
import { longerSlots } from './write-activity.ts'

/** What happened in ten minutes of the past, by the names of the series. */
export type SampleSlot = {
  at: Date
  counts: Readonly<Record<string, number>>
  states: Readonly<Record<string, number>>
  /** Histograms, see `durationBounds`. */
  durations: Readonly<Record<string, number[]>>
}

/** The level of slots of ten minutes. */
const LEVEL = 2
export const SAMPLE_STEP_MS = levels[LEVEL]?.stepMs ?? 0

/**
 * Stores the activity of sample data: slots of ten minutes that follow each other, and the longer
 * ones made of them. It is in families of its own, which graphs add to what really happened.
 * Replaces earlier samples.
 */
export async function writeSampleActivity(
  { pool }: Pick<App, 'pool'>,
  slots: readonly SampleSlot[],
  now: Date,
): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await lockActivity(tx)
    await deleteSampleActivity(tx)
    const names = slots.flatMap(({ counts, states, durations }) => [
      ...[...Object.keys(counts), ...Object.keys(states), ...Object.keys(durations)],
    ])
    const ids = await seriesIds(tx, [...new Set(names)].toSorted(), now)
    let rows = slots.flatMap((slot) => rowsOf(slot, ids))
    for (let level = LEVEL; level < levels.length; level++) {
      if (level > LEVEL) rows = longerSlots(rows, level)
      const { stepMs, keepMs } = levels[level] ?? { stepMs: 0, keepMs: 0 }
      const oldest = now.getTime() - keepMs
      // A slot that has not ended yet is read from shorter ones.
      const ended = ({ at }: SlotRow) => at.getTime() + stepMs <= now.getTime()
      await upsertSlots(
        tx,
        rows.filter((row) => row.at.getTime() >= oldest && ended(row)),
      )
    }
  })
}

function rowsOf({ at, counts, states, durations }: SampleSlot, ids: Map<string, number>) {
  const ticks = SAMPLE_STEP_MS / TICK_MS
  const rate = (amount: number) => ({ count: ticks, min: 0, mean: amount / ticks, max: amount })
  const state = (value: number) => ({ count: ticks, min: value, mean: value, max: value })
  const ofFamily = <From, To>(
    some: Readonly<Record<string, From>>,
    family: string,
    to: (one: From) => To,
  ) =>
    new Map(
      Object.entries(some).flatMap(([name, one]): [number, To][] => {
        const id = ids.get(name)
        return id !== undefined && name.startsWith(`${family}/`) ? [[id, to(one)]] : []
      }),
    )
  return families.map((family): SlotRow => {
    const slot: Slot = {
      ticks,
      rates: ofFamily(counts, family, rate),
      states: ofFamily(states, family, state),
      durations: ofFamily(durations, family, (one) => one),
    }
    const start = new Date(slotStart(at.getTime(), SAMPLE_STEP_MS))
    const content = packSlot(slot)
    return { level: LEVEL, at: start, family: sampleFamily(family), ticks, content }
  })
}
