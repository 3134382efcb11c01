import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countAttempts, type RateLimit } from '../../../src/db/limits.ts'
import { decideAttempt, storedKey } from '../../../src/people/limits.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { freshDatabase } from '../../support/database.ts'

let keys = 0
const WINDOW_MS = 60_000
const start = Math.ceil(Date.now() / WINDOW_MS + 1) * WINDOW_MS

const database = await closeAfterTests(freshDatabase())

function limitOf(attemptsMax: number): RateLimit {
  const kinds = { attempt: 'read', keyKind: 'reporter', behavior: 'refuse' } as const
  return { name: 'a', windowMs: WINDOW_MS, attemptsMax, ...kinds }
}

/** Returns for each attempt whether it is admitted, as counted by `countAttempts` in a database. */
async function admittedOf(limit: RateLimit, atMs: readonly number[]): Promise<boolean[]> {
  const key = storedKey(Buffer.from('a secret'), [++keys])
  const answers: boolean[] = []
  for (const at of atMs) {
    const counting = { key, windowMs: WINDOW_MS, amount: 1 }
    const [counted] = await countAttempts(database.pool, [counting], new Date(start + at))
    if (!counted) throw new Error('Nothing was counted.')
    answers.push(decideAttempt(limit, counted, { cost: 1, later: 0 }).isAdmitted)
  }
  return answers
}

/** Counts the attempts in the window that ends at `end`, or in one that is `overMs` longer. */
function within(atMs: readonly number[], end: number, overMs = 0): number {
  return atMs.filter((at) => at > end - WINDOW_MS - overMs && at <= end).length
}

const gaps = fc.array(
  fc.oneof(
    fc.integer({ min: 0, max: 50 }),
    fc.integer({ min: 900, max: 1_100 }),
    fc.integer({ min: 0, max: 20_000 }),
    fc.integer({ min: 58_000, max: 63_000 }),
  ),
  { minLength: 1, maxLength: 60 },
)

test('it is never more lenient than an exact log, and at most a sixtieth stricter', async () => {
  const property = fc.asyncProperty(gaps, fc.integer({ min: 1, max: 12 }), async (steps, most) => {
    let now = 0
    const atMs = steps.map((step) => (now += step))
    const admitted = await admittedOf(limitOf(most), atMs)
    atMs.forEach((at, index) => {
      const before = atMs.slice(0, index + 1)
      // An attempt that is accepted although the log of the exact window is full shows that the
      // limit is too lenient.
      if (admitted[index]) expect(within(before, at)).toBeLessThanOrEqual(most)
      // An attempt that is refused although a window longer by a sixtieth is not full shows that
      // the limit is too strict.
      else expect(within(before, at, WINDOW_MS / 60)).toBeGreaterThan(most)
    })
  })
  await fc.assert(property, { numRuns: 60 })
})

test('a steady stream of 59/60 of the limit is never refused', async () => {
  const most = 120
  const everyMs = WINDOW_MS / ((most * 59) / 60)
  const atMs = Array.from({ length: 400 }, (_, index) => Math.floor(index * everyMs))
  expect(await admittedOf(limitOf(most), atMs)).not.toContain(false)
})
