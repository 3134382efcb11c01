import { addAccount } from '../../../../src/processes/add-account.ts'
import { freePort } from '../../free-port.ts'
import { createPool, inTransaction } from '../../../../src/db/pool.ts'
import { putShadowBan } from '../../../../src/db/shadow-bans.ts'
import { systemClock } from '../../../../src/world.ts'
import { startProgram } from '../../process.ts'
import { withOwnDatabase } from '../../own-database.ts'
import { importNetworks } from '../../../../src/processes/import-networks.ts'
import { sampleNetworks } from '../../messages.ts'
import { startSmtpSink } from '../../smtp-sink.ts'
import { compareAnswers } from './compare-answers.ts'
import { compareOutcomes } from './compare-outcomes.ts'

/**
 * Compares a number of answers of a `web` process to a shadow-banned and to an ordinary reporter,
 * and a tenth as many reports over time, until a `work` process has forwarded them.
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
      const both = { url: site, ...tokens }
      const faults = await compareAnswers(both, answers / 2)
      if (faults.length > 0) return faults
      say(`${Math.ceil(answers / 10)} reports over time`)
      return await withWorker(env, () => compareOutcomes(both, Math.ceil(answers / 20)))
    } finally {
      await program.stop()
    }
  })
}

/** Runs `compare` beside a `work` process whose mail server accepts everything. */
async function withWorker(env: Record<string, string>, compare: () => Promise<string[]>) {
  const sink = await startSmtpSink()
  const nowhere = { RDAP_BOOTSTRAP_URL: 'none', DNS_SERVERS: 'none', FORWARD_TO: 'any' }
  const limits = { FEEDBACK_HOURLY_MAX: '100000' }
  const worker = startProgram(['work'], { ...env, ...nowhere, ...limits, SMTP_URL: sink.url })
  try {
    await worker.ready
    return await compare()
  } finally {
    await worker.stop()
    await sink.close()
  }
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
    await importNetworks(sampleNetworks, { pool, clock: systemClock })
    const ban = { reason: 'a test', imposedAt: systemClock(), imposedBy: null }
    await inTransaction(pool, (tx) => putShadowBan(tx, { reporterId: banned.id, ...ban }))
    return { banned: banned.token ?? '', usual: usual.token ?? '' }
  } finally {
    await pool.end()
  }
}
