import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { pino } from 'pino'
import { addAccount } from '../../../../src/processes/add-account.ts'
import { web } from '../../../../src/processes/web.ts'
import { readConfig } from '../../../../src/config.ts'
import { createPool } from '../../../../src/db/pool.ts'
import { freePort } from '../../free-port.ts'
import { checkPaths } from '../../../../src/web/check/check-routes.ts'
import { startBoss, stopBoss } from '../../../../src/queue/boss.ts'
import { systemClock } from '../../../../src/world.ts'
import { signedInBrowser } from '../../../db/web/browser.ts'
import { watchRoutes } from '../../pages/route-list.ts'
import { startProgram } from '../../process.ts'
import { withOwnDatabase } from '../../own-database.ts'
import { hostileBodies } from './hostile-bodies.ts'
import type { Probe } from './probe-thread.ts'
import { type BodyRoute, bodyRoutes, sendBody, type Sender } from './send-body.ts'
import { ringOf } from '../../key-ring.ts'

const BYTES_MAX = 45_000_000
const AT_ONCE = 8
const P99_MS_MAX = 300
const QUIET_MS = 5_000
const PASSWORD = 'a password of the torture'
const LARGE_BYTES = 24_990_000

type Say = (line: string) => void
type Account = { email: string; token: string }

/**
 * Sends every kind of hostile body to every address of a `web` process, without a session and as an
 * administrator, while another client requests a page and reports. Returns the faults.
 */
export async function tortureBodies(say: Say): Promise<string[]> {
  return withOwnDatabase(async ({ url, dataDir }) => {
    const { routes, account } = await prepare(url)
    const env = {
      ...{ DATABASE_URL: url, DATA_DIR: dataDir, HTTP_PORT: String(await freePort()) },
      ...{ SECRET: 'a secret of the torture, long enough', LOG_LEVEL: 'error' },
      ...{ CHECK_PASSWORD: PASSWORD, WORKERS: '1' },
      NODE_OPTIONS: `--import ${path.join(import.meta.dirname, 'watch-turns.ts')}`,
    }
    const program = startProgram(['web'], env)
    try {
      await program.ready
      const site = `http://127.0.0.1:${env.HTTP_PORT}`
      say(await measureQuiet(site, account))
      const faults = await attack(site, { routes, account, say, said: program.said })
      faults.push(...(await sendLarge(site, account)))
      return faults
    } finally {
      const { code, signal } = await program.stop()
      say(`web ended with ${code ?? signal}`)
    }
  })
}

/** Creates an administrator, turns off the limits, and collects the addresses from the routers. */
async function prepare(url: string): Promise<{ routes: BodyRoute[]; account: Account }> {
  const pool = createPool(url, { connectionsMax: 5, name: 'torture', onLost: () => undefined })
  const boss = await startBoss(url, 'sends', { name: 'torture', onError: () => undefined })
  const config = readConfig({ HTTP_PORT: '0', DRAIN_SECONDS: '0' }, { cores: 2, cwd: '/nowhere' })
  const log = pino({ level: 'silent' })
  const secret = ringOf('a secret of the torture, long enough')
  const app = { config: { ...config, databaseUrl: url, secret }, pool, boss, log }
  try {
    const listRoutes = watchRoutes()
    const served = await web({ ...app, clock: systemClock })
    const routes = bodyRoutes(listRoutes, checkPaths())
    await served.close()
    const email = 'admin@reporters.example'
    const wish = { email, password: PASSWORD, role: 'administrator' as const, wantsToken: true }
    const { token } = await addAccount(wish, { pool, clock: systemClock })
    await pool.query(`update rate_limits set behavior = 'off'`)
    return { routes, account: { email, token: token ?? '' } }
  } finally {
    await stopBoss(boss, 1_000)
    await pool.end()
  }
}

type Attack = { routes: readonly BodyRoute[]; account: Account; say: Say; said: () => string }

