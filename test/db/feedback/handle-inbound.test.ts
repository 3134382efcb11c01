import { beforeEach, expect, test } from 'vitest'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { handleInboundMail as handle } from '../../../src/feedback/handle-inbound.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp, type TestApp } from '../../support/app.ts'
import { arrive } from '../../support/inbound-mail.ts'
import { bounceMessage, spamMessage } from '../../support/messages.ts'
import { parser } from '../../support/parser.ts'

const app = await closeAfterTests(openTestApp())

beforeEach(async () => {
  await app.pool.query('delete from suppressions')
  await app.pool.query(
    `update consumers set health = 'healthy', health_until = null, soft_bounces = 0,
       bounces_since = null, last_bounced_at = null`,
  )
})

function handleInboundMail(mail: { mailId: string }, needs: TestApp) {
  return handle(mail, { ...needs, parser })
}

/** Creates a report whose feedback was sent. */
async function sent(mark: string) {
  const [payload = { reportId: '' }] = await app.reports(mark)
  await runAnalyzeReport([payload], { ...app, parser })
  await app.pool.query(`update feedback_reports set state = 'sent' where report_id = $1`, [
    payload.reportId,
  ])
  return payload
}

function arrived({ reportId }: { reportId: string }, raw: Buffer) {
  return arrive(app, raw, { purpose: 'feedback-bounce', reportId })
}

async function feedback({ reportId }: { reportId: string }) {
  const rows = await app.rows(
    `select state, bounce_status as status, bounced_at as at from feedback_reports
     where report_id = $1`,
    [reportId],
  )
  const events = await app.rows(
    `select phrases from report_events where report_id = $1 and event = 'bounced'`,
    [reportId],
  )
  return { ...rows[0], bounces: events.length }
}

test('a bounce marks its feedback report once, however often it is handled', async () => {
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

test('a notice of delay changes nothing', async () => {
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
  ).toEqual([{ state: 'handled', kind: 'reply' }])
})

test.for<[string, string]>([
  ['nothing', ''],
  ['noise', '\0\xff\0\xfe'.repeat(1000)],
  ['a report cut in the middle', bounceMessage('a@b.example').subarray(0, 700).toString('latin1')],
])('%s does not fail: malformed mail is data', async ([, text]) => {
  const payload = await sent(`bad-${text.length}`)
  const mail = await arrived(payload, Buffer.from(text, 'latin1'))
  await handleInboundMail(mail, app)
  const [row] = await app.rows('select state from inbound_mails where id = $1', [mail.mailId])
  expect(row).toEqual({ state: 'handled' })
})

test('a bounce of a deleted report is filed', async () => {
  const gone = { reportId: '01999999-0000-7000-8000-000000000000' }
  const mail = await arrived(gone, bounceMessage('a@b.example'))
  await handleInboundMail(mail, app)
  const [row] = await app.rows('select state from inbound_mails where id = $1', [mail.mailId])
  expect(row).toEqual({ state: 'handled' })
})

const HOUR_MS = 3_600_000

/** Composes a bounce from a full mailbox, which may be emptied later. */
function softBounce(): Buffer {
  const text = bounceMessage('abuse@access-two.example').toString('latin1')
  return Buffer.from(
    text.replaceAll('5.1.1', '4.2.2').replaceAll('No such user', 'Mailbox full'),
    'latin1',
  )
}

/** Handles a bounce of a feedback report that was sent `hoursAgo` hours ago. */
async function bounced(mark: string, hoursAgo: number, raw: Buffer) {
  const payload = await sent(mark)
  await app.pool.query('update feedback_reports set finished_at = $2 where report_id = $1', [
    payload.reportId,
    new Date(Date.now() - hoursAgo * HOUR_MS),
  ])
  const mail = await arrived(payload, raw)
  await handleInboundMail(mail, app)
  return mail
}

async function health() {
  const rows = await app.rows(
    `select health, soft_bounces as soft, health_until > $1 as "isLater"
     from consumers where address = 'abuse@access-two.example'`,
    [new Date()],
  )
  return rows[0]
}

test('a hard bounce disables the address of the desk for a while', async () => {
  await bounced('hard', 1, bounceMessage('abuse@access-two.example'))
  expect(await health()).toEqual({ health: 'dead', soft: 0, isLater: true })
})

test('three soft bounces over a day disable it, however often each is handled', async () => {
  const first = await bounced('soft-1', 30, softBounce())
  await handleInboundMail(first, app)
  await bounced('soft-2', 20, softBounce())
  expect(await health()).toEqual({ health: 'healthy', soft: 2, isLater: null })
  await bounced('soft-3', 1, softBounce())
  expect(await health()).toEqual({ health: 'failing', soft: 3, isLater: true })
})

test('a delivered feedback report in between resets the count', async () => {
  await bounced('row-1', 30, softBounce())
  await bounced('row-2', 20, softBounce())
  const arrivedWell = await sent('row-arrived')
  await app.pool.query('update feedback_reports set finished_at = $2 where report_id = $1', [
    arrivedWell.reportId,
    new Date(Date.now() - 10 * HOUR_MS),
  ])
  await bounced('row-3', 1, softBounce())
  expect(await health()).toEqual({ health: 'healthy', soft: 1, isLater: null })
})
