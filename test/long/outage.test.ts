import { readdir, rm } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, onTestFailed, test } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { addAccount } from '../../src/processes/add-account.ts'
import { systemClock } from '../../src/world.ts'
import { layWire } from '../db/web/cut-wire.ts'
import { closeAfterThisTest } from '../support/after-tests.ts'
import { type AcceptedReport, expectOnce, postReport } from '../support/accepted-reports.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'
import { type Program, startProgram, until } from '../support/process.ts'
import { makeScratchFolder } from '../support/scratch-folder.ts'

/** The peak that Signal Spam planned for. */
const PER_SECOND = 17
/** `OUTAGE_SECONDS=3600 npm run test:long -- outage` is the outage of an hour. */
const SECONDS = Number(process.env['OUTAGE_SECONDS'] ?? 45)
const KILLS = 4
const SECRET = 'a secret of the outage test, long enough'

type Side = { url: string; env: Record<string, string> }

test(
  'reports during an outage are accepted, and stored once, whatever is killed',
  { timeout: (SECONDS + 600) * 1_000 },
  async () => {
    const database = await closeAfterThisTest(freshDatabase())
    const wired = new URL(database.url)
    const wire = await layWire(Number(wired.port))
    wired.host = `127.0.0.1:${wire.port}`
    const folder = await makeScratchFolder('outage')
    const token = await prepare(database)
    const sides = [await sideOn(wired.href, folder), await sideOn(wired.href, folder)] as const
    const running = sides.map(start)
    onTestFailed(() => running.forEach((program) => console.info(program.said())))
    try {
      await Promise.all(sides.map((side) => until('web', () => isReady(side))))
      // A caller is known to a process that has seen it.
      for (const side of sides) expect(await postReport(side, token, 'before')).toBeDefined()

      await wire.cut()
      const accepted = await reportFor(SECONDS, sides, token)
      expect(accepted.length).toBe(SECONDS * PER_SECOND)
      // A process that is started again during the outage knows its callers.
      running[1]?.kill('SIGKILL')
      await running[1]?.ended
      running[1] = start(sides[1])
      await until('web', () => isReady(sides[1]))
      const id = await postReport(sides[1], token, 'outage-started-again')
      expect(id).toBeDefined()
      accepted.push({ id: id ?? '', mark: 'outage-started-again' })

      // One process is gone for good; the other one is killed again and again while it stores.
      running[1]?.kill('SIGKILL')
      running[0]?.kill('SIGKILL')
      await wire.mend()
      for (let kills = 0; kills < KILLS; kills++) {
        const before = await countReports(database)
        running[0] = start(sides[0])
        await until('progress', async () => (await countReports(database)) > before || undefined)
        running[0].kill('SIGKILL')
        await running[0].ended
      }
      running[0] = start(sides[0])
      await until('an empty spool', async () => {
        const files = await readdir(folder)
        return files.every((name) => name.startsWith('callers')) || undefined
      })
      await expectOnce(database, accepted, 'outage-')
      for (const { id } of accepted.slice(0, 50)) {
        const headers = { authorization: `Bearer ${token}` }
        const answer = await fetch(`${sides[0].url}/api/v1/reports/${id}`, { headers })
        expect(answer.status).toBe(200)
      }
    } finally {
      await Promise.all(running.map((program) => program.stop()))
      await wire.cut().catch(() => undefined)
      await rm(folder, { recursive: true, force: true })
    }
  },
)

async function prepare({ pool }: TestDatabase): Promise<string> {
  await pool.query('update rate_limits set attempts_max = 10000000')
  const request = { email: 'ann@reporters.example', password: undefined, role: null }
  const added = await addAccount({ ...request, wantsToken: true }, { pool, clock: systemClock })
  return added.token ?? ''
}

async function sideOn(databaseUrl: string, folder: string): Promise<Side> {
  const port = await freePort()
  const env = {
    DATABASE_URL: databaseUrl,
    HTTP_PORT: String(port),
    SPOOL_DIR: folder,
    DATA_DIR: folder,
    SECRET,
    DRAIN_SECONDS: '0',
    LOG_LEVEL: 'info',
  }
  return { url: `http://127.0.0.1:${port}`, env }
}

const start = ({ env }: Side): Program => startProgram(['web'], env)

async function isReady({ url }: Side): Promise<true | undefined> {
  const answer = await fetch(`${url}/readyz`).catch(() => undefined)
  return answer?.status === 200 || undefined
}

/** Reports at the planned rate; each message in a hundred is one that was reported before. */
async function reportFor(
  seconds: number,
  sides: readonly [Side, Side],
  token: string,
): Promise<AcceptedReport[]> {
  const accepted: AcceptedReport[] = []
  const began = performance.now()
  for (let second = 0; second < seconds; second++) {
    const some = Array.from({ length: PER_SECOND }, async (_, index) => {
      const number = second * PER_SECOND + index
      const mark = number % 100 === 99 ? `outage-${number - 1}` : `outage-${number}`
      const id = await postReport(sides[index % 2 === 0 ? 0 : 1], token, mark)
      if (id !== undefined) accepted.push({ id, mark })
    })
    await Promise.all(some)
    await wait(Math.max(0, began + (second + 1) * 1_000 - performance.now()))
  }
  return accepted
}

async function countReports({ pool }: TestDatabase): Promise<number> {
  const { rows } = await pool.query<{ count: number }>('select count(*) from reports')
  return rows[0]?.count ?? 0
}
