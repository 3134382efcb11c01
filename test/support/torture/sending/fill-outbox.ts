import path from 'node:path'
import type { App } from '../../../../src/app.ts'
import { addAccount } from '../../../../src/processes/add-account.ts'
import { importNetworks } from '../../../../src/processes/import-networks.ts'
import { ensureConsumers } from '../../../../src/db/consumers.ts'
import { createIntake } from '../../../../src/reports/accept-report.ts'
import { runAnalyzeReport } from '../../../../src/reports/analyze-report.ts'
import { readMessage } from '../../../../src/mail/message.ts'
import { createParserPool } from '../../../../src/parsing/parser-pool.ts'
import { testJudge } from '../../judge.ts'
import { spamMessage } from '../../messages.ts'

const BATCH = 50

/**
 * Reports the given number of messages, analyzes them, and leaves equally many feedback reports
 * queued with their jobs, spread over the consumers.
 */
export async function fillOutbox(
  app: App,
  count: number,
  consumersMax: number,
  bytesOf: (index: number) => Buffer = (index) => spamMessage(`outbox-${index}`),
): Promise<void> {
  const file = path.join(import.meta.dirname, '../../../../src/db/sample-networks.csv')
  await importNetworks(file, app)
  const email = 'ann@reporters.example'
  const account = { email, password: undefined, role: null, wantsToken: false }
  const { id: reporterId } = await addAccount(account, app)
  const intake = createIntake(app)
  const parser = createParserPool(1)
  const judge = testJudge(app.pool, app.clock)
  for (let from = 0; from < count; from += BATCH) {
    const indexes = Array.from({ length: Math.min(BATCH, count - from) }, (_, at) => from + at)
    const accepted = await Promise.all(
      indexes.map((index) =>
        intake.accept({
          ...{ reporterId, channel: 'api', kind: 'spam', comment: null, receivedVia: [] },
          message: readMessage(bytesOf(index)),
        }),
      ),
    )
    const payloads = accepted.map(({ id }) => ({ reportId: id }))
    await runAnalyzeReport(payloads, { ...app, rdap: undefined, parser, judge })
  }
  await parser.close()
  const addresses = Array.from({ length: consumersMax }, (_, at) => `abuse@desk-${at}.example`)
  const consumers = await ensureConsumers(
    app.pool,
    addresses.map((address) => ({ address, source: 'network' })),
    app.clock(),
  )
  const { rows } = await app.pool.query<{ id: string }>(
    `select report_id as id from feedback_reports order by report_id`,
  )
  if (rows.length !== count) throw new Error(`${rows.length} of ${count} reports led to feedback.`)
  await Promise.all(
    addresses.map((address, at) =>
      app.pool.query(
        `update feedback_reports set consumer_id = $2, address = $3
         where report_id = any($1::uuid[])`,
        [
          rows.filter((_, index) => index % consumersMax === at).map(({ id }) => id),
          consumers.get(address)?.id,
          address,
        ],
      ),
    ),
  )
}
