import { runAction } from '../../src/actions.ts'
import type { RateLimit } from '../../src/db/limits.ts'
import type { Db, Pool } from '../../src/db/pool.ts'
import { setLimit } from '../../src/people/limit-actions.ts'

/** Turns all limits off, for tests that report more in a minute than is allowed. */
export async function turnLimitsOff(db: Db): Promise<void> {
  await db.query(`update rate_limits set behavior = 'off'`)
}

/** Raises all limits so far that nothing reaches them. Attempts are counted as usual. */
export async function raiseLimits(db: Db): Promise<void> {
  await db.query('update rate_limits set attempts_max = 1000000000')
}

/** Replaces all limits with one. */
export async function onlyLimit(
  db: Db,
  limit: { windowMs: number; attemptsMax: number },
): Promise<void> {
  await turnLimitsOff(db)
  await db.query(
    `insert into rate_limits
       (name, attempt, key_kind, window_ms, attempts_max, behavior, changed_at)
     values ('only', 'webhook', 'reporter', $1, $2, 'refuse', now())`,
    [limit.windowMs, limit.attemptsMax],
  )
}

/** Changes a limit as an operator does on the command line; returns the errors. */
export async function changeLimit(
  pool: Pool,
  name: string,
  change: { attempts?: number; seconds?: number; behavior?: RateLimit['behavior'] },
): Promise<readonly string[]> {
  const seconds = change.seconds?.toString()
  const app = { pool, clock: () => new Date(), config: { needsFourEyes: false } }
  const outcome = await runAction(setLimit, { name, ...change, seconds }, app, null)
  return 'problems' in outcome ? outcome.problems.map(({ message }) => message) : []
}
