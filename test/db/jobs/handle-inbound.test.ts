import { afterAll, beforeAll, expect, test } from 'vitest'
import { insertInboundMail } from '../../../src/db/inbound-mails.ts'
import { pack } from '../../../src/db/packed.ts'
import { analyzeReports } from '../../../src/jobs/analyze-report.ts'
import { handleInboundMail } from '../../../src/jobs/handle-inbound.ts'
import { createParserPool, type ParserPool } from '../../../src/jobs/parser-pool.ts'
import { uuidv7 } from '../../../src/world.ts'
import { openTestApp, type TestApp } from '../../support/app.ts'
import { bounceMessage, spamMessage } from '../../support/messages.ts'

let app: TestApp
let parser: ParserPool

beforeAll(async () => {
  app = await openTestApp()
  parser = createParserPool(1)
})
afterAll(async () => {
  await parser.close()
  await app.close()
})

/** A report whose feedback was sent. */
async function sent(mark: string) {
  const [payload = { reportId: '' }] = await app.reports(mark)
  await analyzeReports([payload], { ...app, parser })
  await app.pool.query(`update feedback_reports set state = 'sent' where report_id = $1`, [
    payload.reportId,
  ])
  return payload
}

async function arrived({ reportId }: { reportId: string }, raw: Buffer) {
  const id = uuidv7(new Date())
  await insertInboundMail(app.pool, {
    id,
    receivedAt: new Date(),
    mailFrom: '',
    rcptTo: 'fb@bounces.test.example',
    reportId,
    number: 1,
    ...(await pack(raw)),
  })
  return { mailId: id }
}

async function feedback({ reportId }: { reportId: string }) {
  const rows = await app.rows(
    `select state, bounce_status as status, bounced_at as at from feedback_reports
     where report_id = $1`,
    [reportId],
  )
  const events = await app.rows(
    `select detail from report_events where report_id = $1 and event = 'bounced'`,
    [reportId],
  )
  return { ...rows[0], bounces: events.length }
}

test('a bounce marks its feedback report, once however often it is handled', async () => {
  const payload = await sent('bounced')
  const mail = await arrived(payload, bounceMessage('abuse@access-two.example'))
  await handleInboundMail(mail, app)
  const marked = await feedback(payload)
  expect(marked).toMatchObject({ state: 'bounced', status: '5.1.1', bounces: 1 })
  expect(
    await app.rows('select state, kind from inbound_mails where id = $1', [mail.mailId]),
  ).toEqual([{ state: 'handled', kind: 'bounce' }])
  await handleInboundMail(mail, app)
  await handleInboundMail(await arrived(payload, bounceMessage('abuse@access-two.example')), app)
  expect(await feedback(payload)).toEqual(marked)
})

test('a notice that it is merely delayed changes nothing', async () => {
  const payload = await sent('delayed')
  const delayed = bounceMessage('abuse@access-two.example')
    .toString('latin1')
    .replace('Action: failed', 'Action: delayed')
    .replaceAll('5.1.1', '4.4.1')
    .replaceAll('550', '450')
  await handleInboundMail(await arrived(payload, Buffer.from(delayed)), app)
  expect(await feedback(payload)).toMatchObject({ state: 'sent', bounces: 0 })
})

test('an answer from a person is filed and changes nothing', async () => {
  const payload = await sent('answered')
  const mail = await arrived(payload, spamMessage('thank-you'))
  await handleInboundMail(mail, app)
  expect(await feedback(payload)).toMatchObject({ state: 'sent', bounces: 0 })
  expect(
    await app.rows('select state, kind from inbound_mails where id = $1', [mail.mailId]),
  ).toEqual([{ state: 'handled', kind: 'message' }])
})

test.for<[string, string]>([
  ['nothing', ''],
  ['noise', '\0\xff\0\xfe'.repeat(1000)],
  ['a report cut in the middle', bounceMessage('a@b.example').subarray(0, 700).toString('latin1')],
])('%s does not fail: bad mail is data', async ([, text]) => {
  const payload = await sent(`bad-${text.length}`)
  const mail = await arrived(payload, Buffer.from(text, 'latin1'))
  await handleInboundMail(mail, app)
  const [row] = await app.rows('select state from inbound_mails where id = $1', [mail.mailId])
  expect(row).toEqual({ state: 'handled' })
})

test('a bounce to a report that is gone is filed', async () => {
  const gone = { reportId: '01999999-0000-7000-8000-000000000000' }
  const mail = await arrived(gone, bounceMessage('a@b.example'))
  await handleInboundMail(mail, app)
  const [row] = await app.rows('select state from inbound_mails where id = $1', [mail.mailId])
  expect(row).toEqual({ state: 'handled' })
})
