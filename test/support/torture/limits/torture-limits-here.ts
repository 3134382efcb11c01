import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { migrateAll } from '../../../../src/processes/migrate.ts'
import { startEmbedded } from '../../../../src/db/embedded.ts'
import { tortureLimits } from './torture-limits.ts'

/**
 * Tests the limits with 200,000 attempts of 16 processes on 1,000 keys, on a separate PostgreSQL.
 */
export async function tortureLimitsHere(say: (line: string) => void): Promise<string[]> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'signalpost-torture-'))
  await chmod(dataDir, 0o755)
  const server = await startEmbedded({ dataDir, password: 'torture', settings: [] })
  try {
    await migrateAll(server.url, new Date())
    const done = await tortureLimits({
      url: server.url,
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
  } finally {
    await server.stop()
    await rm(dataDir, { recursive: true, force: true })
    await rm(server.folder, { recursive: true, force: true })
  }
}
