import { beforeEach, expect, test } from 'vitest'
import { insertInboundMail } from '../../../src/db/inbox.ts'
import { pack, unpack } from '../../../src/db/rows.ts'
import { createPool } from '../../../src/db/pool.ts'
import { createIntake } from '../../../src/reports/accept-report.ts'
import {
  mailInAddressOf,
  makeMailInAddress,
  runTakeMailed,
} from '../../../src/reports/take-mailed.ts'
import { createLimits } from '../../../src/people/limits.ts'
import { realLetter } from '../../support/letters.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { changeLimit } from '../../support/limits.ts'
import { putShadowBan, removeShadowBan } from '../../../src/db/shadow-bans.ts'
import { parseHeader } from '../../../src/mail/header.ts'
import { uuidv7 } from '../../../src/world.ts'
import { openTestApp } from '../../support/app.ts'
import { attached, file, type ForwardPart, forwardOf, greeting } from '../../support/forwards.ts'
import type { JobOutcome } from '../../../src/queue/work.ts'
import { outlookFile, traveledHeader } from '../../support/containers/outlook-file.ts'
import { opaqueSigned } from '../../support/containers/signed-data.ts'
import { mapiMessage, tnefFile } from '../../support/containers/tnef-file.ts'
import { spamMessage } from '../../support/messages.ts'
import { listenFor, ready } from '../processes/listener.ts'
import { ringOf } from '../../support/key-ring.ts'

let now = new Date()

const app = await closeAfterTests(openTestApp({ MESSAGE_BYTES_MAX: '100000' }))

beforeEach(async () => {
  await app.pool.query('delete from letters')
  await app.pool.query('delete from mail_in_addresses')
  await makeMailInAddress(app, app.ann)
})

function take(mail: { mailId: string }): Promise<JobOutcome> {
  const [intake, limits] = [createIntake(app), createLimits(app)]
  return runTakeMailed(mail, { ...app, clock: () => now, intake, limits })
}

/** Stores a mail to the address of a reporter as the listener does. */
async function arrived(raw: Buffer, more: { mailFrom?: string; reporterId?: string } = {}) {
  const id = uuidv7(new Date())
  await insertInboundMail(app.pool, {
    id,
    receivedAt: new Date(),
    mailFrom: 'ann@reporters.example',
    rcptTo: 'report-x@bounces.test.example',
    purpose: 'mail-in',
    reportId: null,
    number: null,
    letterId: null,
    reporterId: app.ann,
    peerIp: null,
    ...(await pack(raw)),
    ...more,
  })
  return { mailId: id }
}

async function mailed(parts: readonly ForwardPart[], header: readonly string[] = []) {
  const mail = await arrived(forwardOf(parts, { header }))
  await take(mail)
  return mail
}

function reportsOf(mark: string) {
  return app.rows(
    `select id, channel, kind, reporter_id as "reporterId" from reports where subject = $1`,
    [`Cheap watches ${mark}`],
  )
}

async function letters() {
  const rows = await app.rows('select id, kind, address from letters order by id')
  return Promise.all(
    rows.map(async ({ id, kind, address }) => {
      const raw = await realLetter(app.pool, String(id))
      return { kind, address, raw: raw.toString('latin1'), fields: parseHeader(raw).fields }
    }),
  )
}

function subjectOf(letter: { raw: string } | undefined): string | undefined {
  return /^Subject: (.*)\r$/m.exec(letter?.raw ?? '')?.[1]
}

test('a mail to the address of a reporter becomes reports', async () => {
  const listener = await listenFor(app)
  const address = (await mailInAddressOf(app, app.ann))?.address ?? ''
  const talk = await ready(listener.port, [address.toUpperCase()])
  const message = spamMessage('listened')
  await talk.mail(forwardOf([greeting, attached(message), attached(spamMessage('too'))]))
  talk.end()
  await listener.close()
  const [job] = await app.rows(`select data from pgboss.job where name = 'take-mailed'`)
  await take(job?.['data'] as { mailId: string })
  const [report] = await reportsOf('listened')
  expect(report).toMatchObject({ channel: 'mail', kind: 'spam', reporterId: app.ann })
  expect(await reportsOf('too')).toHaveLength(1)
  const [raw] = await app.rows('select encoding, content from raw_messages where id = $1', [
    report?.['id'],
  ])
  expect(await unpack(raw as Parameters<typeof unpack>[0])).toEqual(message)
})

