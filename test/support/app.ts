import path from 'node:path'
import { pino } from 'pino'
import type { App, WorkApp } from '../../src/app.ts'
import { isOutage } from '../../src/db/follow.ts'
import { addAccount } from '../../src/processes/add-account.ts'
import { importNetworks } from '../../src/processes/import-networks.ts'
import { readConfig } from '../../src/config.ts'
import { type AcceptedReport, createIntake } from '../../src/reports/accept-report.ts'
import type { ReportKind } from '../../src/db/reports.ts'
import type { Judge } from '../../src/judging/judge.ts'
import { startBoss, stopBoss } from '../../src/queue/boss.ts'
import { systemClock } from '../../src/world.ts'
import { freshDatabase, type TestDatabase } from './database.ts'
import { testJudge } from './judge.ts'
import { spamMessage } from './messages.ts'
import { readMessage } from '../../src/mail/message.ts'
import { ringOf } from './key-ring.ts'

/** An application with its own database, the sample networks and two reporters. */
export type TestApp = App & {
  database: TestDatabase
  /** A registry client that sends no queries, unless a test provides another. */
  rdap: WorkApp['rdap']
  /** A judge with the shipped rules. */
  judge: Judge
  /** The ids of the accounts. */
  ann: string
  bob: string
  /** Accepts a report, by ann unless another reporter is given. */
  report: (
    raw: Buffer,
    more?: { kind?: ReportKind; reporterId?: string; isShadowed?: boolean },
  ) => Promise<AcceptedReport>
  /** Accepts reports of new spam messages and returns their payloads. */
  reports: (...marks: string[]) => Promise<{ reportId: string }[]>
  /** The rows of a query, as plain values. */
  rows: (text: string, params?: unknown[]) => Promise<Record<string, unknown>[]>
  close: () => Promise<void>
}

const networks = path.join(import.meta.dirname, '../../src/db/sample-networks.csv')

/** Opens a test application. `env` contains settings as the environment would. */
export async function openTestApp(env: Record<string, string> = {}): Promise<TestApp> {
  const database = await freshDatabase()
  const { pool } = database
  // Tests that end connections on purpose lose those of the queues, too.
  const onError = (error: Error) => void (isOutage(error) || console.error(error))
  const boss = await startBoss(database.url, 'sends', { name: 'test', onError })
  const silent = {
    ...{ RDAP_BOOTSTRAP_URL: 'none', DNS_SERVERS: 'none' },
    ...{ MESSAGE_AGE_MAX: '0', DRAIN_SECONDS: '0', SPOOL_MEGABYTES: '0' },
  }
  const given = { RETURN_PATH_DOMAIN: 'bounces.test.example', ...silent, ...env }
  const secret = ringOf('a secret of the tests, long enough for all')
  const config = {
    ...readConfig(given, { cores: 2, cwd: '/nowhere' }),
    databaseUrl: database.url,
    secret,
  }
  const app: App = { config, pool, boss, clock: systemClock, log: pino({ level: 'silent' }) }
  await importNetworks(networks, app)
  const account = (name: string) =>
    addAccount(
      {
        email: `${name}@reporters.example`,
        password: undefined,
        role: null,
        wantsToken: false,
      },
      app,
    )
  const [ann, bob] = await Promise.all([account('ann'), account('bob')])
  const intake = createIntake(app)
  const report: TestApp['report'] = (raw, more = {}) =>
    intake.accept({
      reporterId: ann.id,
      channel: 'api',
      kind: 'spam',
      message: readMessage(raw),
      comment: null,
      receivedVia: [],
      ...more,
    })
  return {
    ...app,
    database,
    rdap: undefined,
    judge: testJudge(pool, app.clock),
    ann: ann.id,
    bob: bob.id,
    report,
    reports: async (...marks) => {
      const accepted = await Promise.all(marks.map((mark) => report(spamMessage(mark))))
      return accepted.map(({ id }) => ({ reportId: id }))
    },
    rows: async (text, params) => (await pool.query<Record<string, unknown>>(text, params)).rows,
    close: async () => {
      await stopBoss(boss, 1_000)
      await database.close()
    },
  }
}
