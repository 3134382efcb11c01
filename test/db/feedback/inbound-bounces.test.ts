import { beforeEach, expect, test } from 'vitest'
import { inTransaction } from '../../../src/db/pool.ts'
import { handleInboundMail } from '../../../src/feedback/handle-inbound.ts'
import { queueLetter } from '../../../src/letters/send-letter.ts'
import { composeLetterReturnPath, composeReturnPath } from '../../../src/mail/verp.ts'
import { phrase } from '../../../src/phrase.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { type Arrived, arrive, dsn, qmailBounce } from '../../support/inbound-mail.ts'
import { spamMessage } from '../../support/messages.ts'
import { parser } from '../../support/parser.ts'
import { createSentFeedback, type SentFeedback } from '../../support/sent-feedback.ts'
import { ringOf } from '../../support/key-ring.ts'
let made = 0
const desk = 'abuse@access-two.example'
const HOUR_MS = 3_600_000

const app = await closeAfterTests(openTestApp())

beforeEach(async () => {
  await app.pool.query('delete from suppressions')
  await app.pool.query(`update feedback_reports set state = 'withdrawn' where state = 'sent'`)
  await app.pool.query(
    `update consumers set state = 'found', health = 'healthy', health_until = null,
       soft_bounces = 0, bounces_since = null, last_bounced_at = null`,
  )
})

async function told(hoursAgo = 1): Promise<SentFeedback> {
  const { id } = await app.report(spamMessage(`bounce-${++made}`))
  return createSentFeedback(app, parser, id, hoursAgo)
}

async function letter(to = 'ann@reporters.example', hoursAgo = 1): Promise<string> {
  const said = { kind: 'answer', to, subject: 'x', text: 'x', reporterId: app.ann } as const
  const more = { language: 'en', autoSubmitted: 'generated' } as const
  const id = await inTransaction(app.pool, (tx) =>
    queueLetter(tx, { ...said, ...more }, app, new Date()),
  )
  await app.pool.query(`update letters set state = 'sent', finished_at = $2 where id = $1`, [
    id,
    new Date(Date.now() - hoursAgo * HOUR_MS),
  ])
  return id
}

/** Handles a mail twice: the second time must change nothing. */
async function handled(raw: Buffer, arrived: Arrived) {
  const mail = await arrive(app, raw, arrived)
  await handleInboundMail(mail, { ...app, parser })
  await handleInboundMail(mail, { ...app, parser })
  const [row] = await app.rows(
    `select state, kind, matched_by as "matchedBy", report_id as "reportId", number,
       letter_id as "letterId", phrases, needs_look as "needsLook"
     from inbound_mails where id = $1`,
    [mail.mailId],
  )
  return row
}

async function stateOf({ reportId, number }: SentFeedback) {
  const rows = await app.rows(
    'select state from feedback_reports where report_id = $1 and number = $2',
    [reportId, number],
  )
  return rows[0]?.['state']
}

const suppressed = () =>
  app.rows('select address, reason, status, until is null as "isForever" from suppressions')

const settings = () => ({ domain: app.config.returnPathDomain, secret: app.config.secret })
const atVerp = ({ reportId }: SentFeedback): Arrived => ({ purpose: 'feedback-bounce', reportId })

function headerOf(messageId: string): string[] {
  return ['From: <feedback@here.example>', `To: <${desk}>`, `Message-ID: ${messageId}`]
}

const ownId = ({ reportId, number }: SentFeedback) => `<${reportId}.${number}@bounces.test.example>`

test('a hard bounce suppresses the desk’s address while it is disabled', async () => {
  const feedback = await told()
  const row = await handled(dsn({ recipient: desk }), atVerp(feedback))
  expect(row).toMatchObject({ state: 'handled', kind: 'bounce', matchedBy: 'recipient' })
  expect(row?.['phrases']).toEqual([
    phrase('inbound-address-suppressed'),
    phrase('next-contact-notified'),
  ])
  expect(await stateOf(feedback)).toBe('bounced')
  expect(await suppressed()).toEqual([
    { address: desk, reason: 'hard-bounce', status: '5.1.1', isForever: false },
  ])
})

test('the next contact of the network is notified', async () => {
  const feedback = await told()
  const withTwo = `update networks set contacts = $1 where abuse = '${desk}'`
  await app.pool.query(withTwo, [[desk, 'noc@access-two.example']])
  await handled(dsn({ recipient: desk }), atVerp(feedback))
  const rows = await app.rows(
    'select number, address from feedback_reports where report_id = $1 order by number',
    [feedback.reportId],
  )
  expect(rows).toEqual([
    { number: 1, address: desk },
    { number: 2, address: 'noc@access-two.example' },
  ])
  await app.pool.query(withTwo, [[desk]])
})

