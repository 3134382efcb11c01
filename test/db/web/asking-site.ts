import type { RelayJson } from '../../../src/web/api/account.ts'
import type { ReportJson } from '../../../src/web/api/reports.ts'
import { importNetworks } from '../../../src/processes/import-networks.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { createParserPool } from '../../../src/parsing/parser-pool.ts'
import { relayedMessage, sampleNetworks } from '../../support/messages.ts'
import { type Browser, signedInBrowser } from './browser.ts'
import { startWebSite, type Person, type WebSite } from './web-site.ts'
import { testJudge } from '../../support/judge.ts'

/**
 * A web process with a confidence threshold that no origin reaches, so that the reporter is asked
 * about every report.
 */
export type AskingSite = {
  site: WebSite
  /** Creates a new user, signed in. */
  visitor: () => Promise<{ person: Person; browser: Browser }>
  api: (person: Person, path: string, init?: RequestInit) => Promise<Response>
  put: (person: Person, relay: unknown) => Promise<Response>
  /** Returns the stored relays of a reporter: `192.0.2.10/32 set`. */
  relaysOf: (person: Person) => Promise<string[]>
  /** Reports a message, by default one that came through 192.0.2.10, and has it analyzed. */
  report: (person: Person, mark: string, raw?: Buffer) => Promise<string>
  analyze: (reportId: string) => Promise<unknown>
  stands: (person: Person, id: string) => Promise<ReportJson>
  /** Returns how often a report was queued. */
  jobsOf: (id: string) => Promise<number>
  close: () => Promise<void>
}

/** Starts such a process. */
export async function startAskingSite(): Promise<AskingSite> {
  const site = await startWebSite({ ORIGIN_CONFIDENCE_MIN: '1' })
  const parser = createParserPool(1)
  await importNetworks(sampleNetworks, site.app)
  let made = 0
  const api: AskingSite['api'] = (person, path, init = {}) => {
    const headers = { authorization: person.basic, ...init.headers }
    return fetch(`${site.url}/api/v1${path}`, { ...init, headers })
  }
  const analyze = (reportId: string) =>
    runAnalyzeReport([{ reportId }], {
      ...site.app,
      parser,
      judge: testJudge(site.app.pool, site.app.clock),
      rdap: undefined,
    })
  return {
    site,
    api,
    analyze,
    async visitor() {
      const person = await site.addPerson(`person${++made}@reporters.example`)
      return { person, browser: await signedInBrowser(site.url, person) }
    },
    put: (person, relay) => api(person, '/relays', { method: 'PUT', body: JSON.stringify(relay) }),
    async relaysOf(person) {
      const { relays } = (await (await api(person, '/relays')).json()) as { relays: RelayJson[] }
      return relays.map(({ cidr, how }) => `${cidr} ${how}`)
    },
    async report(person, mark, raw = relayedMessage(mark)) {
      const headers = { 'content-type': 'message/rfc822' }
      const body = new Uint8Array(raw)
      const answer = await api(person, '/reports', { method: 'POST', body, headers })
      const { id } = (await answer.json()) as { id: string }
      await analyze(id)
      return id
    },
    stands: async (person, id) =>
      (await (await api(person, `/reports/${id}`)).json()) as ReportJson,
    async jobsOf(id) {
      const { rows } = await site.app.pool.query<{ n: number }>(
        `select count(*) as n from pgboss.job
         where name = 'analyze-report' and data ->> 'reportId' = $1`,
        [id],
      )
      return rows[0]?.n ?? 0
    },
    async close() {
      await parser.close()
      await site.close()
    },
  }
}
