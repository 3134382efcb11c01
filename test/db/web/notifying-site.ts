import { importNetworks } from '../../../src/processes/import-networks.ts'
import { type AnswerKind, answerLinks } from '../../../src/mail/verp.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { sampleNetworks, spamMessage } from '../../support/messages.ts'
import { parser } from '../../support/parser.ts'
import { createSentFeedback, type SentFeedback } from '../../support/sent-feedback.ts'
import { startWebSite } from './web-site.ts'

/**
 * Starts a web process where reports by Ann are sent to abuse desks, with the sample networks, and
 * closes it after all tests of the file.
 */
export async function startNotifyingSite() {
  const site = await closeAfterTests(startWebSite({ RETURN_PATH_DOMAIN: 'bounces.test.example' }))
  await importNetworks(sampleNetworks, site.app)
  const ann = await site.addPerson('ann@reporters.example')
  const { pool, config } = site.app
  let made = 0
  const rows = async (text: string, params: unknown[]) =>
    (await pool.query<Record<string, unknown>>(text, params)).rows
  return {
    site,
    ann,
    rows,
    /** Reports another message and notifies its abuse desk. */
    async told() {
      return createSentFeedback(
        site.app,
        parser,
        await site.report(ann, spamMessage(`desk-${++made}`)),
      )
    },
    /** Returns the path of the link with which a desk answers. */
    linkOf: (feedback: SentFeedback, kind: AnswerKind) =>
      answerLinks(feedback, { publicUrl: '', secret: config.secret })[kind],
    /** Returns the events about desks in the timeline. */
    async eventsOf({ reportId }: SentFeedback) {
      const events = await rows(
        `select event from report_events where report_id = $1 and event like 'desk-%' order by id`,
        [reportId],
      )
      return events.map(({ event }) => event)
    },
    /**
     * Deletes the effects of answers by desks: suppressions, corrections, and the states of
     * consumers.
     */
    async forget() {
      await pool.query('delete from suppressions')
      await pool.query('delete from contact_corrections')
      await pool.query(`update consumers set state = 'found'`)
    },
  }
}
