import { gatedTypes } from '../../src/analysis/shingles/piece-types.ts'
import { laterShingles } from '../../src/analysis/shingles/later-shingles.ts'
import { appendDeltas } from '../../src/counters/append-deltas.ts'
import { incrementsOf, type Addition } from '../../src/counters/increments-of.ts'
import type { Db } from '../../src/db/pool.ts'
import { analysisOf, type Written } from './shingles.ts'

/** A message as it is reported by somebody. */
export type Counted = {
  message: Written
  reporterId: string
  originAsn?: number
  addition: Addition
}

/** Appends what reports count of their messages, as a roll-up finds it; the real taking apart. */
export async function countMessages(
  db: Db,
  counted: readonly Counted[],
  now: Date,
): Promise<void> {
  for (const { message, reporterId, originAsn, addition } of counted) {
    const { shingles } = await analysisOf(message)
    const all = [...shingles, ...laterShingles(shingles, { reporterId, originAsn })]
    await appendDeltas(db, incrementsOf(all, addition, gatedTypes), now)
  }
}
