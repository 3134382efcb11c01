import { beforeEach, expect, test } from 'vitest'
import { inTransaction } from '../../../src/db/pool.ts'
import { handleInboundMail } from '../../../src/feedback/handle-inbound.ts'
import { queueLetter } from '../../../src/letters/send-letter.ts'
import { composeAnswerAddress, composeReturnPath } from '../../../src/mail/verp.ts'
import { phrase, type PhraseCode } from '../../../src/phrase.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { type Arrived, arrive, complaint, reply } from '../../support/inbound-mail.ts'
import { spamMessage } from '../../support/messages.ts'
import { parser } from '../../support/parser.ts'
import { createSentFeedback, type SentFeedback } from '../../support/sent-feedback.ts'
let made = 0
const desk = 'abuse@access-two.example'

const app = await closeAfterTests(openTestApp())

beforeEach(async () => {
  await app.pool.query('delete from suppressions')
  await app.pool.query('delete from contact_corrections')
  await app.pool.query(`update consumers set state = 'found', health = 'healthy'`)
})

async function told(): Promise<SentFeedback> {
  const { id } = await app.report(spamMessage(`answer-${++made}`))
  return createSentFeedback(app, parser, id)
}

/** Handles a mail twice, and counts the mails that were sent because of it. */
async function handled(raw: Buffer, arrived: Arrived) {
  const mail = await arrive(app, raw, arrived)
  const before = await app.rows('select count(*)::int as letters from letters')
  await handleInboundMail(mail, { ...app, parser })
  await handleInboundMail(mail, { ...app, parser })
  expect(await app.rows('select count(*)::int as letters from letters')).toEqual(before)
  const [row] = await app.rows(
    `select state, kind, matched_by as "matchedBy", report_id as "reportId", ticket, answer,
       needs_look as "needsLook", phrases
     from inbound_mails where id = $1`,
    [mail.mailId],
  )
  return row
}

const answersTo = ({ reportId }: SentFeedback) =>
  app.rows(
    'select answer, how, mail_id is not null as "hasMail" from feedback_answers where report_id = $1',
    [reportId],
  )
const suppressed = () => app.rows('select address, reason from suppressions order by address')
const stateOfDesk = async () =>
  (await app.rows('select state from consumers where address = $1', [desk]))[0]?.['state']
const ownId = ({ reportId, number }: SentFeedback) => `<${reportId}.${number}@bounces.test.example>`
const headerOf = (messageId: string) => [`To: <${desk}>`, `Message-ID: ${messageId}`]
const atAnswers = ({ reportId }: SentFeedback): Arrived => ({
  purpose: 'feedback-answer',
  reportId,
  mailFrom: desk,
})

test.for([
  ['resolved', 'Resolved.'],
  ['not-ours', 'Not ours'],
  ['stop', 'STOP'],
] as const)('an unambiguous answer by mail is recorded: %s', async ([answer, words]) => {
  const feedback = await told()
  const row = await handled(reply(desk, [words]), atAnswers(feedback))
  expect(row).toMatchObject({ kind: 'reply', matchedBy: 'recipient', answer, needsLook: false })
  expect(row?.['phrases']).toEqual([phrase('inbound-answer-recorded', { answer })])
  expect(await answersTo(feedback)).toEqual([{ answer, how: 'mail', hasMail: true }])
})

test('a colleague in the same organization may answer for the desk', async () => {
  const feedback = await told()
  await handled(reply('bob@staff.access-two.example', ['Resolved']), atAnswers(feedback))
  expect(await answersTo(feedback)).toMatchObject([{ answer: 'resolved' }])
})

test('an answer from another organization is filed for people without an effect', async () => {
  const feedback = await told()
  const row = await handled(reply('bob@elsewhere.example', ['STOP']), atAnswers(feedback))
  expect(row).toMatchObject({ kind: 'reply', answer: 'stop', needsLook: true })
  expect(row?.['phrases']).toEqual([phrase('inbound-answer-foreign')])
  expect(await answersTo(feedback)).toEqual([])
  expect(await stateOfDesk()).toBe('found')
})

test('an answer that only refers to a report is matched, but left for people', async () => {
  const feedback = await told()
  const raw = reply(desk, ['Resolved'], [`In-Reply-To: ${ownId(feedback)}`])
  const row = await handled(raw, { purpose: 'other', mailFrom: desk })
  expect(row).toMatchObject({ matchedBy: 'reference', reportId: feedback.reportId })
  expect(row).toMatchObject({ answer: 'resolved', needsLook: true })
  expect(row?.['phrases']).toEqual([phrase('inbound-answer-unproven')])
  expect(await answersTo(feedback)).toEqual([])
})

test('free text is left for people', async () => {
  const feedback = await told()
  const words = ['Could you tell us the time zone of the log line?', '', 'Bob']
  const row = await handled(reply(desk, words), atAnswers(feedback))
  expect(row).toMatchObject({ kind: 'reply', matchedBy: 'recipient', needsLook: true })
  expect(row?.['phrases']).toEqual([phrase('inbound-free-text')])
  expect(await answersTo(feedback)).toEqual([])
})

test('mail that matches nothing is left for people', async () => {
  const row = await handled(reply('bob@elsewhere.example', ['Hello?']), { purpose: 'other' })
  expect(row).toMatchObject({ matchedBy: null, needsLook: true })
  expect(row?.['phrases']).toEqual([phrase('inbound-unmatched')])
})

test('an automatic reply is filed, whatever it says', async () => {
  const feedback = await told()
  const raw = reply(
    desk,
    ['Stop'],
    ['Subject: Out of office: Re: Cheap watches', 'Auto-Submitted: auto-replied'],
  )
  const row = await handled(raw, { ...atAnswers(feedback), mailFrom: '' })
  expect(row).toMatchObject({ kind: 'auto-reply', needsLook: false })
  expect(row?.['phrases']).toEqual([phrase('inbound-automatic')])
  expect(await answersTo(feedback)).toEqual([])
})

