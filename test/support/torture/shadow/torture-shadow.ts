import { addAccount } from '../../../../src/processes/add-account.ts'
import { freePort } from '../../../../src/db/embedded.ts'
import { createPool, inTransaction } from '../../../../src/db/pool.ts'
import { putShadowBan } from '../../../../src/db/limits.ts'
import { systemClock } from '../../../../src/world.ts'
import { startProgram } from '../../process.ts'
import { withOwnDatabase } from '../../own-database.ts'
import { compareAnswers } from './compare-answers.ts'

/**
 * Compares a number of answers of a `web` process to a shadow-banned and to an ordinary reporter.
 */
export async function tortureShadow(
  answers: number,
  say: (line: string) => void,
): Promise<string[]> {
  return withOwnDatabase(async ({ url, dataDir }) => {
    const tokens = await prepare(url)
    const env = {
      ...{ DATABASE_URL: url, DATA_DIR: dataDir, HTTP_PORT: String(await freePort()) },
      ...{ SECRET: 'a secret of the torture, long enough', LOG_LEVEL: 'error', WORKERS: '1' },
    }
    const program = startProgram(['web'], env)
    try {
      await program.ready
      say(`${answers} answers, the banned reporter's and the ordinary one's in turns`)
      const site = `http://127.0.0.1:${env.HTTP_PORT}`
      return await compareAnswers({ url: site, ...tokens }, answers / 2)
    } finally {
      await program.stop()
    }
  })
}

async function prepare(url: string): Promise<{ banned: string; usual: string }> {
  const pool = createPool(url, { connectionsMax: 2, name: 'torture', onLost: () => undefined })
  const account = (email: string) => {
    const wish = { email, password: 'a password of the torture', role: null, wantsToken: true }
    return addAccount(wish, { pool, clock: systemClock })
  }
  try {
    const [banned, usual] = [await account('eve@x.example'), await account('bob@x.example')]
    await pool.query('update rate_limits set attempts_max = 1000000')
    const ban = { reason: 'a test', imposedAt: systemClock(), imposedBy: null }
    await inTransaction(pool, (tx) => putShadowBan(tx, { reporterId: banned.id, ...ban }))
    return { banned: banned.token ?? '', usual: usual.token ?? '' }
  } finally {
    await pool.end()
  }
}
