import { insertAudit } from '../db/audit-log.ts'
import { renewPatience } from '../db/dead-letters.ts'
import { inTransaction, type Pool } from '../db/pool.ts'
import type { Clock } from '../world.ts'
import { bossDb, type Boss } from './boss.ts'
import { deadLetterQueue } from './queues.ts'

const REDRIVEN_AT_ONCE = 1_000

/** Which dead letters: those named, those that one queue gave up, or all there are by now. */
export type WhichDeadLetters = readonly string[] | { source: string } | 'all'

/**
 * Puts dead letters back to work in their own queues. What is done, and by whom (null: at the
 * command line), is written down in the same transaction. Returns how many were moved.
 */
export async function redriveDeadLetters(
  app: { pool: Pool; boss: Boss; clock: Clock },
  which: WhichDeadLetters,
  administratorId: string | null,
): Promise<number> {
  const now = app.clock()
  const filter = filterOf(which, now)
  if ('ids' in filter && filter.ids.length === 0) return 0
  return inTransaction(app.pool, async (tx) => {
    await renewPatience(tx, filter)
    let moved = 0
    for (;;) {
      const limit = REDRIVEN_AT_ONCE
      const step = await app.boss.redrive(deadLetterQueue, { ...filter, limit, db: bossDb(tx) })
      moved += step
      if (step < REDRIVEN_AT_ONCE) break
    }
    if (moved === 0) return 0
    const detail = `${moved} dead letters were put back to work (${wordsOf(which)}).`
    await insertAudit(tx, { at: now, reporterId: administratorId, action: 'redrive', detail })
    return moved
  })
}

function filterOf(which: WhichDeadLetters, createdBefore: Date) {
  if (which === 'all') return { createdBefore }
  if ('source' in which) return { sourceName: which.source, createdBefore }
  return { ids: [...which] }
}

function wordsOf(which: WhichDeadLetters): string {
  if (which === 'all') return 'all'
  return 'source' in which ? `of ${which.source}` : 'chosen'
}