async function attack(
  site: string,
  { routes, account, say, said: written }: Attack,
): Promise<string[]> {
  const faults: string[] = []
  const person = { email: account.email, password: PASSWORD }
  const cookie = (await signedInBrowser(site, person)).cookies()
  const basic = Buffer.from(`${account.email}:${PASSWORD}`).toString('base64')
  const senderTo = (route: string): Sender => {
    if (route.startsWith('/api/signaler')) return { authorization: `Basic ${basic}` }
    if (route.startsWith('/api/')) return { authorization: `Bearer ${account.token}` }
    return { cookie, password: PASSWORD }
  }
  for (const body of hostileBodies) {
    const waiting = routes.flatMap((route) =>
      [{}, senderTo(route.path)].map((sender) => ({ route, sender })),
    )
    const requests = waiting.length
    const answers = new Map<number, number>()
    let sentBytes = 0
    const writtenBefore = written().length
    const probe = startProbe({ url: site, token: account.token })
    const lane = async () => {
      for (let next = waiting.pop(); next; next = waiting.pop()) {
        const { route, sender } = next
        const said = await sendBody(site, route, body, { bytesMax: BYTES_MAX, sender })
        answers.set(said.status, (answers.get(said.status) ?? 0) + 1)
        sentBytes += said.sentBytes
        if (said.status === 500) faults.push(`${body.name} to ${route.path}: 500`)
      }
    }
    const startedAt = performance.now()
    await Promise.all(Array.from({ length: AT_ONCE }, lane))
    const { p99, most, asked, failures } = await probe.end()
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
    const said = [...answers].sort().map(([status, times]) => `${status}: ${times}`)
    const turns = [
      ...written()
        .slice(writtenBefore)
        .matchAll(/turn of (\d+) ms/g),
    ]
    const longest = Math.max(0, ...turns.map(([, ms]) => Number(ms)))
    say(
      `${body.name}: ${requests} requests, ${(sentBytes / 1e6).toFixed(0)} MB in ${seconds} s; ` +
        `another client: ${asked} requests, p99 ${p99} ms, at most ${most} ms; longest turn ${longest > 0 ? longest : 'below 50'} ms; ${said.join(', ')}`,
    )
    if (longest > 0) faults.push(`${body.name}: the event loop is blocked for ${longest} ms`)
    if (p99 > P99_MS_MAX) faults.push(`${body.name}: p99 of another client is ${p99} ms`)
    if (failures > 0) faults.push(`${body.name}: ${failures} requests of another client failed`)
  }
  return faults
}

/** Measures the requests of the other client while there are no attacks. */
async function measureQuiet(site: string, { token }: Account): Promise<string> {
  const probe = startProbe({ url: site, token })
  await wait(QUIET_MS)
  const { p99, most, asked } = await probe.end()
  return `without an attack: ${asked} requests, p99 ${p99} ms, at most ${most} ms`
}

function startProbe(probe: Probe) {
  const file = path.join(import.meta.dirname, 'probe-thread.ts')
  const worker = new Worker(file, { workerData: probe })
  const done = new Promise<{ times: number[]; failures: number }>((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
  })
  return {
    async end() {
      worker.postMessage('end')
      const { times, failures } = await done
      const sorted = times.toSorted((one, other) => one - other)
      const at = (share: number) => Math.round(sorted[Math.floor(sorted.length * share)] ?? 0)
      return { p99: at(0.99), most: Math.round(sorted.at(-1) ?? 0), asked: times.length, failures }
    },
  }
}

/** Checks that a message of nearly 25 MB is still accepted. */
async function sendLarge(site: string, { token }: Account): Promise<string[]> {
  const head = 'From: a@shop.example\r\nSubject: large\r\nReceived: from a by b\r\n\r\n'
  const body = Buffer.concat([Buffer.from(head), Buffer.alloc(LARGE_BYTES, 'a text line\r\n')])
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'message/rfc822' }
  const answer = await fetch(`${site}/api/v1/reports`, { method: 'POST', headers, body })
  return answer.status === 202 ? [] : [`a message of 25 MB: ${answer.status}`]
}
