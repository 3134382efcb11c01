import { insertAudit } from '../db/audit-log.ts'
import { renewPatience } from '../db/dead-letters.ts'
import { inTransaction, type Pool } from '../db/pool.ts'
import type { Clock } from '../world.ts'
import { bossDb, type Boss } from './boss.ts'
import { deadLetterQueue } from './queues.ts'

const REDRIVEN_AT_ONCE = 1_000

/**
 * Puts dead letters back to work in their own queues: those named, or all there are by now. What is
 * done and by whom is written down in the same transaction. Returns how many were moved.
 */
export async function redriveDeadLetters(
  app: { pool: Pool; boss: Boss; clock: Clock },
  which: readonly string[] | 'all',
  administratorId: string,
): Promise<number> {
  if (which.length === 0) return 0
  const now = app.clock()
  return inTransaction(app.pool, async (tx) => {
    const filter = which === 'all' ? { createdBefore: now } : { ids: [...which] }
    await renewPatience(tx, filter)
    let moved = 0
    for (;;) {
      const limit = REDRIVEN_AT_ONCE
      const step = await app.boss.redrive(deadLetterQueue, { ...filter, limit, db: bossDb(tx) })
      moved += step
      if (step < REDRIVEN_AT_ONCE) break
    }
    const chosen = which === 'all' ? 'all' : 'chosen'
    const detail = `${moved} dead letters were put back to work (${chosen}).`
    await insertAudit(tx, { at: now, reporterId: administratorId, action: 'redrive', detail })
    return moved
  })
}