test('the first report by mail is confirmed, later ones only get errors', async () => {
  await mailed([attached(spamMessage('first'))])
  const [letter] = await letters()
  expect(letter).toMatchObject({ kind: 'mail-in', address: 'ann@reporters.example' })
  expect(subjectOf(letter)).toBe('Your report by mail has arrived')
  expect(letter?.raw).toContain('Auto-Submitted: auto-replied\r\n')
  expect(letter?.raw).toContain('In-Reply-To: <forward-1@reporters.example>\r\n')
  await mailed([attached(spamMessage('second'))])
  expect(await letters()).toHaveLength(1)
})

test('a second run makes no second report and no second letter', async () => {
  const mail = await mailed([attached(spamMessage('again'))])
  await app.pool.query(`update inbound_mails set state = 'received' where id = $1`, [mail.mailId])
  await take(mail)
  expect(await reportsOf('again')).toHaveLength(1)
  expect(await letters()).toHaveLength(1)
  await take(mail)
  expect(await letters()).toHaveLength(1)
})

test('two concurrent runs write one letter', async () => {
  const mail = await arrived(forwardOf([attached(spamMessage('at once'))]))
  await Promise.all([take(mail), take(mail)])
  expect(await reportsOf('at once')).toHaveLength(1)
  expect(await letters()).toHaveLength(1)
})

test('a message reported earlier in another way is the same report', async () => {
  const { id } = await app.report(spamMessage('by form'))
  await mailed([attached(spamMessage('by form'))])
  expect(await reportsOf('by form')).toMatchObject([{ id, channel: 'api' }])
})

test('an inline forward is refused with instructions, once a day', async () => {
  now = new Date()
  await mailed([greeting])
  await mailed([file('application/zip', 'junk.zip', spamMessage('zipped'))])
  const first = await letters()
  expect(first.map(subjectOf)).toEqual(['Your report by mail was not accepted'])
  expect(first[0]?.raw).toContain('Gmail')
  now = new Date(now.getTime() + 86_401_000)
  await mailed([file('application/zip', 'junk.zip', spamMessage('zipped'))])
  const both = await letters()
  expect(both).toHaveLength(2)
  expect(both[1]?.raw).toContain('We do not open archives')
  expect(await reportsOf('zipped')).toEqual([])
})

test('messages in a file of Outlook, a mailbox and a signature are reported', async () => {
  const msg = outlookFile({ header: traveledHeader, text: 'Buy' })
  const box = Buffer.concat([Buffer.from('From -\r\n'), spamMessage('boxed')])
  const header = traveledHeader.replace('watches', 'clocks')
  const tnef = tnefFile({ messages: [{ message: mapiMessage(header, 'Buy') }] })
  const signed = opaqueSigned(forwardOf([attached(spamMessage('signed'))]), { isInPieces: true })
  await mailed([
    file('application/vnd.ms-outlook', 'Cheap watches.msg', msg),
    file('application/octet-stream', 'Junk.mbox', box),
    file('application/ms-tnef', 'winmail.dat', tnef),
    file('application/pkcs7-mime', 'smime.p7m', signed),
    file('application/octet-stream', 'Été 2026', spamMessage('unnamed')),
  ])
  for (const mark of ['boxed', 'signed', 'unnamed']) expect(await reportsOf(mark)).toHaveLength(1)
  const rebuilt = await app.rows(
    `select subject from reports where rebuilt_from = 'msg' order by subject`,
  )
  expect(rebuilt).toEqual([{ subject: 'Cheap clocks' }, { subject: 'Cheap watches' }])
})

test('a mail that is accepted in part brings a letter about the rest', async () => {
  const big = Buffer.concat([spamMessage('big'), Buffer.alloc(100_000, 'x')])
  await mailed([attached(spamMessage('small')), attached(big), attached(Buffer.from('no mail'))])
  expect(await reportsOf('small')).toHaveLength(1)
  expect(await reportsOf('big')).toEqual([])
  const [letter, second] = await letters()
  expect(subjectOf(letter)).toBe('Part of your report by mail was not accepted')
  expect(letter?.raw).toContain('2 attached messages are too big')
  expect(second).toBeUndefined()
})

test('fifty messages of a mail are accepted', async () => {
  const many = Array.from({ length: 52 }, (_, index) => attached(spamMessage(`many ${index}`)))
  await mailed(many)
  const taken = await app.rows(
    `select count(*)::integer as reports from reports where subject like 'Cheap watches many %'`,
  )
  expect(taken).toEqual([{ reports: 50 }])
  expect((await letters())[0]?.raw).toContain('2 more were attached')
})

