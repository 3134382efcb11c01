import { listShardBacklogs, type ShardBacklog } from '../db/counter-rows.ts'
import { listShards, type Shard } from '../db/counters.ts'
import { measureTables } from '../db/dead-letters.ts'
import { ensureCounterPartitions } from '../db/partitions.ts'
import type { Pool } from '../db/pool.ts'
import { reasonOf, sqlState } from '../errors.ts'
import type { Logger } from '../log.ts'
import { type Clock, uuidTime } from '../world.ts'
import { createGates, FILTER_BYTES } from './gate.ts'
import { rollUp } from './roll-up.ts'

/** Work that goes on in rounds until it is closed. */
export type Rounds = { close: () => Promise<void> }

/** So often the same failure is told. */
const COMPLAINT_MS = 60_000
const REASONS_MAX = 100

/**
 * Does one round after another until closed; each says how long to wait before the next, in
 * milliseconds. A round must not reject; within a long one it may ask whether it is to stop.
 */
export function runRounds(round: (isClosed: () => boolean) => Promise<number>): Rounds {
  let isClosed = false
  let wake: () => void = () => undefined
  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  const run = async () => {
    while (!isClosed) {
      const pauseMs = await round(() => isClosed)
      if (pauseMs > 0 && !isClosed) await pause(pauseMs)
    }
  }
  const running = run()
  return {
    async close() {
      isClosed = true
      wake()
      await running
    },
  }
}

/** Tells why something failed: a new reason at once, the same again only after a while. */
export function complainer(
  { clock, log }: { clock: Clock; log: Logger },
  sentence: string,
): (error: unknown) => void {
  const saidAt = new Map<string, number>()
  return (error) => {
    const reason = reasonOf(error)
    const now = clock().getTime()
    if (now - (saidAt.get(reason) ?? -Infinity) < COMPLAINT_MS) return
    if (saidAt.size >= REASONS_MAX) saidAt.clear()
    saidAt.set(reason, now)
    log.warn({ reason }, sentence)
  }
}

type Needs = { pool: Pool; clock: Clock; log: Logger }

/** How long nothing waits unnoticed. */
const PAUSE_MS = 500
/**
 * The pause after a small round: keys that come again meanwhile are written once, and each roll-up
 * costs a dozen statements. It is half of the CPU, for counts that are two seconds old.
 */
const SMALL_ROUND_PAUSE_MS = 2_000
/** After a round of so many increments the next follows at once. */
const ENTRIES_MANY = 500_000
const GENERATIONS_AHEAD = 6
/** Keys that may be held back have a counter from the third time on. */
export const GATE_TIMES_MIN = 3
/** SQLSTATEs where a partition lacks: of a row without one, and of the table itself. */
const NO_PARTITION = new Set(['23514', '42P01'])

/**
 * Rolls up whatever waits, the shard that waits longest first, until closed. Any number of them
 * may run anywhere: each shard is rolled up by one at a time. The more waits, the more is summed at
 * once, so that under load a roll-up becomes rarer and cheaper rather than slower. What fails (the
 * database is away, or chose a victim among transactions) is still there the next time.
 */
export function runRollUps({ pool, clock, log }: Needs): Rounds {
  const gates = createGates(GATE_TIMES_MIN)
  const complain = complainer({ clock, log }, 'A roll-up failed and will be repeated.')
  const failed = async (error: unknown): Promise<number> => {
    complain(error)
    if (NO_PARTITION.has(sqlState(error) ?? '')) await makePartitions({ pool, clock, log })
    return 0
  }
  const rollUpShards = async (isClosed: () => boolean): Promise<number> => {
    let entries = 0
    for (const { shard } of await listShardBacklogs(pool)) {
      if (isClosed()) break
      // A shard that cannot be rolled up does not hold up the others.
      const done = rollUp(pool, shard, clock(), gates)
      entries += await done.then((rolled) => rolled?.entries ?? 0, failed)
    }
    return entries
  }
  return runRounds(async (isClosed) => {
    const entries = await rollUpShards(isClosed).catch(failed)
    if (entries >= ENTRIES_MANY) return 0
    return entries === 0 ? PAUSE_MS : SMALL_ROUND_PAUSE_MS
  })
}

async function makePartitions({ pool, clock, log }: Needs) {
  await ensureCounterPartitions(pool, clock(), GENERATIONS_AHEAD).catch((error: unknown) =>
    log.error({ reason: reasonOf(error) }, 'The partitions of the counters could not be made.'),
  )
}

/** How the counting fares, by what the database knows of it. */
export type CounterHealth = {
  shards: readonly Shard[]
  /** What waits to be rolled up, of the shards where something does. */
  backlogs: readonly (Omit<ShardBacklog, 'oldestId'> & { oldestSeconds: number })[]
  /** Memory of the gates where they are rolled up. */
  gateBytes: number
  tables: readonly { table: string; bytes: number }[]
}

/** Reads it; for all who ask within a few seconds once. */
export type ReadCounterHealth = () => Promise<CounterHealth>

const REMEMBERED_MS = 5_000
const tables = ['counters', 'counter_members', 'counter_deltas', 'counter_gates']

/** A reader that asks the database at most every five seconds, however many ask. */
export function createReadCounterHealth(app: { pool: Pool; clock: Clock }): ReadCounterHealth {
  let readAt = 0
  let reading: Promise<CounterHealth> | undefined
  return () => {
    const now = app.clock()
    if (!reading || now.getTime() - readAt > REMEMBERED_MS) {
      readAt = now.getTime()
      reading = readHealth(app.pool, now)
      reading.catch(() => (reading = undefined))
    }
    return reading
  }
}

async function readHealth(pool: Pool, now: Date): Promise<CounterHealth> {
  const [shards, backlogs, measured] = await Promise.all([
    listShards(pool),
    listShardBacklogs(pool),
    measureTables(pool, tables),
  ])
  return {
    shards,
    backlogs: backlogs.map(({ oldestId, ...backlog }) => ({
      ...backlog,
      oldestSeconds: Math.max(0, (now.getTime() - uuidTime(oldestId).getTime()) / 1_000),
    })),
    gateBytes: shards.filter(({ gate }) => gate !== null).length * FILTER_BYTES,
    tables: measured,
  }
}
