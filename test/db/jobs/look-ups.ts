import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import type { Judge } from '../../../src/judging/judge.ts'
import { createParserPool, type ParserPool } from '../../../src/parsing/parser-pool.ts'
import type { App, WorkApp } from '../../../src/app.ts'
import { openTestApp, type TestApp } from '../../support/app.ts'
import { spamMessage } from '../../support/messages.ts'
import { openRdapPlace, type RdapPlace } from '../../support/rdap-client.ts'

/** The payload of the jobs in these tests. */
type Payload = { reportId: string; firstAskedAt?: string }

/** An application whose reports wait for a test registry. */
export type LookUps = {
  app: TestApp
  /** Opens a new registry without answers, and deletes cached answers and tables. */
  renew: () => Promise<RdapPlace>
  /** The application, with a clock that shows the registry's time. */
  tools: () => App & { parser: ParserPool; judge: Judge; rdap: WorkApp['rdap'] }
  /** Creates analyzed spam reports from these addresses. */
  analyzed: (...ips: string[]) => Promise<Payload[]>
  jobsOf: (report: Payload, queue: string) => Promise<Record<string, unknown>[]>
  /** Returns the state of a report, and its recipients. */
  standing: (report: Payload) => Promise<Record<string, unknown>>
  close: () => Promise<void>
}

/** The state of a report that waits for the registry. */
export const waiting = { state: 'analyzed', action: 'look-up', told: [], said: [], forwards: 0 }

/** Opens such an application. */
export async function openLookUps(): Promise<LookUps> {
  const app = await openTestApp()
  const parser = createParserPool(1)
  let place = await openRdapPlace()
  let made = 0
  const tools = () => ({ ...app, parser, rdap: place.rdap, clock: place.now })
  const jobsOf: LookUps['jobsOf'] = ({ reportId }, queue) =>
    app.rows(
      `select data, start_after as "startAfter" from pgboss.job
       where name = $1 and data ->> 'reportId' = $2 order by created_on`,
      [queue, reportId],
    )
  return {
    app,
    tools,
    jobsOf,
    async renew() {
      await place.close()
      place = await openRdapPlace()
      await app.pool.query('delete from networks')
      return place
    },
    async analyzed(...ips) {
      const payloads: Payload[] = []
      for (const ip of ips) {
        const { id } = await app.report(spamMessage(`look-up-${++made}`, { ip }))
        payloads.push({ reportId: id })
      }
      await runAnalyzeReport(payloads, tools())
      return payloads
    },
    standing: async (report) => standing(app, report, await jobsOf(report, 'forward-report')),
    async close() {
      await place.close()
      await parser.close()
      await app.close()
    },
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