test.for(['delayed', 'delivered', 'relayed', 'expanded'] as const)(
  'feedback that was %s is unchanged',
  async (action) => {
    const feedback = await told()
    const status = action === 'delayed' ? '4.4.1' : '2.0.0'
    const row = await handled(dsn({ recipient: desk, action, status }), atVerp(feedback))
    expect(row).toMatchObject({ kind: 'bounce', needsLook: false })
    expect(row?.['phrases']).toEqual([{ code: `inbound-${action}` }])
    expect(await stateOf(feedback)).toBe('sent')
    expect(await suppressed()).toEqual([])
  },
)

test('a notice in a language that we do not know is a soft bounce', async () => {
  const feedback = await told()
  const notice = ['From: <>', 'Subject: Ilmoitus', '', 'Viestiä ei voitu toimittaa perille.', '']
  const row = await handled(Buffer.from(notice.join('\r\n')), atVerp(feedback))
  expect(row).toMatchObject({ kind: 'bounce', matchedBy: 'recipient', needsLook: false })
  expect(row?.['phrases']).toEqual([phrase('inbound-soft-bounce')])
  expect(await stateOf(feedback)).toBe('bounced')
})

test('a mailbox behind the desk is not the desk: its failure counts as soft', async () => {
  const feedback = await told()
  const row = await handled(dsn({ recipient: 'bob@elsewhere.example' }), atVerp(feedback))
  expect(row?.['phrases']).toEqual([phrase('inbound-soft-bounce')])
  expect(await stateOf(feedback)).toBe('bounced')
  expect(await suppressed()).toEqual([])
})

test('another machine of the desk may report a mailbox that it names differently', async () => {
  const feedback = await told()
  await handled(dsn({ recipient: 'abuse@mail.access-two.example' }), atVerp(feedback))
  expect(await suppressed()).toMatchObject([{ reason: 'hard-bounce' }])
})

const full = {
  recipient: desk,
  status: '4.2.2',
  said: '452 4.2.2 The mailbox is full, quota exceeded',
}

test('three soft bounces over a day suppress for a week', async () => {
  await handled(dsn(full), atVerp(await told(30)))
  await handled(dsn(full), atVerp(await told(20)))
  expect(await suppressed()).toEqual([])
  await handled(dsn(full), atVerp(await told(1)))
  expect(await suppressed()).toMatchObject([{ address: desk, reason: 'soft-bounces' }])
  const [row] = await app.rows(
    `select until between now() + interval '6 days' and now() + interval '8 days' as "isWeek"
     from suppressions`,
  )
  expect(row).toEqual({ isWeek: true })
})

test('three soft bounces within an hour do not', async () => {
  await handled(dsn(full), atVerp(await told(2)))
  await handled(dsn(full), atVerp(await told(2)))
  await handled(dsn(full), atVerp(await told(1)))
  expect(await suppressed()).toEqual([])
})

test.for<[string, (token: string) => string]>([
  ['the part before the @', (address) => address.split('@')[0] ?? ''],
  ['the whole return path', (address) => address],
  ['the same in capitals', (address) => address.toUpperCase()],
])('a bounce to another address is matched by the ENVID: %s', async ([, envelopeIdOf]) => {
  const feedback = await told()
  const envelopeId = envelopeIdOf(composeReturnPath(feedback, settings()))
  const row = await handled(dsn({ recipient: desk, envelopeId }), { purpose: 'other' })
  expect(row).toMatchObject({ matchedBy: 'envelope-id', reportId: feedback.reportId, number: 1 })
  expect(await stateOf(feedback)).toBe('bounced')
})

test('a forged ENVID matches nothing', async () => {
  const feedback = await told()
  const envelopeId = composeReturnPath(feedback, {
    ...settings(),
    secret: ringOf('another secret, long'),
  })
  const row = await handled(dsn({ recipient: desk, envelopeId }), { purpose: 'other' })
  expect(row).toMatchObject({ matchedBy: null, reportId: null, needsLook: false })
  expect(await stateOf(feedback)).toBe('sent')
})

test('otherwise it is matched by the Message-ID of the returned message', async () => {
  const feedback = await told()
  const raw = dsn({ recipient: desk, returned: headerOf(ownId(feedback)) })
  const row = await handled(raw, { purpose: 'other' })
  expect(row).toMatchObject({ matchedBy: 'message-id', reportId: feedback.reportId })
  expect(await stateOf(feedback)).toBe('bounced')
})

