import { packShingles } from '../../src/pieces/shingles/packed-shingles.ts'
import { type ReportContext, withLaterShingles } from '../../src/pieces/shingles/take-apart.ts'
import { type CountedMessage, countMessages } from '../../src/counting/count-messages.ts'
import type { Db } from '../../src/db/pool.ts'
import { analysisOf, type Written } from './shingles.ts'

/** A message and its counts. */
export type CountedWritten = Omit<CountedMessage, 'shingles'> & { written: Written } & ReportContext

/** Appends the counts of messages, as the roll-up expects them. */
export async function countWritten(
  db: Db,
  messages: readonly CountedWritten[],
  now: Date,
): Promise<void> {
  const counted = messages.map(async ({ written, prefix, amounts, at, ...circumstances }) => {
    const packed = packShingles((await analysisOf(written)).shingles)
    return { prefix, amounts, at, shingles: withLaterShingles(packed, circumstances) }
  })
  await countMessages(db, await Promise.all(counted), now)
}
