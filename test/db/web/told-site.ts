import { importNetworks } from '../../../src/processes/import-networks.ts'
import { type AnswerKind, answerLinks } from '../../../src/mail/verp.ts'
import { createParserPool } from '../../../src/parsing/parser-pool.ts'
import { sampleNetworks, spamMessage } from '../../support/messages.ts'
import { tellDesk, type Told } from '../../support/told-desk.ts'
import { type Person, startWebSite, type WebSite } from './web-site.ts'

/** A web process where reports by Ann are sent to abuse desks. */
export type ToldSite = {
  site: WebSite
  ann: Person
  /** Reports another message and notifies its abuse desk. */
  told: () => Promise<Told>
  /** Returns the path of the link with which a desk answers. */
  linkOf: (feedback: Told, kind: AnswerKind) => string
  rows: (text: string, params: unknown[]) => Promise<Record<string, unknown>[]>
  /** Returns the events about desks in the timeline. */
  eventsOf: (feedback: Told) => Promise<unknown[]>
  /** Deletes the statements of desks about themselves. */
  forget: () => Promise<void>
  close: () => Promise<void>
}

/** Starts such a process, with the sample networks. */
export async function startToldSite(): Promise<ToldSite> {
  const site = await startWebSite({ RETURN_PATH_DOMAIN: 'bounces.test.example' })
  const parser = createParserPool(1)
  await importNetworks(sampleNetworks, site.app)
  const ann = await site.addPerson('ann@reporters.example')
  const { pool, config } = site.app
  let made = 0
  const rows: ToldSite['rows'] = async (text, params) =>
    (await pool.query<Record<string, unknown>>(text, params)).rows
  return {
    site,
    ann,
    rows,
    async told() {
      return tellDesk(site.app, parser, await site.report(ann, spamMessage(`desk-${++made}`)))
    },
    linkOf: (feedback, kind) =>
      answerLinks(feedback, { publicUrl: '', secret: config.secret })[kind],
    async eventsOf({ reportId }) {
      const events = await rows(
        `select event from report_events where report_id = $1 and event like 'desk-%' order by id`,
        [reportId],
      )
      return events.map(({ event }) => event)
    },
    async forget() {
      await pool.query('delete from suppressions')
      await pool.query('delete from contact_corrections')
      await pool.query(`update consumers set state = 'found'`)
    },
    async close() {
      await parser.close()
      await site.close()
    },
  }
}
