import type { RelayJson } from '../../../src/web/api/account.ts'
import type { ReportJson } from '../../../src/web/api/reports.ts'
import { importNetworks } from '../../../src/processes/import-networks.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { relayedMessage, sampleNetworks } from '../../support/messages.ts'
import { signedInBrowser } from './browser.ts'
import { startWebSite, type Person } from './web-site.ts'
import { analyzeReports } from '../../support/judge.ts'
import { parser } from '../../support/parser.ts'

/**
 * Starts a web process with a confidence threshold that no origin reaches, so that the reporter is
 * asked about every report; closes it after all tests of the file.
 */
export async function startAskingSite() {
  const site = await closeAfterTests(startWebSite({ ORIGIN_CONFIDENCE_MIN: '1' }))
  await importNetworks(sampleNetworks, site.app)
  let made = 0
  const api = (person: Person, path: string, init: RequestInit = {}) => {
    const headers = { authorization: person.basic, ...init.headers }
    return fetch(`${site.url}/api/v1${path}`, { ...init, headers })
  }
  const analyze = (reportId: string) => analyzeReports({ ...site.app, parser }, [reportId])
  return {
    site,
    api,
    analyze,
    /** Creates a new user, signed in. */
    async visitor() {
      const person = await site.addPerson(`person${++made}@reporters.example`)
      return { person, browser: await signedInBrowser(site.url, person) }
    },
    put: (person: Person, relay: unknown) =>
      api(person, '/relays', { method: 'PUT', body: JSON.stringify(relay) }),
    /** Returns the stored relays of a reporter: `192.0.2.10/32 set`. */
    async relaysOf(person: Person) {
      const { relays } = (await (await api(person, '/relays')).json()) as { relays: RelayJson[] }
      return relays.map(({ cidr, how }) => `${cidr} ${how}`)
    },
    /** Reports a message, by default one that came through 192.0.2.10, and has it analyzed. */
    async report(person: Person, mark: string, raw: Buffer = relayedMessage(mark)) {
      const headers = { 'content-type': 'message/rfc822' }
      const body = new Uint8Array(raw)
      const answer = await api(person, '/reports', { method: 'POST', body, headers })
      const { id } = (await answer.json()) as { id: string }
      await analyze(id)
      return id
    },
    stands: async (person: Person, id: string) =>
      (await (await api(person, `/reports/${id}`)).json()) as ReportJson,
    /** Returns how often a report was queued. */
    async jobsOf(id: string) {
      const { rows } = await site.app.pool.query<{ n: number }>(
        `select count(*) as n from pgboss.job
         where name = 'analyze-report' and data ->> 'reportId' = $1`,
        [id],
      )
      return rows[0]?.n ?? 0
    },
  }
}
