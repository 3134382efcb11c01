import { expect, test } from 'vitest'
import { findFeedbackMessage } from '../../../src/db/feedback-reports.ts'
import { concealKeysIn } from '../../../src/mail/conceal-keys.ts'
import { unpack } from '../../../src/db/rows.ts'
import { retractReport } from '../../../src/reports/change-report.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { runForwardReport } from '../../../src/feedback/forward-report.ts'
import type { ParserPool } from '../../../src/parsing/parser-pool.ts'
import { parseOwnAddress } from '../../../src/mail/verp.ts'
import type { Mailer, OutgoingMail, SendResult } from '../../../src/net/mailer.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { spamMessage } from '../../support/messages.ts'
import { parser } from '../../support/parser.ts'

const app = await closeAfterTests(openTestApp())

type FarEnd = Mailer & { mails: OutgoingMail[] }

/** A mail server that answers as configured, and stores the mail it receives. */
function fakeMailServer(
  answer: SendResult | (() => Promise<SendResult>) = { outcome: 'accepted', reply: '250 taken' },
): FarEnd {
  const mails: OutgoingMail[] = []
  return {
    mails,
    async send(mail) {
      mails.push(mail)
      return typeof answer === 'function' ? answer() : answer
    },
    close: () => Promise.resolve(),
  }
}

function forward(payloads: readonly { reportId: string }[], mailer: Mailer | undefined) {
  const keys = payloads.map(({ reportId }) => ({ reportId, number: 1 }))
  return runForwardReport(keys, { ...app, parser, mailer })
}

async function analyzed(...marks: string[]) {
  const payloads = await app.reports(...marks)
  await runAnalyzeReport(payloads, { ...app, parser })
  return payloads
}

async function story({ reportId }: { reportId: string }) {
  const [feedback] = await app.rows(
    `select reports.state as report, feedback_reports.state, reply,
       feedback_reports.message_id as "messageId",
       finished_at is not null as "isFinished"
     from feedback_reports
     join reports on reports.id = report_id and reports.shard = feedback_reports.shard
     where report_id = $1`,
    [reportId],
  )
  const events = await app.rows(
    'select event from report_events where report_id = $1 order by at, id',
    [reportId],
  )
  return { ...feedback, events: events.map(({ event }) => event) }
}

test('a feedback report is sent with its own return path, and its copy is stored', async () => {
  const [payload = { reportId: '' }] = await analyzed('leaves')
  const far = fakeMailServer()
  expect(await forward([payload], far)).toEqual(['done'])
  const [mail] = far.mails
  expect(mail?.envelope.to).toBe('abuse@access-two.example')
  const settings = { domain: app.config.returnPathDomain, secret: app.config.secret }
  expect(parseOwnAddress(mail?.envelope.from ?? '', settings)).toEqual({
    is: 'feedback-bounce',
    ...payload,
    number: 1,
  })
  const messageId = `<${payload.reportId}.1@bounces.test.example>`
  expect(mail?.raw.toString('latin1')).toContain(`\r\nMessage-ID: ${messageId}\r\n`)
  const copy = await findFeedbackMessage(app.pool, { ...payload, number: 1 })
  const sent = mail?.raw ?? Buffer.of()
  expect(copy && (await unpack(copy)).equals(concealKeysIn(sent))).toBe(true)
  expect(concealKeysIn(sent).equals(sent)).toBe(false)
  expect(await story(payload)).toEqual({
    report: 'forwarded',
    state: 'sent',
    reply: '250 taken',
    messageId,
    isFinished: true,
    events: ['analyzed', 'sent'],
  })
})

test('without a mail server it is held: composed and stored, not sent', async () => {
  const [payload = { reportId: '' }] = await analyzed('held')
  expect(await forward([payload], undefined)).toEqual(['done'])
  expect(await story(payload)).toMatchObject({
    report: 'analyzed',
    state: 'held',
    reply: null,
    events: ['analyzed', 'held'],
  })
  expect(await findFeedbackMessage(app.pool, { ...payload, number: 1 })).toBeDefined()
})

test('a second run sends nothing and changes nothing', async () => {
  const payloads = await analyzed('twice-1', 'twice-2')
  await forward(payloads, fakeMailServer())
  const before = await Promise.all(payloads.map(story))
  const far = fakeMailServer()
  expect(await forward(payloads, far)).toEqual(['done', 'done'])
  expect(far.mails).toEqual([])
  expect(await Promise.all(payloads.map(story))).toEqual(before)
})

test('a run that was interrupted before it was recorded sends the same bytes again', async () => {
  const [payload = { reportId: '' }] = await analyzed('cut')
  const far = fakeMailServer()
  await forward([payload], far)
  await app.pool.query(
    `update feedback_reports set state = 'queued', finished_at = null where report_id = $1`,
    [payload.reportId],
  )
  await forward([payload], far)
  const [first, second, ...more] = far.mails
  expect(more).toEqual([])
  expect(first && second && first.raw.equals(second.raw)).toBe(true)
  expect(first?.envelope).toEqual(second?.envelope)
})

