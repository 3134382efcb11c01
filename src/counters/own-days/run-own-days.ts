import type { Pool } from '../../db/pool.ts'
import type { Logger } from '../../log.ts'
import type { Clock } from '../../world.ts'
import { complainer, type Rounds, runRounds } from '../rounds.ts'
import { countOwnDays } from './count-own-days.ts'

/** So long nobody's own statistics are behind, at most, but for days of very many reports. */
const PAUSE_MS = 5_000

/** Keeps the days of reporters counted until closed. Any number of processes may: one does it. */
export function runOwnDays(app: { pool: Pool; clock: Clock; log: Logger }): Rounds {
  const complain = complainer(app, 'Own statistics could not be counted; they will be again.')
  return runRounds(async (isClosed) => {
    const counted = await countOwnDays(app.pool, app.clock, isClosed).catch((error: unknown) => {
      complain(error)
      return 0
    })
    return counted > 0 ? PAUSE_MS / 5 : PAUSE_MS
  })
}
