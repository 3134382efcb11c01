import path from 'node:path'
import { addAccount } from '../../src/processes/add-account.ts'
import { importNetworks } from '../../src/processes/import-networks.ts'
import { freePort } from './free-port.ts'
import { insertToken } from '../../src/db/sessions.ts'
import { createToken } from '../../src/people/credentials.ts'
import { systemClock } from '../../src/world.ts'
import { freshDatabase, type TestDatabase } from './database.ts'
import { type Program, startProgram } from './process.ts'
import { apiClient, type Client } from './reporter.ts'
import { ringOf } from './key-ring.ts'

/** A cloned database on which processes of the program are started one by one. */
export type Site = {
  database: TestDatabase
  client: Client
  token: string
  url: string
  receivePort: number
  env: Record<string, string>
  /** Starts `signalpost NAME` and waits until it is ready. */
  start: (
    name: 'web' | 'work' | 'receive' | 'check' | 'count',
    env?: Record<string, string>,
  ) => Promise<Program>
  /** Ends all started processes. */
  clear: () => Promise<void>
}

/** The secret and the return path domain of every site. */
export const siteSettings = {
  secret: 'a secret of the tests, long enough for all',
  domain: 'bounces.test.example',
}

/** The domain and the secret of its return paths. */
export const sitePaths = { domain: siteSettings.domain, secret: ringOf(siteSettings.secret) }

const sampleNetworks = path.join(import.meta.dirname, '../../src/db/sample-networks.csv')

/** Clones a database with the sample networks and one reporter; starts no process. */
export async function makeSite(env: Record<string, string> = {}): Promise<Site> {
  const database = await freshDatabase()
  const app = { pool: database.pool, clock: systemClock }
  await importNetworks(sampleNetworks, app)
  const account = { email: 'ann@reporters.example', password: undefined, role: null }
  const { token = '' } = await addAccount({ ...account, wantsToken: true }, app)
  const [httpPort, receivePort] = [await freePort(), await freePort()]
  const url = `http://127.0.0.1:${httpPort}`
  const settings = {
    ...database.env,
    SECRET: siteSettings.secret,
    RETURN_PATH_DOMAIN: siteSettings.domain,
    HTTP_PORT: String(httpPort),
    RECEIVE_PORT: String(receivePort),
    WORKERS: '1',
    RDAP_BOOTSTRAP_URL: 'none',
    LOG_LEVEL: 'warn',
    DATABASE_CONNECTIONS: '5',
    ...env,
  }
  const started: Program[] = []
  return {
    database,
    client: apiClient(url, `Bearer ${token}`),
    token,
    url,
    receivePort,
    env: settings,
    async start(name, more = {}) {
      const program = startProgram([name], { ...settings, ...more })
      started.push(program)
      await program.ready
      return program
    },
    async clear() {
      await Promise.all(started.map((program) => program.stop()))
      await database.close()
    },
  }
}

/** Returns a token of the site's reporter, who may report for the users of a mail server. */
export async function providerToken({ database }: Site): Promise<string> {
  const { token, hash } = createToken()
  const { rows } = await database.pool.query<{ id: string }>('select id from reporters')
  const made = { hash, reporterId: rows[0]?.id ?? '', name: 'provider', createdAt: new Date() }
  await insertToken(database.pool, { ...made, scopes: ['report', 'on-behalf'] })
  return token
}
