import { expect, test } from 'vitest'
import { inTransaction } from '../../../src/db/pool.ts'
import { listWebhooks, listWebhooksByIds } from '../../../src/db/webhooks.ts'
import { recordAnswer } from '../../../src/feedback/take-answer.ts'
import { retractReport } from '../../../src/reports/change-report.ts'
import { addWebhook, webhookEvents } from '../../../src/people/webhooks.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { runForwardReport } from '../../../src/feedback/forward-report.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { relayedMessage, spamMessage } from '../../support/messages.ts'
import { parser } from '../../support/parser.ts'

const app = await closeAfterTests(openTestApp())
const url = 'https://hooks.example.org/'
await addWebhook(app, app.ann, { url, events: webhookEvents })

const mailer = {
  send: () => Promise.resolve({ outcome: 'accepted' as const, reply: '250 taken' }),
  close: () => Promise.resolve(),
}
const analyze = (reportId: string) => runAnalyzeReport([{ reportId }], { ...app, parser })

async function told(reportId: string) {
  const rows = await app.rows(
    `select event from webhook_deliveries join pgboss.job
       on data ->> 'deliveryId' = webhook_deliveries.id::text
     where report_id = $1 and name = 'deliver-webhook' order by webhook_deliveries.id`,
    [reportId],
  )
  return rows.map(({ event }) => event)
}

test('each step of a report is stored once for the webhooks of its reporter', async () => {
  const { id } = await app.report(spamMessage('steps'))
  expect(await told(id)).toEqual([])
  await analyze(id)
  await analyze(id)
  expect(await told(id)).toEqual(['report.analyzed'])
  const key = { reportId: id, number: 1 }
  await runForwardReport([key], { ...app, parser, mailer })
  await runForwardReport([key], { ...app, parser, mailer })
  expect((await told(id)).toSorted()).toEqual(['report.analyzed', 'report.told'])
  const answer = () =>
    inTransaction(app.pool, (tx) => recordAnswer(tx, key, 'resolved', 'link', app, new Date()))
  expect([await answer(), await answer()]).toEqual(['taken', 'repeated'])
  await retractReport(app, id, { isReporter: true })
  await retractReport(app, id, { isReporter: true })
  expect((await told(id)).toSorted()).toEqual([
    'report.analyzed',
    'report.answered',
    'report.retracted',
    'report.told',
  ])
})

test('a report with a question to its reporter has its own event', async () => {
  const sure = { ...app, config: { ...app.config, originConfidenceMin: 1 } }
  const { id } = await app.report(relayedMessage('asks'))
  await runAnalyzeReport([{ reportId: id }], { ...sure, parser })
  expect((await told(id)).toSorted()).toEqual(['report.analyzed', 'report.asked'])
})

test('held reports and those of others are stored for no webhook', async () => {
  const { id } = await app.report(spamMessage('held'))
  await analyze(id)
  await runForwardReport([{ reportId: id, number: 1 }], { ...app, parser, mailer: undefined })
  expect(await told(id)).toEqual(['report.analyzed'])
  const { id: other } = await app.report(spamMessage('other'), { reporterId: app.bob })
  await analyze(other)
  expect(await told(other)).toEqual([])
})

test('a rolled-back step is not stored', async () => {
  const { id } = await app.report(spamMessage('rolled-back'))
  await analyze(id)
  await runForwardReport([{ reportId: id, number: 1 }], { ...app, parser, mailer })
  const failing = inTransaction(app.pool, async (tx) => {
    await recordAnswer(tx, { reportId: id, number: 1 }, 'wrong', 'link', app, new Date())
    throw new Error('after all')
  })
  await expect(failing).rejects.toThrow('after all')
  expect((await told(id)).toSorted()).toEqual(['report.analyzed', 'report.told'])
})

test('webhooks get held reports like any other', async () => {
  const { id } = await app.report(spamMessage('aside'), { isShadowed: true })
  await analyze(id)
  expect(await told(id)).toEqual(['report.analyzed'])
  await retractReport(app, id, { isReporter: true })
  expect((await told(id)).toSorted()).toEqual(['report.analyzed', 'report.retracted'])
})

test('the webhooks of a closed account get nothing', async () => {
  const { id } = await app.report(spamMessage('closed'))
  await app.pool.query(`update reporters set state = 'disabled' where id = $1`, [app.ann])
  await analyze(id)
  expect(await told(id)).toEqual([])
  const [webhook] = await listWebhooks(app.pool, app.ann)
  const [known] = await listWebhooksByIds(app.pool, [webhook?.id ?? ''])
  expect([webhook?.state, known?.state]).toEqual(['enabled', 'disabled'])
  await app.pool.query(`update reporters set state = 'active' where id = $1`, [app.ann])
  expect((await listWebhooksByIds(app.pool, [webhook?.id ?? '']))[0]).toEqual(webhook)
})
