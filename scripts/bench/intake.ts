import { type Prepared, prepareReport } from '../../src/reports/accept-report.ts'
import { inTransaction, type Db } from '../../src/db/pool.ts'
import { insertRawMessages, insertReports } from '../../src/db/reports.ts'
import { claimReportKeys } from '../../src/db/idempotency-keys.ts'
import { readMessage } from '../../src/mail/message.ts'
import { type Boss, send, startBoss, stopBoss } from '../../src/queue/boss.ts'
import { analyzeReport } from '../../src/reports/queues.ts'
import { uuidv7 } from '../../src/world.ts'
import { percentiles, printTable, readCorpus, variantOf } from './corpus.ts'
import { cpuSeconds, serverCpuSeconds, startInstance, type Instance } from './instance.ts'
import { postAll } from './load.ts'

type Measured = { perSecond: number; webCpu: number; databaseCpu: number; p50: number; p99: number }

const ROUNDS = 5
const REPORTS_A_ROUND = 4_000
const CONNECTIONS = 128
const ROWS_A_STATEMENT = 64
type Round = { limit: Measured; packed: Measured; http: Measured }
/** Whether the bytes are inserted as received, or packed as the program packs them. */
type Form = 'plain' | 'packed'

const none = { webCpu: Number.NaN, p50: Number.NaN, p99: Number.NaN }

/**
 * Measures how many reports per second are accepted durably over HTTP, compared with an upper
 * bound: the same prepared bytes with their fields, key and job are inserted by multi-row VALUES
 * over two connections. For a second bound, the bytes are packed beforehand, as the program stores
 * them. The cases alternate, so that a drift of the machine affects all.
 */
export async function benchIntake(): Promise<void> {
  const messages = readCorpus(['phishing', 'ham', 'newsletters', 'spam'])
  const instance = await startInstance()
  const onError = (error: Error) => console.error(error.message)
  const boss = await startBoss(instance.databaseUrl, 'sends', { name: 'bench', onError })
  try {
    const web = await instance.run('web')
    let number = 0
    const fresh = () =>
      Array.from({ length: REPORTS_A_ROUND }, () => {
        number++
        return variantOf(messages[number % messages.length] ?? Buffer.alloc(0), number)
      })
    await postAll(
      fresh().slice(0, 1_000),
      { url: instance.httpUrl, token: instance.token },
      { connections: CONNECTIONS },
    )
    const rounds: Round[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const limit = await measureLimit(await prepare(fresh(), 'plain'), instance, boss)
      const packed = await measureLimit(await prepare(fresh(), 'packed'), instance, boss)
      const http = await measureHttp(fresh(), instance, web.pid ?? 0)
      rounds.push({ limit, packed, http })
      const reached = `${format(http.perSecond)} of ${format(limit.perSecond)} reports/s`
      console.log(`round ${round + 1} of ${ROUNDS}: ${reached}`)
    }
    print(rounds)
  } finally {
    await stopBoss(boss, 1_000)
    await instance.close()
  }
}

async function prepare(messages: readonly Buffer[], form: Form): Promise<Prepared[]> {
  const now = new Date()
  return Promise.all(
    messages.map(async (raw) => {
      const prepared = await prepareReport(
        {
          reporterId: uuidv7(now),
          channel: 'import',
          kind: 'spam',
          message: readMessage(raw),
          comment: null,
          receivedVia: [],
        },
        now,
      )
      const plain = { encoding: 'identity' as const, content: raw }
      return form === 'packed' ? prepared : { ...prepared, packed: plain }
    }),
  )
}

async function measureLimit(
  rows: readonly Prepared[],
  instance: Instance,
  boss: Boss,
): Promise<Measured> {
  const batches = Array.from({ length: Math.ceil(rows.length / ROWS_A_STATEMENT) }, (_, index) =>
    rows.slice(index * ROWS_A_STATEMENT, (index + 1) * ROWS_A_STATEMENT),
  )
  const cpuBefore = await serverCpuSeconds(instance.server)
  const start = performance.now()
  const writer = async () => {
    for (let batch = batches.pop(); batch; batch = batches.pop()) {
      const rowsNow = batch
      await inTransaction(instance.pool, (tx) => insertAll(tx, rowsNow, boss))
    }
  }
  await Promise.all([writer(), writer()])
  const seconds = (performance.now() - start) / 1000
  const databaseCpu = (await serverCpuSeconds(instance.server)) - cpuBefore
  return { ...none, perSecond: rows.length / seconds, databaseCpu: databaseCpu / rows.length }
}

async function insertAll(tx: Db, rows: readonly Prepared[], boss: Boss): Promise<void> {
  const reports = rows.map(({ report }) => report)
  await claimReportKeys(
    tx,
    rows.map(({ report, contentHash }) => ({
      contentHash,
      reporterId: report.reporterId,
      reportId: report.id,
    })),
  )
  await insertReports(tx, reports)
  await insertRawMessages(
    tx,
    rows.map(({ report, packed }) => ({ id: report.id, ...packed })),
  )
  await send(
    boss,
    analyzeReport,
    reports.map(({ id }) => ({ reportId: id })),
    tx,
  )
}

async function measureHttp(
  messages: readonly Buffer[],
  instance: Instance,
  webPid: number,
): Promise<Measured> {
  const before = {
    web: await cpuSeconds(webPid),
    database: await serverCpuSeconds(instance.server),
  }
  const start = performance.now()
  const target = { url: instance.httpUrl, token: instance.token }
  const posted = await postAll(messages, target, { connections: CONNECTIONS })
  const seconds = (performance.now() - start) / 1000
  const refused = posted.filter(({ status }) => status !== 202)
  if (refused.length > 0)
    throw new Error(`not accepted: ${[...new Set(refused.map(({ status }) => status))].join(', ')}`)
  const { p50, p99 } = percentiles(posted.map(({ ms }) => ms))
  return {
    perSecond: messages.length / seconds,
    webCpu: ((await cpuSeconds(webPid)) - before.web) / messages.length,
    databaseCpu: ((await serverCpuSeconds(instance.server)) - before.database) / messages.length,
    p50,
    p99,
  }
}

function print(rounds: readonly Round[]): void {
  const median = (pick: (round: Round) => number) => percentiles(rounds.map(pick)).p50
  const micro = (seconds: number) => `${Math.round(seconds * 1e6)} µs`
  const limitRow = (name: string, of: 'limit' | 'packed') => [
    name,
    format(median((round) => round[of].perSecond)),
    median((round) => round[of].perSecond / round.limit.perSecond).toFixed(2),
    '',
    micro(median((round) => round[of].databaseCpu)),
    '',
    '',
  ]
  console.log('')
  printTable(
    ['bench intake (medians)', 'reports/s', 'ratio', 'web CPU', 'database CPU', 'p50', 'p99'],
    [
      limitRow('limit: the same bytes by multi-row VALUES, without the program', 'limit'),
      limitRow('the same, packed beforehand', 'packed'),
      [
        `HTTP, ${CONNECTIONS} keep-alive clients`,
        format(median(({ http }) => http.perSecond)),
        median(({ http, limit }) => http.perSecond / limit.perSecond).toFixed(2),
        micro(median(({ http }) => http.webCpu)),
        micro(median(({ http }) => http.databaseCpu)),
        `${median(({ http }) => http.p50).toFixed(1)} ms`,
        `${median(({ http }) => http.p99).toFixed(1)} ms`,
      ],
    ],
  )
}

function format(perSecond: number): string {
  return Math.round(perSecond).toLocaleString('en-US')
}
