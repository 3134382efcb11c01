import { pino } from 'pino'
import { readConfig } from '../../../src/config.ts'
import { web } from '../../../src/processes/web.ts'
import { createPool } from '../../../src/db/pool.ts'
import { startBoss, stopBoss } from '../../../src/queue/boss.ts'
import type { Seeded } from '../../seeding/instance.ts'
import { ringOf } from '../../../test/support/key-ring.ts'

export const secret = ringOf('a secret of the benchmark, not of anybody')

/** The pages that remember their figures do so for less. */
const REMEMBERED_MS = 2_100

/** An executed statement with its parameters. */
export type Statement = { text: string; values: readonly unknown[] }

/** A web process on a seeded database, and its busy reporter, signed in. */
export type PageSite = {
  url: string
  /** Requests an address, signed in unless other headers are given. */
  get: (path: string, headers?: Record<string, string>) => Promise<Response>
  /** Runs `work` and returns all statements that it executed, each text once. */
  record: (work: () => Promise<void>) => Promise<Statement[]>
  close: () => Promise<void>
}

/**
 * Serves pages like `signalpost web`, but within this process, so that its statements can be
 * recorded.
 */
export async function servePages(seeded: Seeded): Promise<PageSite> {
  const { url: databaseUrl } = seeded.server
  const boss = await startBoss(databaseUrl, 'sends', { name: 'bench', onError: () => undefined })
  const pool = createPool(databaseUrl, {
    connectionsMax: 5,
    name: 'web',
    onLost: () => undefined,
  })
  const seen = new Map<string, Statement>()
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown
    Object.assign(client, {
      query: (...args: unknown[]) => {
        const [first, values] = args
        const text = typeof first === 'string' ? first : (first as { text?: string }).text
        const own = (first as { values?: unknown[] }).values
        if (text) seen.set(text, { text, values: own ?? (Array.isArray(values) ? values : []) })
        return query(...args)
      },
    })
  })
  const config = readConfig({ HTTP_PORT: '0', DRAIN_SECONDS: '0' }, { cores: 2, cwd: '/nowhere' })
  const log = pino({ level: 'error' })
  // The clock runs ahead of what is remembered, so that each request reads the database.
  let aheadMs = 0
  const clock = () => new Date(Date.now() + aheadMs)
  const app = { config: { ...config, databaseUrl, secret }, pool, boss, clock, log }
  const served = await web(app)
  const cookie = await signIn(served.url, seeded)
  return {
    url: served.url,
    get(path, headers = { cookie }) {
      aheadMs += REMEMBERED_MS
      return fetch(served.url + path, { headers, redirect: 'manual' })
    },
    async record(work) {
      seen.clear()
      await work()
      return [...seen.values()]
    },
    async close() {
      await served.close()
      await stopBoss(boss, 1_000)
      await pool.end()
    },
  }
}

async function signIn(url: string, { email, password }: Seeded): Promise<string> {
  const body = new URLSearchParams({
    'user[email_or_login]': email,
    'user[password]': password,
  })
  const answer = await fetch(`${url}/sign-in`, { method: 'POST', body, redirect: 'manual' })
  const cookies = answer.headers.getSetCookie().map((cookie) => cookie.split(';')[0] ?? '')
  if (answer.status !== 303) throw new Error(`Signing in answered ${answer.status}.`)
  return cookies.join('; ')
}
