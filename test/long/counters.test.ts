import { expect, test } from 'vitest'
import { chanceFrom } from '../support/chance.ts'
import { tortureCounters } from '../support/counter-torture.ts'

const ROUNDS = 5

test('each increment is counted exactly once, whichever process is killed', async () => {
  const seed = Number(process.env['KILL_SEED'] ?? Date.now() % 1_000_000)
  console.info(`counters: KILL_SEED=${seed}`)
  const { kills, batches, buckets, wrong } = await tortureCounters(ROUNDS, chanceFrom(seed))
  expect(kills).toHaveLength(ROUNDS)
  expect(batches).toBeGreaterThan(0)
  expect(buckets).toBeGreaterThan(1_000)
  expect(wrong).toEqual([])
})
