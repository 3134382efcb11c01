import { SLOT_MS } from '../../../src/counting/keys.ts'
import { createCounterReader } from '../../../src/counting/reader.ts'
import { systemClock } from '../../../src/world.ts'
import { printTable } from '../corpus.ts'
import { appendAll } from './storage.ts'
import {
  clearCounters,
  shingleOf,
  type Stage,
  storedBytes,
  uniform,
  untilRolledUp,
  withCpu,
} from './stage.ts'
import type { Increment } from '../../../test/support/increments.ts'

const DAY_MS = 86_400_000
const BUCKETS_A_KEY = 20
const PROBES = 300_000
const MESSAGES = 3_000
const SHINGLES = 40

/** Measures an exact increment and a cold read while the number of keys with 20 buckets grows. */
export async function benchCurve(stage: Stage, bucketsMax: number): Promise<void> {
  const { pool } = stage
  await clearCounters(pool)
  const table: string[][] = []
  let keys = 0
  for (let step = 0; ; step++) {
    const buckets = Math.round(1_000_000 * 10 ** (step / 2))
    if (buckets > bucketsMax) break
    const now = new Date()
    const rollUps = stage.startRollUps()
    const target = Math.round(buckets / BUCKETS_A_KEY)
    await appendAll(pool, grow(keys, target, now), now)
    await untilRolledUp(pool)
    keys = target
    await pool.query('vacuum analyze counters')
    await pool.query('checkpoint')
    const numbers = Array.from({ length: PROBES }, () => uniform(keys))
    const probe = await withCpu(stage, rollUps.pid, async () => {
      await appendAll(pool, probes(numbers, now), now)
      await untilRolledUp(pool)
    })
    await rollUps.stop()
    const read = await withCpu(stage, 0, () => readMessages(stage, keys, 2))
    const cached = await withCpu(stage, 0, () => readMessages(stage, keys, keys / 10))
    const { bytes } = await storedBytes(pool)
    const cpu = (probe.serverCpu + probe.otherCpu) / new Set(numbers).size
    table.push([
      `${(buckets / 1e6).toFixed(1)}M`,
      `${(bytes / 1e6).toFixed(0)} MB`,
      (PROBES / probe.seconds).toFixed(0),
      `${(cpu * 1e6).toFixed(1)} µs`,
      (MESSAGES / read.seconds).toFixed(0),
      `${(((read.serverCpu + read.ownCpu) / MESSAGES) * 1e6).toFixed(0)} µs`,
      (MESSAGES / cached.seconds).toFixed(0),
      `${(((cached.serverCpu + cached.ownCpu) / MESSAGES) * 1e6).toFixed(0)} µs`,
    ])
    console.log(table.at(-1)?.join('  '))
  }
  console.log(`\n${PROBES} uniform increments on existing keys; ${MESSAGES} messages read`)
  const heads = [
    'buckets',
    'on disk',
    'increments a second',
    'CPU of a key',
    'messages read a second',
    'CPU of each',
    'with a memory of a tenth',
    'CPU of each',
  ]
  printTable(heads, table)
}

function* grow(from: number, to: number, now: Date): Generator<Increment> {
  for (let key = from; key < to; key++) {
    for (let index = 0; index < BUCKETS_A_KEY / 2; index++) {
      const at = new Date(now.getTime() - (index === 0 ? 9 * SLOT_MS : index * DAY_MS))
      yield { prefix: 'reports', shingle: shingleOf(key), spam: 1, at }
      if (index > 0) {
        const recent = new Date(now.getTime() - index * SLOT_MS)
        yield { prefix: 'reports', shingle: shingleOf(key), spam: 1, at: recent }
      }
    }
  }
}

function* probes(numbers: readonly number[], at: Date): Generator<Increment> {
  for (const number of numbers) yield { prefix: 'reports', shingle: shingleOf(number), spam: 1, at }
}

async function readMessages({ pool }: Stage, keys: number, keysMax: number): Promise<void> {
  const options = { keysMax, freshMs: 600_000 }
  const reader = createCounterReader({ pool, clock: systemClock }, options)
  let left = MESSAGES
  const one = async () => {
    while (left-- > 0) {
      const numbers = Array.from({ length: SHINGLES }, () => uniform(keys))
      await reader.readWindows(numbers.map(shingleOf))
    }
  }
  await Promise.all(Array.from({ length: 32 }, one))
}
