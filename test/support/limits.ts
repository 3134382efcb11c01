import type { Db } from '../../src/db/pool.ts'

/** Turns all limits off, for who reports more in a minute than anybody else would. */
export async function turnLimitsOff(db: Db): Promise<void> {
  await db.query(`update rate_limits set behavior = 'off'`)
}

/** Puts one limit in the place of all others. */
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
