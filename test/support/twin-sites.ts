import { pino } from 'pino'
import { readConfig } from '../../src/config.ts'
import { insertRawMessages, insertReports, type ReportKind } from '../../src/db/reports.ts'
import { pack } from '../../src/db/rows.ts'
import { insertKarma } from '../../src/db/reputations.ts'
import { insertReporter } from '../../src/db/reporters.ts'
import { inTransaction } from '../../src/db/pool.ts'
import { runPaceFeedback } from '../../src/feedback/pace-feedback.ts'
import { importNetworks } from '../../src/processes/import-networks.ts'
import { startBoss, stopBoss } from '../../src/queue/boss.ts'
import { runRedeemReport } from '../../src/reports/redeem-report.ts'
import { uuidv7 } from '../../src/world.ts'
import { rollUpAll } from './counter-rows.ts'
import type { TestDatabase } from './database.ts'
import { foldAll } from './evidence.ts'
import { analyzeReports } from './judge.ts'
import { sampleNetworks } from './messages.ts'
import { parser } from './parser.ts'
import { spamMessage } from './messages.ts'
import { ringOf } from './key-ring.ts'

/** A report to give to a site: its id is the same on every site. */
export type GivenReport = {
  id: string
  reporterId: string
  kind: ReportKind
  raw: Buffer
  at: Date
}

/** A site whose clock the test sets, and whose jobs it runs. */
export type TwinSite = Awaited<ReturnType<typeof openSite>>

/** Opens a site on a database. */
export async function openSite(database: TestDatabase, startsAt: Date) {
  const { pool } = database
  const boss = await startBoss(database.url, 'sends', { name: 'test', onError: () => undefined })
  let now = startsAt
  const config = {
    ...readConfig({ MESSAGE_AGE_MAX: '0', SPOOL_MEGABYTES: '0' }, { cores: 2, cwd: '/nowhere' }),
    databaseUrl: database.url,
    secret: ringOf('a secret of the tests, long enough'),
  }
  const app = { config, pool, boss, clock: () => now, log: pino({ level: 'silent' }) }

  /** Takes the jobs of a queue. */
  async function take(queue: string): Promise<{ reportId: string }[]> {
    const { rows } = await pool.query<{ data: { reportId: string } }>(
      `delete from pgboss.job where name = $1 and state = 'created' returning data`,
      [queue],
    )
    return rows.map(({ data }) => data).toSorted((a, b) => (a.reportId < b.reportId ? -1 : 1))
  }

  return {
    app,
    async addReporter(name: string, id: string, isVouched: boolean): Promise<void> {
      const email = `${name}@${name}.example`
      const account = { id, email, passwordHash: null, role: null, createdAt: now }
      await insertReporter(pool, account)
      await insertKarma(pool, { reporterId: id, isVouched, now })
    },
    /** Accepts reports, in the order of their ids. */
    async accept(reports: readonly GivenReport[]): Promise<void> {
      await inTransaction(pool, async (tx) => {
        const rows = reports.map(({ id, reporterId, kind, at, raw }) => ({
          ...{ id, reporterId, channel: 'api' as const, kind, receivedAt: at },
          ...{ messageBytes: raw.length, author: null, subject: null, messageId: null },
          ...{ datedAt: null, comment: null, receivedVia: [], rebuiltFrom: null },
        }))
        await insertReports(tx, rows)
        const raws = await Promise.all(
          reports.map(async ({ id, raw }) => ({ id, ...(await pack(raw)) })),
        )
        await insertRawMessages(tx, raws)
        await boss.insert(
          'analyze-report',
          reports.map(({ id }) => ({ data: { reportId: id } })),
        )
      })
    },
    /** Runs the waiting jobs about reports, and counts and folds what they add. */
    async work(): Promise<void> {
      const analyses = await take('analyze-report')
      for (let at = 0; at < analyses.length; at += 20) {
        await analyzeReports(
          { ...app, parser },
          analyses.slice(at, at + 20).map(({ reportId }) => reportId),
        )
      }
      await runRedeemReport(await take('redeem-report'), app)
      await this.count()
    },
    async count(): Promise<void> {
      await rollUpAll(pool, now)
      await foldAll(pool, now)
    },
    pace: () => runPaceFeedback(app),
    setClock: (at: Date) => void (now = at),
    importNetworks: () => importNetworks(sampleNetworks, app),
    close: async () => {
      await stopBoss(boss, 1_000)
      await pool.end()
    },
  }
}

let made = 0

/** Returns an id that depends on the time and the number of earlier ones only. */
export function nextId(at: Date): string {
  made++
  return uuidv7(at, (length) => {
    const bytes = Buffer.alloc(length, 7)
    bytes.writeUInt32BE(made, 9)
    // Spreads the ids over the shards.
    bytes[length - 1] = (made * 37) & 0xff
    return bytes
  })
}

/** Messages of several kinds: spam of three campaigns and networks, and mail that looks wanted. */
export function messageOf(n: number): Buffer {
  const ip = ['192.0.2.9', '198.51.100.23', '203.0.113.7'][n % 3] ?? ''
  const texts = ['Your parcel waits, pay the customs fee', 'Invest in gold today', 'Meet singles']
  const text = texts[n % 3] ?? ''
  const raw = spamMessage(`m${n}`, { ip }).toString()
  const own = raw.replace('Cheap watches', text).replace('Buy at', `${text}. ${text} at`)
  if (n % 7 === 0)
    return Buffer.from(own.replace('From:', 'In-Reply-To: <you@provider.example>\r\nFrom:'))
  return Buffer.from(own)
}

/** Leaves out feedback that the action queued, and that was withdrawn unsent. */
export function withoutExtra<Owed extends { feedback: unknown[] }>(site: Owed, twin: Owed): Owed {
  const key = (one: unknown) => {
    const { report_id: id, number } = one as { report_id: string; number: number }
    return `${id} ${number}`
  }
  const known = new Set(twin.feedback.map(key))
  const isExtra = (one: unknown) =>
    !known.has(key(one)) && (one as { state: string }).state === 'withdrawn'
  return { ...site, feedback: site.feedback.filter((one) => !isExtra(one)) }
}
