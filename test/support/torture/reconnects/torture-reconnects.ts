import { Agent, request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { addAccount } from '../../../../src/processes/add-account.ts'
import { freePort } from '../../free-port.ts'
import { createPool } from '../../../../src/db/pool.ts'
import { hashPassword } from '../../../../src/people/credentials.ts'
import { systemClock } from '../../../../src/world.ts'
import { startProgram } from '../../process.ts'
import { withOwnDatabase } from '../../own-database.ts'

const CLIENTS = 500
const REQUESTS_EACH = 4
const SERVED_MS_MAX = 5_000
const PASSWORD = 'a password of the torture'

type Answer = { status: number | string; retryAfter: string | undefined; tookMs: number }

/**
 * Simulates 500 clients of `web` that reconnect simultaneously after its restart, each on a
 * separate connection with four reports: by token, by the password of one account, and by passwords
 * of 500 accounts. All must be answered within five seconds, and a refusal must say when to retry.
 * Returns the faults.
 */
export async function tortureReconnects(say: (line: string) => void): Promise<string[]> {
  return withOwnDatabase(async ({ url, dataDir }) => {
    const token = await addReporters(url)
    const env = {
      ...{ DATABASE_URL: url, DATA_DIR: dataDir, HTTP_PORT: String(await freePort()) },
      ...{ SECRET: 'a secret of the torture, long enough', LOG_LEVEL: 'error', WORKERS: '1' },
      ...{ DRAIN_SECONDS: '0', TRUSTED_PROXIES: '127.0.0.1' },
    }
    const basic = (number: number) =>
      `Basic ${Buffer.from(`${emailOf(number)}:${PASSWORD}`).toString('base64')}`
    const kinds: [string, (client: number) => string][] = [
      ['one token', () => `Bearer ${token}`],
      ['the password of one account', () => basic(1)],
      [`passwords of ${CLIENTS} accounts`, basic],
    ]
    const faults: string[] = []
    for (const [name, authorizationOf] of kinds) {
      const program = startProgram(['web'], env)
      try {
        await program.ready
        const site = `http://127.0.0.1:${env.HTTP_PORT}`
        const startedAt = performance.now()
        const clients = Array.from({ length: CLIENTS }, (_, client) =>
          reconnect(site, `${name} ${client}`, {
            authorization: authorizationOf(client),
            // Each client has an address in a different network, according to the proxy in front of
            // the program.
            'x-forwarded-for': `11.${client >> 8}.${client & 255}.1`,
          }),
        )
        const answers = (await Promise.all(clients)).flat()
        const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
        say(`${name}: ${shown(answers)}; all were served after ${seconds} s`)
        faults.push(...faultsOf(name, answers))
      } finally {
        await program.stop()
      }
    }
    return faults
  })
}

const emailOf = (number: number) => `ann${number}@reporters.example`

/**
 * Creates one account with a token, and as many accounts with the same password as there are
 * clients.
 */
async function addReporters(url: string): Promise<string> {
  const pool = createPool(url, { connectionsMax: 5, name: 'torture', onLost: () => undefined })
  const app = { pool, clock: systemClock }
  const first = { email: emailOf(0), password: PASSWORD, role: null, wantsToken: true }
  const { token } = await addAccount(first, app)
  const passwordHash = await hashPassword(PASSWORD)
  for (let number = 1; number < CLIENTS; number++) {
    await addAccount({ ...first, email: emailOf(number), password: undefined }, app)
  }
  await pool.query('update reporters set password_hash = $1', [passwordHash])
  await pool.end()
  return token ?? ''
}

/** Sends four reports in sequence on one connection; retries when the server says so. */
async function reconnect(
  site: string,
  mark: string,
  who: Record<string, string>,
): Promise<Answer[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const answers: Answer[] = []
  for (let number = 0; number < REQUESTS_EACH; number++) {
    const startedAt = performance.now()
    const said = await ask(site, agent, { mark: `${mark} ${number}`, who })
    answers.push({ ...said, tookMs: performance.now() - startedAt })
    if (said.status !== 503) continue
    number--
    await wait(Number(said.retryAfter ?? 1) * 1_000)
  }
  agent.destroy()
  return answers
}

type Given = { mark: string; who: Record<string, string> }

function ask(site: string, agent: Agent, given: Given) {
  const headers = { ...given.who, 'content-type': 'message/rfc822' }
  return new Promise<Omit<Answer, 'tookMs'>>((resolve) => {
    const options = { method: 'POST', agent, headers }
    const req = request(`${site}/api/v1/reports`, options, (res) => {
      res.resume()
      const retryAfter = res.headers['retry-after']
      res.once('end', () => resolve({ status: res.statusCode ?? 0, retryAfter }))
    })
    req.on('error', (error) => resolve({ status: error.message, retryAfter: undefined }))
    req.end(`From: a@shop.example\r\nSubject: ${given.mark}\r\nReceived: from a by b\r\n\r\nx\r\n`)
  })
}

function faultsOf(name: string, answers: readonly Answer[]): string[] {
  const bare = answers.filter(({ status, retryAfter }) => status !== 202 && !retryAfter)
  const late = answers.filter(({ tookMs }) => tookMs > SERVED_MS_MAX)
  return [
    ...(bare.length > 0 ? [`${name}: ${bare.length} refused without Retry-After`] : []),
    ...(late.length > 0 ? [`${name}: ${late.length} answered after more than 5 s`] : []),
  ]
}

function shown(answers: readonly Answer[]): string {
  const counts = Map.groupBy(answers, ({ status }) => status)
  const said = [...counts].map(([status, those]) => `${status}: ${those.length}`).join(', ')
  const most = Math.max(...answers.map(({ tookMs }) => tookMs))
  return `${answers.length} answers, each within ${(most / 1_000).toFixed(1)} s; ${said}`
}
