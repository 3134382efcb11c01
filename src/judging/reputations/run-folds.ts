import { complainer, type Rounds, runRounds } from '../../counters/rounds.ts'
import type { Pool } from '../../db/pool.ts'
import { listEvidenceBacklogs } from '../../db/reputation-evidence.ts'
import type { Logger } from '../../log.ts'
import type { Clock } from '../../world.ts'
import { foldShard } from './fold-evidence.ts'

/** How long nothing waits unnoticed. */
const PAUSE_MS = 500
/** The pause after a round: subjects that come again meanwhile are written once. */
const ROUND_PAUSE_MS = 1_000
/** With so much waiting the next round follows at once. */
const BYTES_MANY = 1_000_000

/**
 * Folds whatever evidence waits, the shard that waits longest first, until closed. Any number of
 * them may run anywhere: each shard is folded by one at a time. What fails is still there the next
 * time, and does not hold up the other shards.
 */
export function runFolds({ pool, clock, log }: { pool: Pool; clock: Clock; log: Logger }): Rounds {
  const complain = complainer(
    { clock, log },
    'Evidence could not be folded; it will be tried again.',
  )

  /** Gives how much still waits behind what could be folded. */
  async function foldShards(isClosed: () => boolean): Promise<{ folded: number; left: number }> {
    let folded = 0
    let waiting = 0
    for (const { shard, bytes } of await listEvidenceBacklogs(pool)) {
      if (isClosed()) break
      const done = await foldShard(pool, shard, clock()).catch((error: unknown) => {
        complain(error)
        return undefined
      })
      folded += done?.bytes ?? 0
      if (done) waiting += Number(bytes)
    }
    return { folded, left: waiting - folded }
  }

  return runRounds(async (isClosed) => {
    const { folded, left } = await foldShards(isClosed).catch((error: unknown) => {
      complain(error)
      return { folded: 0, left: 0 }
    })
    if (folded === 0) return PAUSE_MS
    return left >= BYTES_MANY ? 0 : ROUND_PAUSE_MS
  })
}
