import { listShardBacklogs, REPORTS, type ShardBacklog } from '../db/counter-rows.ts'
import { listShards, type Shard } from '../db/counters.ts'
import { groupedByNode, nearShard } from '../db/nodes.ts'
import { ensureCounterPartitions, measureTables } from '../db/partitions.ts'
import type { Pool } from '../db/pool.ts'
import { isDistributed } from '../db/prepared.ts'
import { complainer, reasonOf, sqlState } from '../errors.ts'
import type { Logger } from '../log.ts'
import { type Clock, type Rounds, runRounds, untilNext, uuidTime } from '../world.ts'
import { createGates, FILTER_BYTES } from './gate.ts'
import { allShards } from './keys.ts'
import { rollUp, spreadReports } from './roll-up.ts'

type Needs = { pool: Pool; clock: Clock; log: Logger }

/**
 * Pause in milliseconds between two rounds. Each roll-up costs a dozen statements, and keys that
 * occur again during the pause are written only once. Counts are up to this late; those by which
 * messages are judged are cached as long.
 */
const PAUSE_MS = 10_000
/**
 * Maximum size in bytes of the deltas of shards that are rolled up in one transaction, about 20,000
 * increments. At 17 reports a second all shards fit, and a round takes a tenth of the statements.
 */
const GROUP_BYTES_MAX = 256_000
/**
 * Number of increments in a round above which the next round follows without a pause; and number of
 * generations of partitions created in advance.
 */
const ENTRIES_MANY = 500_000
const GENERATIONS_AHEAD = 2
/** Number of sightings from which a gated key gets a counter. */
export const GATE_TIMES_MIN = 3
/**
 * SQLSTATEs for a missing partition: on insert into its parent, and when it is accessed directly.
 */
const NO_PARTITION = new Set(['23514', '42P01'])

/**
 * Rolls up waiting deltas, the longest-waiting shard first, until closed. May run in several
 * processes; each shard is rolled up by one at a time. The more deltas wait, the more are summed
 * together, so that under load roll-ups become rarer and cheaper per delta. A failure, such as an
 * unreachable database or a deadlock, is retried in the next round.
 */
export function runRollUps({ pool, clock, log }: Needs): Rounds {
  const gates = createGates(GATE_TIMES_MIN)
  const complain = complainer(
    { clock, log },
    'Could not add new counts to the statistics. Will retry.',
  )
  const failed = async (error: unknown): Promise<number> => {
    complain(error)
    if (NO_PARTITION.has(sqlState(error) ?? '')) await makePartitions({ pool, clock, log })
    return 0
  }
  const rollUpSome = async (shards: readonly number[]): Promise<number> => {
    const hasReports = shards.includes(REPORTS)
    try {
      return (await rollUp(pool, shards, clock(), gates))?.entries ?? 0
    } catch (error) {
      if (shards.length === 1 && !hasReports) return failed(error)
    }
    // A shard that fails does not block the others.
    if (hasReports) await spreadReports(pool, clock())
    let entries = 0
    for (const shard of hasReports ? allShards : shards) entries += await rollUpSome([shard])
    return entries
  }
  /** In a distributed database, each server then rolls up its own shards. */
  const listBacklogs = async (): Promise<ShardBacklog[]> => {
    const near = nearShard(pool, 0)
    const backlogs = await listShardBacklogs(near)
    if (!isDistributed() || backlogs.every(({ shard }) => shard !== REPORTS)) return backlogs
    await spreadReports(pool, clock())
    return (await listShardBacklogs(near)).filter(({ shard }) => shard !== REPORTS)
  }
  const rollUpShards = async (isClosed: () => boolean): Promise<number> => {
    let entries = 0
    for (const near of groupedByNode(pool, await listBacklogs(), ({ shard }) => shard)) {
      for (const { items } of inGroups(near, GROUP_BYTES_MAX)) {
        if (isClosed()) return entries
        entries += await rollUpSome(items.map(({ shard }) => shard))
      }
    }
    return entries
  }
  return runRounds(
    async (isClosed) => {
      const entries = await rollUpShards(isClosed).catch(failed)
      return entries >= ENTRIES_MANY ? 0 : untilNext(PAUSE_MS)
    },
    { keepsAlive: true },
  )
}

/** Returns backlogs in groups of at most `bytesMax` to process together, in the same order. */
export function inGroups<T extends { bytes: number }>(
  backlogs: readonly T[],
  bytesMax: number,
): { items: T[]; bytes: number }[] {
  const groups: { items: T[]; bytes: number }[] = []
  for (const backlog of backlogs) {
    const group = groups.at(-1)
    if (!group || group.bytes + backlog.bytes > bytesMax) {
      groups.push({ items: [backlog], bytes: backlog.bytes })
    } else {
      group.items.push(backlog)
      group.bytes += backlog.bytes
    }
  }
  return groups
}

async function makePartitions({ pool, clock, log }: Needs) {
  await ensureCounterPartitions(pool, clock(), GENERATIONS_AHEAD).catch((error: unknown) =>
    log.error({ reason: reasonOf(error) }, 'Could not create partitions for the counters.'),
  )
}

export type CounterHealth = {
  shards: readonly Shard[]
  /** Waiting deltas of each shard that has any. */
  backlogs: readonly (Omit<ShardBacklog, 'oldestId'> & { oldestSeconds: number })[]
  /** Memory used by the gates of all processes that roll up, in bytes. */
  gateBytes: number
  tables: readonly { table: string; bytes: number }[]
}

/** Reads the state; callers within a few seconds share one result. */
export type ReadCounterHealth = () => Promise<CounterHealth>

const REMEMBERED_MS = 5_000
const tables = [
  ...['counters', 'counter_members', 'counter_gates'],
  ...['counter_deltas', 'reports_to_count'],
]

/** Creates a function that queries the database at most every five seconds. */
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
