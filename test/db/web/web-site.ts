import { pino } from 'pino'
import { hash } from '@node-rs/argon2'
import { expect } from 'vitest'
import type { App } from '../../../src/app.ts'
import { readConfig } from '../../../src/config.ts'
import { web } from '../../../src/processes/web.ts'
import type { Logger } from '../../../src/log.ts'
import { createPool } from '../../../src/db/pool.ts'
import { insertKarma } from '../../../src/db/reputations.ts'
import { insertReporter } from '../../../src/db/reporters.ts'
import { insertToken } from '../../../src/db/sessions.ts'
import { createToken } from '../../../src/people/credentials.ts'
import { startBoss, stopBoss } from '../../../src/queue/boss.ts'
import type { Role } from '../../../src/roles.ts'
import { systemClock, uuidv7 } from '../../../src/world.ts'
import { freshDatabase } from '../../support/database.ts'
import { spamMessage } from '../../support/messages.ts'
import { ringOf } from '../../support/key-ring.ts'

/** The secret of every site. */
export const webSecret = 'a secret of the tests, long enough'

/** A user with an account. */
export type Person = { id: string; email: string; password: string; token: string; basic: string }

/** A web process with a separate database. */
export type WebSite = {
  url: string
  app: App
  addPerson: (email: string, options?: { role?: Role }) => Promise<Person>
  /** Reports a message by the API; returns the id of the report. */
  report: (person: Person, raw: Buffer<ArrayBuffer>) => Promise<string>
  close: () => Promise<void>
}

/**
 * Starts the real server on a free port. `through` may connect it to its database through a
 * connection that the test can cut. `log` may keep what the process logs.
 */
export async function startWebSite(
  env: Record<string, string> = {},
  through: (databaseUrl: string) => Promise<string> = (url) => Promise.resolve(url),
  log: Logger = pino({ level: 'silent' }),
): Promise<WebSite> {
  const database = await freshDatabase()
  const databaseUrl = await through(database.url)
  const boss = await startBoss(databaseUrl, 'sends', { name: 'test', onError: () => undefined })
  const pool = createPool(databaseUrl, {
    connectionsMax: 5,
    name: 'web',
    onLost: () => undefined,
  })
  const config = readConfig(
    {
      ...{ HTTP_PORT: '0', MESSAGE_AGE_MAX: '0', DRAIN_SECONDS: '0', FORM_WAIT_SECONDS: '0' },
      SPOOL_MEGABYTES: '0',
      ...env,
    },
    { cores: 2, cwd: '/nowhere' },
  )
  const app: App = {
    config: {
      ...config,
      databaseUrl,
      secret: ringOf(webSecret),
    },
    pool,
    boss,
    clock: systemClock,
    log,
  }
  await loosenLimits(app)
  const served = await web(app)
  return {
    url: served.url,
    app,
    addPerson: (email, options) => addPerson(app, email, options?.role ?? null),
    async report({ token }, body) {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'message/rfc822' }
      const answer = await fetch(`${served.url}/api/v1/reports`, { method: 'POST', headers, body })
      return ((await answer.json()) as { id: string }).id
    },
    async close() {
      await served.close()
      await stopBoss(boss, 1_000)
      await pool.end()
      await database.close()
    },
  }
}

const LOOSE = 1_000
const personal = ['sign-in', 'sign-in-device', 'sign-up', 'reset', 'confirm', 'enroll', 'form']

/** Raises the limits, because one machine signs in more often in a test file than any user does. */
async function loosenLimits({ pool }: Pick<App, 'pool'>): Promise<void> {
  await pool.query(
    'update rate_limits set attempts_max = attempts_max * $1 where attempt = any($2)',
    [LOOSE, personal],
  )
}

/** Sets the real limits of signing in and up; call it before the first request. */
export async function usualLimits({ app }: Pick<WebSite, 'app'>): Promise<void> {
  await app.pool.query(
    'update rate_limits set attempts_max = attempts_max / $1 where attempt = any($2)',
    [LOOSE, personal],
  )
}

/** Parameters of password hashes: with the usual ones, each sign-in takes 20 ms of a core. */
const CHEAP = { memoryCost: 8, timeCost: 1 }

async function addPerson(app: App, email: string, role: Role | null): Promise<Person> {
  const [id, password, made] = [uuidv7(new Date()), `pass of ${email}`, createToken()]
  const passwordHash = await hash(password, CHEAP)
  const createdAt = new Date()
  await insertReporter(app.pool, { id, email, passwordHash, role, createdAt })
  await insertKarma(app.pool, { reporterId: id, isVouched: true, now: createdAt })
  const token = { hash: made.hash, reporterId: id, name: 'test', createdAt, role }
  await insertToken(app.pool, token)
  const basic = `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}`
  return { id, email, password, token: made.token, basic }
}

/** Composes a spam message with two Received fields; `mark` makes it unique. */
export function sampleMessage(mark: string): Buffer<ArrayBuffer> {
  const below = [
    'Received: from app (localhost [127.0.0.1]) by mail.shop.example (Postfix) with ESMTP id 1',
    ' for <you@provider.example>; Mon, 16 Nov 2026 09:59:58 +0000',
  ]
  return spamMessage(mark, { below })
}

/** Checks that a response is a problem (RFC 9457) with its status and a detail, and returns it. */
export async function problemIn(response: Response): Promise<Record<string, unknown>> {
  expect(response.headers.get('content-type')).toBe('application/problem+json')
  const problem = (await response.json()) as Record<string, unknown>
  expect(problem).toMatchObject({
    type: expect.stringMatching(/^http.*\/problems#/) as unknown,
    title: expect.any(String) as unknown,
    status: response.status,
    detail: expect.stringMatching(/.{10}/) as unknown,
  })
  return problem
}
