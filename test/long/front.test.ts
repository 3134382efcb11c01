import { readdir, rm, writeFile } from 'node:fs/promises'
import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, onTestFailed, test } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { addAccount } from '../../src/processes/add-account.ts'
import { systemClock } from '../../src/world.ts'
import { type AcceptedReport, expectOnce, postReport } from '../support/accepted-reports.ts'
import { closeAfterThisTest } from '../support/after-tests.ts'
import { selfSigned } from '../support/certificate.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'
import { startProgram, until } from '../support/process.ts'
import { makeScratchFolder } from '../support/scratch-folder.ts'

const FRONT_KEY = 'a key of the test of fronts, long enough'
const PER_SECOND = 17
const SECONDS = 40
const REVOKED_MS_MAX = 60_000

test(
  'a front without a database loses no report, whatever is killed, and stores each once',
  { timeout: (SECONDS + 600) * 1_000 },
  async () => {
    const database = await closeAfterThisTest(freshDatabase())
    await database.pool.query('update rate_limits set attempts_max = 10000000')
    const folder = await makeScratchFolder('front')
    const [mainPort, frontPort] = [await freePort(), await freePort()]
    const tls = await startTls(mainPort)
    const certificateFile = path.join(folder, 'ca.pem')
    await writeFile(certificateFile, tls.certificate)
    const common = { FRONT_KEY, DATA_DIR: folder, LOG_LEVEL: 'info' }
    const mainEnv = { ...common, DATABASE_URL: database.url, HTTP_PORT: String(mainPort) }
    const spool = path.join(folder, 'spool-of-front')
    const frontEnv = {
      ...common,
      MAIN_URL: `https://localhost:${tls.port}`,
      HTTP_PORT: String(frontPort),
      SPOOL_DIR: spool,
    }
    const trusting = { ...frontEnv, NODE_EXTRA_CA_CERTS: certificateFile }
    const front = { url: `http://127.0.0.1:${frontPort}` }
    const main = { url: `http://127.0.0.1:${mainPort}` }
    const readyz = async ({ url }: { url: string }) => (await fetch(`${url}/readyz`)).text()
    const [token, revoked] = [await addToken(database, 'ann'), await addToken(database, 'old')]

    let mainRuns = startProgram(['web'], mainEnv)
    // The certificate is not known yet.
    let frontRuns = startProgram(['web'], frontEnv)
    onTestFailed(() => console.info(mainRuns.said(), frontRuns.said()))
    try {
      await until('main', async () => (await readyz(main)) === 'ready\n' || undefined)
      await until('a refusal', async () => /certificate/.exec(await readyz(front)) ?? undefined)
      expect(await postReport(front, token, 'untrusted')).toBeUndefined()
      await frontRuns.stop()
      frontRuns = startProgram(['web'], trusting)
      await until('front', async () => (await readyz(front)) === 'ready\n' || undefined)
      expect(await postReport(front, revoked, 'front-not-revoked')).toBeDefined()

      const accepted: AcceptedReport[] = []
      const reporting = reportFor(SECONDS, front, token, accepted)
      for (let kills = 0; kills < 6; kills++) {
        await wait((SECONDS * 1_000) / 7)
        if (kills === 2) {
          frontRuns.kill('SIGKILL')
          await frontRuns.ended
          frontRuns = startProgram(['web'], trusting)
        } else if (kills % 2 === 0) {
          mainRuns.kill('SIGKILL')
          await mainRuns.ended
          await wait(2_000)
          mainRuns = startProgram(['web'], mainEnv)
        } else tls.cut()
      }
      await reporting
      expect(accepted.length).toBeGreaterThan(PER_SECOND * SECONDS * 0.5)
      await until('an empty spool', async () => {
        const files = await readdir(spool)
        return files.every((name) => name.startsWith('callers')) || undefined
      })
      await expectOnce(database, accepted, 'front-m')
      for (const { id } of accepted.slice(-50)) {
        const headers = { authorization: `Bearer ${token}` }
        expect((await fetch(`${main.url}/api/v1/reports/${id}`, { headers })).status).toBe(200)
      }

      const at = performance.now()
      await database.pool.query(`delete from tokens where reporter_id =
        (select id from reporters where email like 'old@%')`)
      await until(
        'the refusal of a revoked token',
        async () =>
          (await postReport(front, revoked, `revoked-${performance.now()}`)) === undefined ||
          undefined,
      )
      expect(performance.now() - at).toBeLessThan(REVOKED_MS_MAX)
      expect(await postReport(front, token, 'front-last')).toBeDefined()
    } finally {
      await Promise.all([mainRuns.stop(), frontRuns.stop()])
      await tls.close()
      await rm(folder, { recursive: true, force: true })
    }
  },
)

async function addToken({ pool }: TestDatabase, name: string): Promise<string> {
  const request = { email: `${name}@reporters.example`, password: undefined, role: null }
  const added = await addAccount({ ...request, wantsToken: true }, { pool, clock: systemClock })
  return added.token ?? ''
}

/** Reports at the planned rate; each message in a hundred is one that was reported before. */
async function reportFor(
  seconds: number,
  front: { url: string },
  token: string,
  accepted: AcceptedReport[],
): Promise<void> {
  const began = performance.now()
  for (let second = 0; second < seconds; second++) {
    const some = Array.from({ length: PER_SECOND }, async (_, index) => {
      const number = second * PER_SECOND + index
      const mark = `front-m${number % 100 === 99 ? number - 1 : number}`
      // A front that was killed has not acknowledged.
      const id = await postReport(front, token, mark).catch(() => undefined)
      if (id !== undefined) accepted.push({ id, mark })
    })
    await Promise.all(some)
    await wait(Math.max(0, began + (second + 1) * 1_000 - performance.now()))
  }
}

/** A proxy with a certificate of its own in front of the main installation. */
async function startTls(mainPort: number) {
  const { cert, key } = selfSigned()
  const sockets = new Set<Socket>()
  const server = createServer({ cert, key }, (req, res) => passOn(req, res, mainPort))
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve))
  const cut = () => sockets.forEach((socket) => socket.destroy())
  return {
    port: (server.address() as AddressInfo).port,
    certificate: cert,
    cut,
    async close() {
      cut()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function passOn(req: IncomingMessage, res: ServerResponse, port: number): void {
  const { method, url: to, headers } = req
  const passed = request({ host: '127.0.0.1', port, method, path: to, headers }, (answer) => {
    res.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(res)
  })
  passed.once('error', () => res.destroy())
  req.pipe(passed)
}
