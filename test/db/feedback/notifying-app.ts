import { replaceScopes } from '../../../src/db/consumer-scopes.ts'
import type { ConsumerScope } from '../../../src/verdict/consumers.ts'
import { type Consumer, ensureConsumers, markEnrolled } from '../../../src/db/consumers.ts'
import { listFeedback } from '../../../src/db/feedback-reports.ts'
import { type Db, inTransaction } from '../../../src/db/pool.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { parser } from '../../support/parser.ts'

/** The network from which the spam of these tests comes. */
export const network = { cidr: '198.51.100.0/25', asn: 64497 }

/**
 * Opens an application whose reports come from one network; closes it after all tests of the file.
 */
export async function openNotifyingApp() {
  const app = await closeAfterTests(openTestApp())
  const { pool } = app
  let made = 0
  const contactsAre = async (...contacts: string[]) => {
    await pool.query(`update networks set contacts = $2, abuse = $3 where cidr = $1`, [
      ...[network.cidr, contacts, contacts[0] ?? null],
    ])
  }
  return {
    app,
    contactsAre,
    /** Resets everything; then only four contacts of the network are known. */
    async renew() {
      const tables = 'contact_corrections, consumer_scopes, suppressions, feedback_reports'
      await pool.query(`truncate ${tables}, consumer_hours, consumers`)
      await contactsAre(...['one', 'two', 'three', 'four'].map((name) => `abuse@${name}.example`))
    },
    /** Creates an analyzed spam report from the network. */
    async reported() {
      const [report = { reportId: '' }] = await app.reports(`told-${++made}`)
      await runAnalyzeReport([report], { ...app, parser })
      return report.reportId
    },
    /** Returns the recipients of a report: number, address, state. */
    async told(reportId: string) {
      const rows = await listFeedback(pool, [reportId])
      return rows.map(({ number, address, state }) => `${number} ${address} ${state}`)
    },
    async enroll(address: string, ...scopes: ConsumerScope[]) {
      const wanted = [{ address, source: 'enrollment' as const }]
      const consumer = (await ensureConsumers(pool, wanted, new Date())).get(address)
      if (!consumer) throw new Error('no consumer')
      await markEnrolled(pool, consumer.id, new Date())
      await replaceScopes(pool, consumer.id, scopes, new Date())
      return consumer
    },
    /** Changes a consumer directly in the database. */
    change: ({ id }: Consumer, assignment: string, ...params: unknown[]) =>
      pool.query(`update consumers set ${assignment} where id = $1`, [id, ...params]),
    inTx: <T>(work: (tx: Db) => Promise<T>) => inTransaction(pool, work),
  }
}
