import { withOwnDatabase } from '../../own-database.ts'
import { tortureLimits } from './torture-limits.ts'

/**
 * Tests the limits with 200,000 attempts of 16 processes on 1,000 keys, on a separate PostgreSQL.
 */
export function tortureLimitsHere(say: (line: string) => void): Promise<string[]> {
  return withOwnDatabase(async ({ url }) => {
    const done = await tortureLimits({
      url,
      processes: 16,
      atOnce: 32,
      windowMs: 3_000,
      attemptsMax: 40,
      attackedKeys: 800,
      groups: 16,
      attackMs: 500,
      attempts: 9_000,
      steadyKeys: 200,
      steadyAttempts: 280,
    })
    say(`${done.attempts} attempts; of those on attacked keys ${done.admitted} were admitted`)
    say(`${done.filled} attacks could fill a limit; at most ${done.mostInWindow} in a window of 40`)
    say(`${done.steady} came in steady streams of 59/60: ${done.steadyRefused} were refused`)
    return done.faults
  })
}
