import { Agent, request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { addAccount } from '../../../../src/processes/add-account.ts'
import { freePort } from '../../free-port.ts'
import { createPool } from '../../../../src/db/pool.ts'
import { systemClock } from '../../../../src/world.ts'
import { type Program, startProgram } from '../../process.ts'
import { withOwnDatabase } from '../../own-database.ts'

const LOOK_MS = 500
const DRAIN_SECONDS = 3
const LANES = 16

/** One of two `web` processes, as the load balancer sees it. */
type Backend = { url: string; env: Record<string, string>; isReady: boolean; program: Program }

/**
 * Restarts two `web` processes in turn, behind a load balancer that checks `/readyz` twice a second
 * and sends both processes as many requests as they accept. No request may fail.
 */
export async function tortureRestarts(
  restarts: number,
  say: (line: string) => void,
): Promise<string[]> {
  return withOwnDatabase(async ({ url, dataDir }) => {
    const token = await addReporter(url)
    const backends: Backend[] = []
    const over = new AbortController()
    try {
      for (let index = 0; index < 2; index++) backends.push(await startBackend(url, dataDir))
      await Promise.all(backends.map(({ program }) => program.ready))
      const looking = backends.map((one) => look(one, over.signal))
      await untilReady(backends)
      const answers = new Map<string, number>()
      const lanes = Array.from({ length: LANES }, (_, lane) =>
        load({ backends, token, lane, answers, over: over.signal }),
      )
      for (let done = 0; done < restarts; done++) {
        const one = backends[done % backends.length]
        if (one) await restart(one)
        await untilReady(backends)
        say(`restart ${done + 1}: ${shown(answers)}`)
      }
      over.abort()
      await Promise.all([...lanes, ...looking])
      return [...answers].filter(([said]) => !/^20\d$/.test(said)).map(String)
    } finally {
      over.abort()
      await Promise.all(backends.map(({ program }) => program.stop()))
    }
  })
}

async function addReporter(url: string): Promise<string> {
  const pool = createPool(url, { connectionsMax: 1, name: 'torture', onLost: () => undefined })
  const wish = { email: 'ann@reporters.example', password: undefined, role: null }
  const { token } = await addAccount({ ...wish, wantsToken: true }, { pool, clock: systemClock })
  await pool.query(`update rate_limits set behavior = 'off'`)
  await pool.end()
  return token ?? ''
}

async function startBackend(databaseUrl: string, dataDir: string): Promise<Backend> {
  const port = String(await freePort())
  const env = {
    ...{ DATABASE_URL: databaseUrl, DATA_DIR: dataDir, HTTP_PORT: port, LOG_LEVEL: 'error' },
    ...{ SECRET: 'a secret of the torture, long enough', WORKERS: '1' },
    DRAIN_SECONDS: String(DRAIN_SECONDS),
  }
  const program = startProgram(['web'], env)
  return { url: `http://127.0.0.1:${port}`, env, isReady: false, program }
}

async function restart(backend: Backend): Promise<void> {
  const { code } = await backend.program.stop()
  if (code !== 0) throw new Error(`web ended with ${code}:\n${backend.program.said()}`)
  backend.program = startProgram(['web'], backend.env)
  await backend.program.ready
}

/** Keeps up to date whether a backend is ready. */
async function look(backend: Backend, over: AbortSignal): Promise<void> {
  for (; !over.aborted; await wait(LOOK_MS)) {
    const answer = await fetch(`${backend.url}/readyz`).catch(() => undefined)
    backend.isReady = answer?.status === 200
    await answer?.text().catch(() => undefined)
  }
}

async function untilReady(backends: readonly Backend[]): Promise<void> {
  while (!backends.every(({ isReady }) => isReady)) await wait(50)
}

type Load = {
  backends: readonly Backend[]
  token: string
  lane: number
  answers: Map<string, number>
  over: AbortSignal
}

/** Sends one request after another on kept connections, in turn to each ready process. */
async function load({ backends, token, lane, answers, over }: Load): Promise<void> {
  const agents = backends.map(() => new Agent({ keepAlive: true, maxSockets: 1 }))
  for (let asked = lane; !over.aborted; asked++) {
    const ready = backends.filter(({ isReady }) => isReady)
    const one = ready[asked % Math.max(1, ready.length)]
    const agent = one && agents[backends.indexOf(one)]
    const said = one && agent ? await ask(one.url, agent, { token, mark: asked }) : 'none is ready'
    answers.set(said, (answers.get(said) ?? 0) + 1)
  }
  for (const agent of agents) agent.destroy()
}

function ask(url: string, agent: Agent, { token, mark }: { token: string; mark: number }) {
  const isReport = mark % 2 === 0
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'message/rfc822' }
  const options = isReport ? { method: 'POST', agent, headers } : { agent }
  const path = isReport ? '/api/v1/reports' : '/sign-in'
  return new Promise<string>((resolve) => {
    const req = request(`${url}${path}`, options, (res) => {
      res.on('error', (error) => resolve(error.message))
      res.resume()
      res.once('end', () => resolve(String(res.statusCode)))
    })
    req.on('error', (error) => resolve(error.message))
    const message = `From: a@shop.example\r\nSubject: ${mark}\r\nReceived: from a by b\r\n\r\nx\r\n`
    req.end(isReport ? message : '')
  })
}

function shown(answers: ReadonlyMap<string, number>): string {
  return [...answers].map(([said, times]) => `${said}: ${times}`).join(', ')
}
