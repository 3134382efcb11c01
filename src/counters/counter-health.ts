import { listShardBacklogs, type ShardBacklog } from '../db/counter-deltas.ts'
import { listShards, type Shard } from '../db/counter-shards.ts'
import type { Pool } from '../db/pool.ts'
import { measureTables } from '../db/table-bytes.ts'
import { type Clock, uuidTime } from '../world.ts'
import { FILTER_BYTES } from './gate/gate-filter.ts'

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