test('the acknowledgment of a ticket system is filed with its number', async () => {
  const feedback = await told()
  const raw = reply(
    desk,
    ['Thank you for your report. We have opened ticket number ABU-2026-4711 for it.'],
    [
      'Subject: [Ticket#2026112210000012] We have received your request',
      'Auto-Submitted: auto-replied',
    ],
  )
  const row = await handled(raw, atAnswers(feedback))
  expect(row).toMatchObject({
    kind: 'acknowledgment',
    ticket: '2026112210000012',
    needsLook: false,
  })
})

test('a complaint about feedback stops its consumer, and a person reviews it', async () => {
  const [feedback, waiting] = [await told(), await told()]
  await app.pool.query(`update feedback_reports set state = 'queued' where report_id = $1`, [
    waiting.reportId,
  ])
  const settings = { domain: app.config.returnPathDomain, secret: app.config.secret }
  const replyTo = `Reply-To: ${composeAnswerAddress(feedback, settings)}`
  const raw = complaint([...headerOf(ownId(feedback)), replyTo])
  const row = await handled(raw, { purpose: 'other' })
  expect(row).toMatchObject({ kind: 'complaint', matchedBy: 'return-path', needsLook: true })
  expect(row?.['phrases']).toEqual([phrase('inbound-consumer-stopped')])
  expect(await stateOfDesk()).toBe('stopped')
  expect(await suppressed()).toEqual([{ address: desk, reason: 'complaint' }])
  expect(
    await app.rows('select state from feedback_reports where report_id = $1', [waiting.reportId]),
  ).toEqual([{ state: 'withdrawn' }])
})

test('it is also found by the return path that it names', async () => {
  const feedback = await told()
  const settings = { domain: app.config.returnPathDomain, secret: app.config.secret }
  const fields = [
    'Feedback-Type: abuse',
    `Original-Mail-From: <${composeReturnPath(feedback, settings)}>`,
  ]
  const row = await handled(complaint(['Subject: x'], fields), { purpose: 'other' })
  expect(row).toMatchObject({ matchedBy: 'return-path' })
  expect(await stateOfDesk()).toBe('stopped')
})

test('a complaint about a letter ends the letters to that address', async () => {
  const id = await inTransaction(app.pool, (tx) =>
    queueLetter(
      tx,
      {
        ...{ kind: 'advice', to: 'ann@reporters.example', subject: 'x', text: 'x' },
        ...{ reporterId: app.ann, language: 'en', autoSubmitted: 'generated' },
      },
      app,
      new Date(),
    ),
  )
  await app.pool.query(`update letters set state = 'sent' where id = $1`, [id])
  const raw = complaint(headerOf(`<letter.${id}@bounces.test.example>`))
  expect(await handled(raw, { purpose: 'other' })).toMatchObject({
    phrases: [phrase('inbound-address-suppressed')],
    needsLook: true,
  })
  expect(await suppressed()).toEqual([{ address: 'ann@reporters.example', reason: 'complaint' }])
})

test.for<
  [string, (feedback: SentFeedback) => Buffer, (feedback: SentFeedback) => Arrived, PhraseCode[]]
>([
  [
    'that knows no more than what its reporter knows',
    (feedback) => complaint(headerOf(ownId(feedback))),
    () => ({ purpose: 'other' }),
    ['inbound-unproven', 'inbound-review'],
  ],
  [
    'about mail that is not ours',
    () => complaint(headerOf('<spam-1@shop.example>')),
    atAnswers,
    ['inbound-unmatched', 'inbound-review'],
  ],
  [
    'that takes one back',
    (feedback) => complaint(headerOf(ownId(feedback)), ['Feedback-Type: not-spam']),
    () => ({ purpose: 'other' }),
    ['inbound-no-complaint'],
  ],
])('a complaint %s stops no one, and a person reviews it', async ([, rawOf, arrivedOf, codes]) => {
  const feedback = await told()
  const row = await handled(rawOf(feedback), arrivedOf(feedback))
  expect(row).toMatchObject({ kind: 'complaint', needsLook: true })
  expect(row?.['phrases']).toEqual(codes.map((code) => ({ code })))
  expect(await stateOfDesk()).toBe('found')
  expect(await suppressed()).toEqual([])
})

test.for<[string, (feedback: SentFeedback) => Buffer, (feedback: SentFeedback) => Arrived]>([
  [
    'our feedback report itself',
    (feedback) => {
      const raw = complaint(headerOf('<spam-1@shop.example>')).toString()
      return Buffer.from(raw.replace(/^Message-ID: .*$/m, `Message-ID: ${ownId(feedback)}`))
    },
    atAnswers,
  ],
  [
    'what was sent under our return path',
    () => reply(desk, ['STOP']),
    (feedback) => ({
      ...atAnswers(feedback),
      mailFrom: composeReturnPath(feedback, {
        domain: app.config.returnPathDomain,
        secret: app.config.secret,
      }),
    }),
  ],
])(
  'our own mail %s is a loop: it is filed, and nothing else happens',
  async ([, rawOf, arrivedOf]) => {
    const feedback = await told()
    const row = await handled(rawOf(feedback), arrivedOf(feedback))
    expect(row).toMatchObject({ kind: 'loop', needsLook: false })
    expect(row?.['phrases']).toEqual([phrase('inbound-loop')])
    expect(await answersTo(feedback)).toEqual([])
    expect(await stateOfDesk()).toBe('found')
  },
)
