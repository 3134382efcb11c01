import { listShardBacklogs } from '../db/counter-deltas.ts'
import { ensureCounterPartitions } from '../db/counter-partitions.ts'
import type { Pool } from '../db/pool.ts'
import { reasonOf, sqlState } from '../errors.ts'
import type { Logger } from '../log.ts'
import type { Clock } from '../world.ts'
import { createGates } from './gate/gate.ts'
import { rollUp } from './roll-up.ts'

type Needs = { pool: Pool; clock: Clock; log: Logger }

/** A loop that rolls up until it is closed. */
export type RollUps = { close: () => Promise<void> }

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
/** So often the same failure is told. */
const COMPLAINT_MS = 60_000
const REASONS_MAX = 100
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
export function runRollUps({ pool, clock, log }: Needs): RollUps {
  const gates = createGates(GATE_TIMES_MIN)
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

  const complain = complainer({ clock, log })
  const failed = async (error: unknown): Promise<number> => {
    complain(error)
    if (NO_PARTITION.has(sqlState(error) ?? '')) await makePartitions({ pool, clock, log })
    return 0
  }
  const round = async (): Promise<number> => {
    let entries = 0
    for (const { shard } of await listShardBacklogs(pool)) {
      if (isClosed) break
      // A shard that cannot be rolled up does not hold up the others.
      const done = rollUp(pool, shard, clock(), gates)
      entries += await done.then((rolled) => rolled?.entries ?? 0, failed)
    }
    return entries
  }
  const run = async () => {
    while (!isClosed) {
      const entries = await round().catch(failed)
      if (entries < ENTRIES_MANY && !isClosed) {
        await pause(entries === 0 ? PAUSE_MS : SMALL_ROUND_PAUSE_MS)
      }
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

/** Says why a roll-up failed: a new reason at once, the same again only after a while. */
function complainer({ clock, log }: Pick<Needs, 'clock' | 'log'>): (error: unknown) => void {
  const saidAt = new Map<string, number>()
  return (error) => {
    const reason = reasonOf(error)
    const now = clock().getTime()
    if (now - (saidAt.get(reason) ?? -Infinity) < COMPLAINT_MS) return
    if (saidAt.size >= REASONS_MAX) saidAt.clear()
    saidAt.set(reason, now)
    log.warn({ reason }, 'A roll-up failed and will be repeated.')
  }
}

async function makePartitions({ pool, clock, log }: Needs) {
  await ensureCounterPartitions(pool, clock(), GENERATIONS_AHEAD).catch((error: unknown) =>
    log.error({ reason: reasonOf(error) }, 'The partitions of the counters could not be made.'),
  )
}