test('a bounce that is not a DSN is also matched by it', async () => {
  const feedback = await told()
  const row = await handled(qmailBounce(desk, headerOf(ownId(feedback))), { purpose: 'other' })
  expect(row).toMatchObject({ kind: 'bounce', matchedBy: 'message-id' })
  expect(await stateOf(feedback)).toBe('bounced')
})

test('knowing only the number of a report is not enough to disable a desk', async () => {
  // A reporter knows the number of the report, and anyone may write to the postmaster.
  for (const hoursAgo of [30, 20, 1]) {
    const feedback = await told(hoursAgo)
    const raw = dsn({ recipient: desk, returned: headerOf(ownId(feedback)) })
    expect(await handled(raw, { purpose: 'other' })).toMatchObject({
      phrases: [phrase('inbound-unproven'), phrase('inbound-review')],
      needsLook: true,
    })
  }
  expect(await suppressed()).toEqual([])
  expect(await app.rows('select health from consumers where address = $1', [desk])).toEqual([
    { health: 'healthy' },
  ])
})

test.for<[string, (feedback: SentFeedback) => string]>([
  ['of nothing we sent', () => '<01999999-0000-7000-8000-000000000000.1@bounces.test.example>'],
  ['of another house', (feedback) => ownId(feedback).replace('bounces.test', 'other')],
  ['of another number', (feedback) => ownId(feedback).replace('.1@', '.2@')],
])('a Message-ID %s matches nothing', async ([, idOf]) => {
  const feedback = await told()
  const raw = dsn({ recipient: desk, returned: headerOf(idOf(feedback)) })
  expect(await handled(raw, { purpose: 'other' })).toMatchObject({ matchedBy: null })
  expect(await stateOf(feedback)).toBe('sent')
})

test('a bounced letter is marked, and its address suppressed', async () => {
  const id = await letter()
  const row = await handled(dsn({ recipient: 'ann@reporters.example' }), {
    purpose: 'letter-bounce',
    letterId: id,
  })
  expect(row).toMatchObject({ matchedBy: 'recipient', letterId: id })
  expect(row?.['phrases']).toEqual([phrase('inbound-address-suppressed')])
  expect(await app.rows('select state, reply from letters where id = $1', [id])).toEqual([
    { state: 'bounced', reply: '5.1.1 userunknown' },
  ])
  expect(await suppressed()).toMatchObject([
    { address: 'ann@reporters.example', reason: 'hard-bounce' },
  ])
})

test('a letter is also found by its ENVID and its Message-ID', async () => {
  const [one, other] = [await letter('a@b.example'), await letter('c@d.example')]
  const envelopeId = composeLetterReturnPath(one, settings())
  expect(
    await handled(dsn({ recipient: 'a@b.example', envelopeId }), { purpose: 'other' }),
  ).toMatchObject({ matchedBy: 'envelope-id', letterId: one })
  const returned = headerOf(`<letter.${other}@bounces.test.example>`)
  expect(
    await handled(dsn({ recipient: 'c@d.example', returned }), { purpose: 'other' }),
  ).toMatchObject({ matchedBy: 'message-id', letterId: other })
  expect(await suppressed()).toHaveLength(2)
})

test('soft bounces of letters suppress only if consecutive over a day', async () => {
  const to = 'soft@reporters.example'
  const soft = { ...full, recipient: to }
  for (const hoursAgo of [30, 20]) {
    const letterId = await letter(to, hoursAgo)
    await handled(dsn(soft), { purpose: 'letter-bounce', letterId })
  }
  expect(await suppressed()).toEqual([])
  const letterId = await letter(to, 1)
  await handled(dsn(soft), { purpose: 'letter-bounce', letterId })
  expect(await suppressed()).toMatchObject([{ address: to, reason: 'soft-bounces' }])
})

test('a delivered letter in between resets the count', async () => {
  const to = 'row@reporters.example'
  for (const hoursAgo of [30, 20]) {
    const letterId = await letter(to, hoursAgo)
    await handled(dsn({ ...full, recipient: to }), { purpose: 'letter-bounce', letterId })
  }
  await letter(to, 10)
  const letterId = await letter(to, 1)
  await handled(dsn({ ...full, recipient: to }), { purpose: 'letter-bounce', letterId })
  expect(await suppressed()).toEqual([])
})
