import { afterAll } from 'vitest'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp, type TestApp } from '../../support/app.ts'
import { spamMessage } from '../../support/messages.ts'
import { parser } from '../../support/parser.ts'
import { openRdapPlace } from '../../support/rdap-client.ts'

/** The payload of the jobs in these tests. */
type Payload = { reportId: string; firstAskedAt?: string }

/** The state of a report that waits for the registry. */
export const waiting = { state: 'analyzed', action: 'look-up', told: [], said: [], forwards: 0 }

/**
 * Opens an application whose reports wait for a test registry; closes both after all tests of the
 * file.
 */
export async function openLookUps() {
  const app = await closeAfterTests(openTestApp())
  let place = await openRdapPlace()
  afterAll(() => place.close())
  let made = 0
  /** The application, with a clock that shows the registry's time. */
  const tools = () => ({ ...app, parser, rdap: place.rdap, clock: place.now })
  const jobsOf = ({ reportId }: Payload, queue: string) =>
    app.rows(
      `select data, start_after as "startAfter" from pgboss.job
       where name = $1 and data ->> 'reportId' = $2 order by created_on`,
      [queue, reportId],
    )
  return {
    app,
    tools,
    jobsOf,
    /** Opens a new registry without answers, and deletes cached answers and tables. */
    async renew() {
      await place.close()
      place = await openRdapPlace()
      await app.pool.query('delete from networks')
      return place
    },
    /** Creates analyzed spam reports from the given addresses. */
    async analyzed(...ips: string[]) {
      const payloads: Payload[] = []
      for (const ip of ips) {
        const { id } = await app.report(spamMessage(`look-up-${++made}`, { ip }))
        payloads.push({ reportId: id })
      }
      await runAnalyzeReport(payloads, tools())
      return payloads
    },
    /** Returns the state of a report, and its recipients. */
    standing: async (report: Payload) =>
      standing(app, report, await jobsOf(report, 'forward-report')),
  }
}

async function standing(app: TestApp, { reportId }: Payload, forwards: readonly unknown[]) {
  const id = [reportId]
  const [report] = await app.rows('select state from reports where id = $1', id)
  const [analysis] = await app.rows(
    `select network_cidr::text as cidr, network_abuse as abuse,
       judgment #>> '{consequence,action}' as action
     from analyses where id = $1`,
    id,
  )
  const feedback = await app.rows('select address from feedback_reports where report_id = $1', id)
  const events = await app.rows(
    `select phrases from report_events where report_id = $1 and event = 'looked-up'`,
    id,
  )
  return {
    state: report?.['state'],
    ...analysis,
    told: feedback.map(({ address }) => address),
    said: events.flatMap(({ phrases }) => phrases),
    forwards: forwards.length,
  }
}
