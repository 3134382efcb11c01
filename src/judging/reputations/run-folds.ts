import type { Pool } from '../../db/pool.ts'
import { listEvidenceBacklogs } from '../../db/reputation-evidence.ts'
import { reasonOf } from '../../errors.ts'
import type { Logger } from '../../log.ts'
import type { Clock } from '../../world.ts'
import { foldShard } from './fold-evidence.ts'

/** A loop that folds evidence until it is closed. */
export type Folds = { close: () => Promise<void> }

/** How long nothing waits unnoticed. */
const PAUSE_MS = 500
/** The pause after a round: subjects that come again meanwhile are written once. */
const ROUND_PAUSE_MS = 1_000
/** With so much waiting the next round follows at once. */
const BYTES_MANY = 1_000_000
/** So often the same failure is told. */
const COMPLAINT_MS = 60_000
const REASONS_MAX = 100

/**
 * Folds whatever evidence waits, the shard that waits longest first, until closed. Any number of
 * them may run anywhere: each shard is folded by one at a time. What fails is still there the next
 * time, and does not hold up the other shards.
 */
export function runFolds({ pool, clock, log }: { pool: Pool; clock: Clock; log: Logger }): Folds {
  let isClosed = false
  let wake: () => void = () => undefined
  const saidAt = new Map<string, number>()
  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  function complain(error: unknown): undefined {
    const reason = reasonOf(error)
    const now = clock().getTime()
    if (now - (saidAt.get(reason) ?? -Infinity) < COMPLAINT_MS) return
    if (saidAt.size >= REASONS_MAX) saidAt.clear()
    saidAt.set(reason, now)
    log.warn({ reason }, 'Evidence could not be folded; it will be tried again.')
  }

  /** Gives how much still waits behind what could be folded. */
  async function round(): Promise<{ folded: number; left: number }> {
    let folded = 0
    let waiting = 0
    for (const { shard, bytes } of await listEvidenceBacklogs(pool)) {
      if (isClosed) break
      const done = await foldShard(pool, shard, clock()).catch(complain)
      folded += done?.bytes ?? 0
      if (done) waiting += Number(bytes)
    }
    return { folded, left: waiting - folded }
  }

  async function run(): Promise<void> {
    while (!isClosed) {
      const { folded, left } = await round().catch((error: unknown) => {
        complain(error)
        return { folded: 0, left: 0 }
      })
      if (isClosed || (folded > 0 && left >= BYTES_MANY)) continue
      await pause(folded === 0 ? PAUSE_MS : ROUND_PAUSE_MS)
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
