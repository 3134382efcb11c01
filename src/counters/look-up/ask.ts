import type { Db } from '../../db/pool.ts'
import type { Clock } from '../../world.ts'
import { createCounterReader } from '../reader.ts'
import { headline } from './headline.ts'
import { type Known, lookUp } from './look-up.ts'
import { type Given, readQuestion } from './question.ts'

/** What is known, with its headline; or what is wrong with the question, in words. */
export type Answer = (Known & { summary: string }) | { fault: string }

/** A question takes two queries at most: between them nothing may change. */
const FRESH_MS = 10_000
const KEYS_MAX = 4_000

/**
 * Answers what is known of a link, an address, a subject, a file …, as it stands in the database
 * now. Series for drawing come with the piece that is told, or with all.
 */
export async function ask(
  { pool, clock }: { pool: Db; clock: Clock },
  given: Given,
  series: 'told' | 'all',
): Promise<Answer> {
  const read = readQuestion(given)
  if ('fault' in read) return read
  const reader = createCounterReader({ pool, clock }, { keysMax: KEYS_MAX, freshMs: FRESH_MS })
  const known = await lookUp(reader, read, series)
  return { ...known, summary: headline(known) }
}
