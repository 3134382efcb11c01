import { insertAudit } from '../db/audit-log.ts'
import { restartRetries } from '../db/dead-letters.ts'
import { inTransaction, type Pool } from '../db/pool.ts'
import type { Clock } from '../world.ts'
import { type Boss, bossDb } from './boss.ts'
import { deadLetterQueue } from './define-queue.ts'

const REDRIVEN_AT_ONCE = 1_000

/** Selects dead letters: by id, of one source queue, or all that exist now. */
export type WhichDeadLetters = readonly string[] | { source: string } | 'all'

/**
 * Moves dead letters back to their own queues, and adds an audit entry in the same transaction; the
 * administrator is null at the command line. Returns the number moved.
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
    await restartRetries(tx, filter)
    let moved = 0
    for (;;) {
      const limit = REDRIVEN_AT_ONCE
      const step = await app.boss.redrive(deadLetterQueue, { ...filter, limit, db: bossDb(tx) })
      moved += step
      if (step < REDRIVEN_AT_ONCE) break
    }
    if (moved === 0) return 0
    const detail = `${moved} dead letters were returned to their queues (${wordsOf(which)}).`
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
