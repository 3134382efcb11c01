import { listShardBacklogs } from '../db/counter-deltas.ts'
import { ensureCounterPartitions } from '../db/counter-partitions.ts'
import type { Pool } from '../db/pool.ts'
import { reasonOf, sqlState } from '../errors.ts'
import type { Logger } from '../log.ts'
import type { Clock } from '../world.ts'
import { createGates } from './gate/gate.ts'
import { rollUp } from './roll-up.ts'
import { complainer, type Rounds, runRounds } from './rounds.ts'

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
