import { expect, test } from 'vitest'
import { operations } from '../../../src/cli/sources.ts'
import { insertInboundMail } from '../../../src/db/inbox.ts'
import { pack, type Packed, unpack } from '../../../src/db/rows.ts'
import { composeReturnPath } from '../../../src/mail/verp.ts'
import { createIntake, type Intake } from '../../../src/reports/accept-report.ts'
import { runTakeComplaint } from '../../../src/reports/take-complaints.ts'
import { uuidv7 } from '../../../src/world.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { runCommand } from '../../support/command.ts'
import { spamMessage } from '../../support/messages.ts'
import { parser } from '../../support/parser.ts'
import { createSentFeedback } from '../../support/sent-feedback.ts'
import { freshMail, keptFor, listenFor, ready } from '../processes/listener.ts'

const app = await closeAfterTests(openTestApp())
const address = 'fbl-yahoo@bounces.test.example'
await runCommand(operations, ['add', address, '--kind', 'feedback-loop'], app)

/** A complaint about a message in the Abuse Reporting Format. */
function complaint(message: Buffer | string, type = 'message/rfc822'): Buffer {
  return Buffer.from(
    [
      ...['From: <feedback@provider.example>', 'Subject: FW: Cheap watches'],
      ...['Content-Type: multipart/report; report-type=feedback-report; boundary=b', ''],
      ...['--b', 'Content-Type: text/plain', '', 'A complaint.'],
      ...['--b', 'Content-Type: message/feedback-report', '', 'Feedback-Type: abuse'],
      ...['User-Agent: Feedback/1.0', 'Version: 1', 'Original-Rcpt-To: zoe@provider.example', ''],
      ...['--b', `Content-Type: ${type}`, '', message.toString(), '--b--', ''],
    ].join('\r\n'),
  )
}

async function arrived(raw: Buffer): Promise<{ mailId: string }> {
  const id = uuidv7(new Date())
  const [source] = await app.rows('select id from mail_sources')
  const nothing = { reportId: null, number: null, letterId: null, peerIp: null }
  await insertInboundMail(app.pool, {
    ...{ id, rcptTo: address, purpose: 'feedback-loop', ...nothing, receivedAt: new Date() },
    ...{ mailFrom: 'feedback@provider.example', ...(await pack(raw)) },
    reporterId: String(source?.['id']),
  })
  return { mailId: id }
}

function take(mail: { mailId: string }, intake: Intake = createIntake(app)) {
  return runTakeComplaint(mail, { ...app, parser, intake })
}

function reportsOf(mark: string) {
  return app.rows('select id, channel, kind from reports where subject = $1', [
    `Cheap watches ${mark}`,
  ])
}

async function counts(): Promise<Record<string, number>> {
  const { stdout } = await runCommand(operations, ['list'], app)
  return JSON.parse(stdout) as Record<string, number>
}

test('a complaint becomes a report of the feedback loop, once', async () => {
  const mail = await arrived(complaint(spamMessage('one')))
  const intake = createIntake(app)
  const dying: Intake = {
    accept: async (submission) => {
      await intake.accept(submission)
      throw new Error('killed')
    },
  }
  await expect(take(mail, dying)).rejects.toThrow('killed')
  await take(mail)
  await take(mail)
  const found = await reportsOf('one')
  expect(found).toEqual([{ id: expect.any(String), channel: 'feedback-loop', kind: 'spam' }])
  const [raw] = await app.rows('select encoding, content from raw_messages where id = $1', [
    found[0]?.['id'],
  ])
  const message = await unpack(raw as Packed)
  expect(message.toString()).toMatch(/^Delivered-To: zoe@provider\.example\r\nReturn-Path: /)
  expect(await counts()).toMatchObject({ received: 1, reported: 1, refused: 0 })
  expect(await keptFor(app, address)).toEqual([])
})

test('a complaint about our own mail stops it, and is no report', async () => {
  const { id } = await app.report(spamMessage('told'))
  const told = await createSentFeedback(app, parser, id)
  const settings = { domain: app.config.returnPathDomain, secret: app.config.secret }
  const returnPath = composeReturnPath(told, settings)
  const header = `Return-Path: <${returnPath}>\r\nFrom: us@x.example\r\nSubject: Cheap watches ours`
  const ours = `${header}\r\n\r\nHello`
  for (const type of ['message/rfc822', 'application/octet-stream']) {
    await app.pool.query(`update consumers set state = 'found'`)
    const { mailId } = await arrived(complaint(ours, type))
    await take({ mailId })
    expect(await reportsOf('ours')).toEqual([])
    const [mail] = await app.rows(
      `select kind, report_id as "reportId", needs_look as "needsLook" from inbound_mails
       where id = $1`,
      [mailId],
    )
    expect(mail).toEqual({ kind: 'complaint', reportId: id, needsLook: true })
    expect(await app.rows(`select from consumers where state = 'stopped'`)).toHaveLength(1)
  }
})

test('what is no complaint goes to the inbox, and people can read it', async () => {
  await take(await arrived(Buffer.from('Subject: Confirm\r\n\r\nPlease confirm your address.')))
  const mails = await app.rows(
    `select kind, needs_look as "needsLook" from inbound_mails where subject = 'Confirm'`,
  )
  expect(mails).toEqual([{ kind: 'reply', needsLook: true }])
})

test('the listener queues complaints for their own handler', async () => {
  const listener = await listenFor(app)
  const talk = await ready(listener.port, [address])
  expect(await talk.mail(freshMail())).toEqual(['250 2.6.0 Kept'])
  talk.end()
  await listener.close()
  const jobs = await app.rows(`select from pgboss.job where name = 'take-complaint'`)
  expect(jobs).toHaveLength(1)
})