test('a temporary failure is retried, and nothing is marked', async () => {
  const [payload = { reportId: '' }] = await analyzed('later')
  const busy = fakeMailServer({ outcome: 'later', replyCode: 451, reason: '451 busy' })
  expect(await forward([payload], busy)).toEqual([{ retry: '451 busy' }])
  expect(await story(payload)).toMatchObject({ state: 'queued', events: ['analyzed'] })
  expect(await forward([payload], fakeMailServer())).toEqual(['done'])
})

test('a permanent refusal is marked with its reply and not retried', async () => {
  const [payload = { reportId: '' }] = await analyzed('refused')
  const reply = '554 5.6.0 bad content'
  const answer = { outcome: 'rejected', replyCode: 554, reply, about: 'message' } as const
  expect(await forward([payload], fakeMailServer(answer))).toEqual(['done'])
  expect(await story(payload)).toMatchObject({
    report: 'analyzed',
    state: 'refused',
    reply,
    events: ['analyzed', 'refused'],
  })
  const far = fakeMailServer()
  await forward([payload], far)
  expect(far.mails).toEqual([])
})

test('feedback retracted while queued is withdrawn and never sent', async () => {
  const [payload = { reportId: '' }] = await analyzed('called-back')
  await retractReport(app, payload.reportId, { isReporter: true })
  const far = fakeMailServer()
  expect(await forward([payload], far)).toEqual(['done'])
  expect(far.mails).toEqual([])
  expect(await story(payload)).toMatchObject({ report: 'retracted', state: 'withdrawn' })
})

test('feedback retracted while being sent is recorded as sent', async () => {
  const [payload = { reportId: '' }] = await analyzed('too-late')
  const far = fakeMailServer(async () => {
    await retractReport(app, payload.reportId, { isReporter: true })
    return { outcome: 'accepted', reply: '250 taken' }
  })
  await forward([payload], far)
  expect(await story(payload)).toMatchObject({ report: 'retracted', state: 'sent' })
})

test('feedback retracted while being held is not held again', async () => {
  const [payload = { reportId: '' }] = await analyzed('held-too-late')
  const slow: ParserPool = {
    ...parser,
    compose: async (...task) => {
      await retractReport(app, payload.reportId, { isReporter: true })
      return parser.compose(...task)
    },
  }
  await runForwardReport([{ ...payload, number: 1 }], { ...app, parser: slow, mailer: undefined })
  expect(await story(payload)).toMatchObject({ report: 'retracted', state: 'withdrawn' })
})

test('feedback that cannot be composed does not delay its batch', async () => {
  const payloads = await analyzed('sound-1', 'broken', 'sound-2')
  const fragile: ParserPool = {
    ...parser,
    compose: (packed, analysis, content) =>
      content.reportId === payloads[1]?.reportId
        ? Promise.reject(new Error('The message could not be parsed within 20 s.'))
        : parser.compose(packed, analysis, content),
  }
  const keys = payloads.map(({ reportId }) => ({ reportId, number: 1 }))
  const far = fakeMailServer()
  const outcomes = await runForwardReport(keys, { ...app, parser: fragile, mailer: far })
  expect(outcomes).toEqual([
    'done',
    { retry: 'The message could not be parsed within 20 s.' },
    'done',
  ])
  expect(far.mails).toHaveLength(2)
})

test('feedback without its message fails permanently and delays no other', async () => {
  const payloads = await analyzed('whole', 'gone')
  await app.pool.query('delete from raw_messages where id = $1', [payloads[1]?.reportId])
  const far = fakeMailServer()
  const failed = 'The report of this feedback report is no longer complete.'
  expect(await forward(payloads, far)).toEqual(['done', { failed }])
  expect(far.mails).toHaveLength(1)
})

test('a desk that never enrolled gets type abuse, and phishing in a field of ours', async () => {
  const { id } = await app.report(spamMessage('phish'), { kind: 'phishing' })
  await runAnalyzeReport([{ reportId: id }], { ...app, parser })
  const [spam = { reportId: '' }] = await analyzed('plain-spam')
  const far = fakeMailServer()
  await forward([{ reportId: id }], far)
  await forward([spam], far)
  const types = far.mails.map(({ raw }) => /^Feedback-Type: (\S+)/m.exec(String(raw))?.[1])
  expect(types).toEqual(['abuse', 'abuse'])
  const ours = far.mails.map(({ raw }) => /^X-Signalpost-Type: (\S+)/m.exec(String(raw))?.[1])
  expect(ours).toEqual(['fraud', 'abuse'])
})