test('the letter is in the language of the reporter', async () => {
  for (const [language, subject] of [
    ['fr', 'Votre signalement'],
    ['ru', '=?utf-8?'],
  ] as const) {
    await app.pool.query('update reporters set language = $2 where id = $1', [app.ann, language])
    await app.pool.query('update mail_in_addresses set answered_at = null')
    await app.pool.query('delete from letters')
    await mailed([greeting])
    const [letter] = await letters()
    expect(letter?.raw).toContain(`Content-Language: ${language}\r\n`)
    expect(letter?.raw.toLowerCase()).toContain(subject.toLowerCase())
  }
  await app.pool.query('update reporters set language = null')
})

test('automatic mail is never answered, but is reported', async () => {
  await mailed([greeting], ['Auto-Submitted: auto-replied'])
  await mailed([attached(spamMessage('by a rule'))], ['Precedence: list'])
  const nobody = await arrived(forwardOf([greeting]), { mailFrom: '' })
  await take(nobody)
  expect(await letters()).toEqual([])
  expect(await reportsOf('by a rule')).toHaveLength(1)
})

test('the answer goes to the account, whatever the From field is', async () => {
  const forged = forwardOf([greeting], { from: 'victim@elsewhere.example' })
  await take(await arrived(forged, { mailFrom: 'victim@elsewhere.example' }))
  expect(await letters()).toMatchObject([{ address: 'ann@reporters.example' }])
})

test('mail above the limit waits, and mail of a banned reporter is held', async () => {
  await changeLimit(app.pool, 'mail-in-hour', { attempts: 1, seconds: 7_200 })
  const [first, second] = [
    await arrived(forwardOf([attached(spamMessage('often 1'))])),
    await arrived(forwardOf([attached(spamMessage('often 2'))])),
  ]
  expect(await take(first)).toBe('done')
  expect(await take(second)).toMatchObject({
    postponedTo: expect.any(Date) as Date,
    payload: second,
  })
  await changeLimit(app.pool, 'mail-in-hour', { attempts: 500 })
  const ban = { reason: 'a test', imposedAt: now, imposedBy: null }
  await putShadowBan(app.pool, { reporterId: app.ann, ...ban })
  expect(await take(second)).toBe('done')
  expect(await app.rows(`select subject from reports where shadow = 'held'`)).toHaveLength(1)
  await removeShadowBan(app.pool, app.ann)
})

test('mail for a reporter without an account is set aside', async () => {
  const reporterId = uuidv7(new Date())
  const mail = await arrived(forwardOf([attached(spamMessage('orphan'))]), { reporterId })
  await take(mail)
  expect(await reportsOf('orphan')).toEqual([])
  const rows = await app.rows('select state, kind from inbound_mails where id = $1', [mail.mailId])
  expect(rows).toEqual([{ state: 'handled', kind: 'no-reporter' }])
})

test('while the database is unavailable the job fails and is retried', async () => {
  const mail = await arrived(forwardOf([attached(spamMessage('away'))]))
  const onLost = () => undefined
  const url = 'postgres://nobody@127.0.0.1:1/none'
  const away = createPool(url, { connectionsMax: 1, name: 'away', onLost })
  const intake = createIntake({ ...app, pool: away })
  await expect(runTakeMailed(mail, { ...app, intake, limits: createLimits(app) })).rejects.toThrow()
  await away.end()
  await take(mail)
  expect(await reportsOf('away')).toHaveLength(1)
})

test('a new address replaces the previous one', async () => {
  const before = (await mailInAddressOf(app, app.ann))?.address ?? ''
  const after = await makeMailInAddress(app, app.ann)
  expect(after).not.toBe(before)
  expect((await mailInAddressOf(app, app.ann))?.address).toBe(after)
  const listener = await listenFor(app)
  const talk = await ready(listener.port, [])
  await talk.say('MAIL FROM:<>')
  expect(await talk.say(`RCPT TO:<${before}>`)).toMatch(/^550 5\.1\.1/)
  expect(await talk.say(`RCPT TO:<${after}>`)).toMatch(/^250/)
  talk.end()
  await listener.close()
  const other = {
    ...app,
    config: { ...app.config, secret: ringOf('another secret, as long as it must be') },
  }
  expect(await mailInAddressOf(other, app.ann)).toBeUndefined()
})
