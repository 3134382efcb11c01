import { SLOT_MS } from '../../../src/counting/keys.ts'
import { appendBlocks } from '../../../src/counting/count-messages.ts'
import { createCheckBuffer } from '../../../src/counting/check-buffer.ts'
import { headOf } from '../../../src/counting/packed/delta-packing.ts'
import { createCounterReader } from '../../../src/counting/reader.ts'
import { systemClock } from '../../../src/world.ts'
import { percentiles, printTable } from '../corpus.ts'
import { appendAll } from './storage.ts'
import {
  clearCounters,
  coresOf,
  keyOf,
  shingleOf,
  type Stage,
  storedBytes,
  uniform,
  untilRolledUp,
  withCpu,
} from './stage.ts'
import type { Increment } from '../../../test/support/increments.ts'

const KEYS = 1_000_000
const SHINGLES = 40
const AT_ONCE = 64

/**
 * Increments and reads the 40 shingles of a message in all windows: first with uniform access and a
 * cache for a tenth of the keys, then with a filled cache for all keys.
 */
export async function benchReading(stage: Stage, seconds: number): Promise<void> {
  const { pool } = stage
  await clearCounters(pool)
  const now = new Date()
  const rollUps = stage.startRollUps()
  await appendAll(pool, history(now), now)
  await untilRolledUp(pool)
  await pool.query('vacuum analyze counters')
  const { bytes } = await storedBytes(pool)
  const table: string[][] = []
  for (const [name, keysMax, keys] of [
    ['memory of a tenth', KEYS / 10, KEYS],
    ['memory of all', 4 * KEYS, KEYS / 4],
  ] as const) {
    const { result, ...cpu } = await withCpu(stage, rollUps.pid, () =>
      drive(stage, { keysMax, keys }, seconds),
    )
    const { perSecond, times } = result
    const { p50, p99 } = percentiles(times)
    table.push([
      name,
      perSecond.toFixed(0),
      `${p50.toFixed(1)} / ${p99.toFixed(1)} ms`,
      coresOf(cpu),
      `${(((cpu.ownCpu + cpu.otherCpu + cpu.serverCpu) / times.length) * 1e6).toFixed(0)} µs`,
    ])
  }
  await untilRolledUp(pool)
  await rollUps.stop()
  console.log(
    `\nIncrement and read ${SHINGLES} shingles; ${KEYS} keys, ${megabytes(bytes)} on disk`,
  )
  const heads = 'cores: source and reader / roll-up / db'
  const times = `p50 / p99 of ${AT_ONCE} at once`
  printTable(['', 'messages a second', times, heads, 'CPU of each'], table)
}

async function drive(
  { pool }: Stage,
  { keysMax, keys }: { keysMax: number; keys: number },
  seconds: number,
): Promise<{ perSecond: number; times: number[] }> {
  const reader = createCounterReader({ pool, clock: systemClock }, { keysMax, freshMs: 600_000 })
  for (let from = 0; from < Math.min(keys, keysMax); from += 5_000) {
    await reader.readWindows(Array.from({ length: 5_000 }, (_, index) => shingleOf(from + index)))
  }
  const append: Parameters<typeof createCheckBuffer>[0]['append'] = (blocks) =>
    appendBlocks(pool, blocks, new Date())
  const failed = (error: unknown) => console.error(error)
  const buffer = createCheckBuffer({ append, clock: systemClock, failed }, 2 ** 20)
  const head = headOf(2, 1, 0)
  const times: number[] = []
  const end = performance.now() + seconds * 1_000
  const one = async () => {
    while (performance.now() < end) {
      const started = performance.now()
      const numbers = Array.from({ length: SHINGLES }, () => uniform(keys))
      for (const number of numbers) buffer.add(keyOf(number), head, 1)
      await reader.readWindows(numbers.map(shingleOf))
      times.push(performance.now() - started)
      await new Promise(setImmediate)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, one))
  await buffer.close()
  return { perSecond: times.length / seconds, times }
}

/**
 * Yields one increment per bucket: a quarter of the keys have seven buckets, the others have one.
 */
function* history(now: Date): Generator<Increment> {
  for (let key = 0; key < KEYS; key++) {
    for (let slot = key % 4 === 0 ? 6 : 0; slot >= 0; slot--) {
      const at = new Date(now.getTime() - slot * 20 * SLOT_MS)
      yield { prefix: 'reports', shingle: shingleOf(key), spam: 1, at }
    }
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`
}
