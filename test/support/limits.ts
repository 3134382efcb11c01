import type { Db } from '../../src/db/pool.ts'

/** Turns all limits off, for tests that report more in a minute than is allowed. */
export async function turnLimitsOff(db: Db): Promise<void> {
  await db.query(`update rate_limits set behavior = 'off'`)
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
