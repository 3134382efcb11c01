import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { appendDeltas, reversal } from '../../../src/counters/append-deltas.ts'
import { createGates } from '../../../src/counters/gate/gate.ts'
import type { Increment } from '../../../src/counters/increment.ts'
import { rollUp } from '../../../src/counters/roll-up.ts'
import { storedModel } from '../../support/counter-rows.ts'
import { freshDatabase, type TestDatabase } from '../../support/database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.close())

const start = new Date('2026-11-18T12:34:56Z')
const HOUR_MS = 3_600_000
const after = (hours: number) => new Date(start.getTime() + hours * HOUR_MS)
/** Of shard 0, each test another. */
let shingle = 0n

function report(hours: number): Increment {
  return { prefix: 'reports', shingle, spam: 1, complaint: 1, gated: true, at: after(hours) }
}

async function count(gates: ReturnType<typeof createGates>, hours: number, ...all: Increment[]) {
  await appendDeltas(database.pool, all, after(hours))
  await rollUp(database.pool, 0, after(hours), gates)
}

const retract = (hours: number, one: Increment) => reversal([one], after(hours))

/** Spam and redemptions by day and by slot; undefined while there is no row. */
async function stored() {
  const model = await storedModel(database.pool)
  const of = (granularity: string) =>
    [...model]
      .filter(([bucket]) => bucket.startsWith(`${shingle}/reports/${granularity}/`))
      .map(([, [, spam, , redeemed]]) => ({ spam: Number(spam), redeemed: Number(redeemed) }))
  const [days, slots] = [of('day'), of('slot')]
  if (days.length + slots.length === 0) return undefined
  const sum = (buckets: typeof days, kind: 'spam' | 'redeemed') =>
    buckets.reduce((total, one) => total + one[kind], 0)
  return {
    spam: sum(days, 'spam'),
    redeemed: sum(days, 'redeemed'),
    least: Math.min(...[...days, ...slots].map(({ spam }) => spam)),
  }
}

test('what is taken back while it is held back leaves its redemption only', async () => {
  shingle = 1n
  const gates = createGates(3)
  await count(gates, 0, report(0))
  expect(await stored()).toBeUndefined()
  await count(gates, 1, ...retract(1, report(0)))
  expect(await stored()).toEqual({ spam: 0, redeemed: 1, least: 0 })
  await count(gates, 2, report(2))
  expect(await stored()).toMatchObject({ spam: 1, redeemed: 1 })
})

test('of two that are held back, the one that is not taken back counts', async () => {
  shingle = 2n
  const gates = createGates(3)
  await count(gates, 0, report(0), report(0))
  await count(gates, 1, ...retract(1, report(0)))
  expect(await stored()).toEqual({ spam: 1, redeemed: 1, least: 0 })
})

test('what was credited later is taken back where it was credited', async () => {
  shingle = 3n
  const gates = createGates(3)
  await count(gates, 0, report(0))
  await count(gates, 13, report(13))
  await count(gates, 14, report(14))
  expect(await stored()).toMatchObject({ spam: 3 })
  await count(gates, 15, ...retract(15, report(0)))
  expect(await stored()).toEqual({ spam: 2, redeemed: 1, least: 0 })
})

test('what the gate has forgotten cannot be taken back below zero', async () => {
  shingle = 4n
  await count(createGates(3), 0, ...retract(0, report(0)))
  expect(await stored()).toEqual({ spam: 0, redeemed: 1, least: 0 })
})

test('an analysis that is done again does not show the gate a message twice', async () => {
  shingle = 5n
  const gates = createGates(3)
  await count(gates, 0, report(0))
  const again = { ...report(0), spam: -1, complaint: -1 }
  for (let times = 0; times < 4; times++) await count(gates, 1, again, report(0))
  expect(await stored()).toBeUndefined()
})

test('whatever comes and goes, the sum is of what stands once the key has passed', async () => {
  const step = fc.record({ isBack: fc.boolean(), hours: fc.nat(9), together: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      shingle += 101n
      const gates = createGates(3)
      const standing: Increment[] = []
      let waiting: Increment[] = []
      let hours = 0
      let redeemed = 0
      for (const { isBack, hours: passed, together } of steps) {
        hours += passed / 4
        const gone = isBack ? standing.shift() : undefined
        if (gone) redeemed++
        else standing.push(report(hours))
        waiting.push(...(gone ? retract(hours, gone) : standing.slice(-1)))
        if (together) continue
        await count(gates, hours, ...waiting)
        waiting = []
      }
      await count(gates, hours, ...waiting)
      const found = await stored()
      if (found) expect(found).toMatchObject({ spam: standing.length, redeemed })
      else
        expect({ standing: standing.length < 3, redeemed }).toEqual({ standing: true, redeemed: 0 })
      expect(found?.least ?? 0).toBeGreaterThanOrEqual(0)
    }),
    { numRuns: 40 },
  )
})
