import { expect, test } from 'vitest'
import { findWaitingMail } from '../../../src/db/inbox.ts'
import { unpack } from '../../../src/db/rows.ts'
import { createPool } from '../../../src/db/pool.ts'
import { makeMailInAddress } from '../../../src/reports/take-mailed.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import {
  answerAddress,
  freshMail,
  greeted,
  keptFor,
  listenFor,
  ready,
  returnPath,
} from './listener.ts'

const app = await closeAfterTests(openTestApp())
const smtp = await closeAfterTests(listenFor(app))
const lmtp = await closeAfterTests(listenFor(app, { receiveProtocol: 'lmtp' }))

async function answerTo(recipient: string): Promise<string> {
  const talk = await greeted(smtp.port)
  await talk.say('MAIL FROM:<mx@peer.example>')
  const answer = await talk.say(`RCPT TO:<${recipient}>`)
  talk.end()
  return answer
}

test('a mail to a return path is stored byte for byte with a job, then acknowledged', async () => {
  const rcpt = returnPath(app)
  const raw = Buffer.from(freshMail('X-Odd: \xe9 .\r\n') + '..\r\n.x\r\nbare\nline\r\n', 'latin1')
  const talk = await ready(smtp.port, [rcpt])
  expect(await talk.mail(raw)).toEqual(['250 2.6.0 Kept'])
  talk.end()
  const [row] = await app.rows('select id from inbound_mails where rcpt_to = $1', [rcpt])
  const mail = await findWaitingMail(app.pool, String(row?.['id']))
  expect(mail).toMatchObject({ purpose: 'feedback-bounce', number: 1, peerIp: '127.0.0.1' })
  expect(await unpack(mail ?? { encoding: 'identity', content: Buffer.alloc(0) })).toEqual(raw)
  const jobs = await app.rows(`select name from pgboss.job where data ->> 'mailId' = $1`, [
    row?.['id'],
  ])
  expect(jobs).toEqual([{ name: 'handle-inbound' }])
})

test.for<[string, () => string, string]>([
  ['an answer address', () => answerAddress(app), 'feedback-answer'],
  ['the From of our mail', () => app.config.mailFrom.toUpperCase(), 'other'],
  ['the postmaster', () => 'postmaster@bounces.test.example', 'other'],
  ['who is written to about abuse', () => 'Abuse@Bounces.Test.Example', 'other'],
])('%s is accepted', async ([, address, purpose]) => {
  const rcpt = address()
  const talk = await ready(smtp.port, [rcpt])
  expect(await talk.mail(freshMail())).toEqual(['250 2.6.0 Kept'])
  talk.end()
  expect(await keptFor(app, rcpt)).toMatchObject([{ purpose }])
})

test.for<[string, () => string, string]>([
  ['a stranger', () => 'someone@elsewhere.example', '550 5.1.1'],
  ['a name that is none here', () => 'info@bounces.test.example', '550 5.1.1'],
  ['a return path of another domain', () => returnPath(app).replace('.test', ''), '550 5.1.1'],
  ['a forged return path', () => returnPath(app).replace(/.(?=@)/, turned), '550 5.7.1'],
  ['a secret that nobody has', () => `report-${'a'.repeat(26)}@bounces.test.example`, '550 5.1.1'],
  ['a way on to a stranger', () => 'someone%elsewhere.example@bounces.test.example', '550 5.1.1'],
])('%s is refused', async ([, address, code]) => {
  expect(await answerTo(address())).toMatch(new RegExp(`^${code} `))
})

function turned(last: string): string {
  return last === 'a' ? 'b' : 'a'
}

test('a mail that is delivered twice is stored once, and acknowledged both times', async () => {
  const rcpt = returnPath(app)
  const raw = freshMail()
  for (const name of [rcpt, rcpt.toUpperCase()]) {
    const talk = await ready(smtp.port, [name])
    expect(await talk.mail(raw)).toEqual(['250 2.6.0 Kept'])
    talk.end()
  }
  expect(await keptFor(app, rcpt)).toHaveLength(1)
  expect(await keptFor(app, rcpt.toUpperCase())).toHaveLength(0)
  const other = await ready(smtp.port, [rcpt])
  await other.mail(freshMail())
  other.end()
  expect(await keptFor(app, rcpt)).toHaveLength(2)
})

test('the same mail delivered twice at once is acknowledged twice and stored once', async () => {
  const rcpt = returnPath(app)
  const raw = freshMail()
  const talks = await Promise.all([1, 2, 3, 4].map(() => ready(smtp.port, [rcpt])))
  const answers = await Promise.all(talks.map((talk) => talk.mail(raw)))
  for (const talk of talks) talk.end()
  expect(new Set(answers.flat())).toEqual(new Set(['250 2.6.0 Kept']))
  expect(await keptFor(app, rcpt)).toHaveLength(1)
})

test('a mail whose client disconnects before its end is not stored', async () => {
  const rcpt = returnPath(app)
  const talk = await ready(smtp.port, [rcpt])
  talk.push(freshMail())
  talk.end()
  await talk.closed
  const next = await ready(smtp.port, [rcpt])
  await next.mail(freshMail())
  next.end()
  expect(await keptFor(app, rcpt)).toHaveLength(1)
})

test('a mail loop is refused permanently', async () => {
  const rcpt = returnPath(app)
  const talk = await ready(smtp.port, [rcpt])
  const [answer] = await talk.mail(freshMail('Received: from a by b\r\n'.repeat(101)))
  expect(answer).toMatch(/^554 5\.4\.6 /)
  talk.end()
  expect(await keptFor(app, rcpt)).toEqual([])
  const nearly = await ready(smtp.port, [rcpt])
  await nearly.mail(freshMail('Received: from a by b\r\n'.repeat(100)))
  nearly.end()
  expect(await keptFor(app, rcpt)).toHaveLength(1)
})

test('in LMTP each recipient has its own reply, in order', async () => {
  const [first, second] = [returnPath(app), returnPath(app, 2)]
  const talk = await ready(lmtp.port, [first, 'nobody@bounces.test.example', second], 'LHLO mx')
  expect(await talk.mail(freshMail(), 2)).toEqual(['250 2.6.0 Kept', '250 2.6.0 Kept'])
  talk.end()
  expect(await keptFor(app, first)).toHaveLength(1)
  expect(await keptFor(app, second)).toMatchObject([{ number: 2 }])
})

test('in LMTP one recipient may get a mail that is too large for another', async () => {
  const { config } = app
  const reporting = await mailInAddress()
  const path = returnPath(app)
  const talk = await ready(lmtp.port, [path, reporting], 'LHLO mx')
  const big = freshMail() + `${'x'.repeat(998)}\r\n`.repeat(10_100)
  const answers = await talk.mail(big, 2)
  talk.end()
  expect(answers[0]).toMatch(/^552 5\.3\.4 /)
  expect(answers[1]).toBe('250 2.6.0 Kept')
  expect(await keptFor(app, path)).toEqual([])
  expect(await keptFor(app, reporting)).toMatchObject([{ purpose: 'mail-in' }])
  expect(config.messageBytesMax).toBeGreaterThan(big.length)
})

test('in SMTP a mail is stored for all its recipients, or for none', async () => {
  const [path, reporting] = [returnPath(app), await mailInAddress()]
  const talk = await ready(smtp.port, [reporting, path])
  const [answer] = await talk.mail(freshMail() + `${'y'.repeat(998)}\r\n`.repeat(10_100))
  talk.end()
  expect(answer).toMatch(/^552 5\.3\.4 /)
  expect(await keptFor(app, path)).toEqual([])
  expect(await keptFor(app, reporting)).toEqual([])
})

/** Creates a new address to which bob mails reports. */
function mailInAddress(): Promise<string> {
  return makeMailInAddress(app, app.bob)
}

test('a mail with too large a declared size is refused before it is sent', async () => {
  const talk = await greeted(smtp.port)
  const size = 100_000 + Math.ceil(app.config.messageBytesMax * 1.4)
  expect(await talk.say(`MAIL FROM:<> SIZE=${size + 1}`)).toMatch(/^552 /)
  expect(await talk.say(`MAIL FROM:<> SIZE=${size}`)).toMatch(/^250 /)
  expect(await talk.say(`RCPT TO:<${returnPath(app)}>`)).toMatch(/^552 5\.3\.4 /)
  expect(await talk.say(`RCPT TO:<${await mailInAddress()}>`)).toMatch(/^250 /)
  talk.end()
})

test('while the database is unavailable mail is deferred', async () => {
  const away = createPool('postgres://nobody@127.0.0.1:1/none', {
    connectionsMax: 2,
    name: 'away',
    onLost: () => undefined,
  })
  const broken = await listenFor({ ...app, pool: away })
  const brokenLmtp = await listenFor({ ...app, pool: away }, { receiveProtocol: 'lmtp' })
  const rcpt = returnPath(app)
  const talk = await ready(broken.port, [rcpt])
  expect(await talk.mail(freshMail())).toEqual([expect.stringMatching(/^451 4\.3\.0 /)])
  await talk.say('MAIL FROM:<>')
  const secret = `report-${'a'.repeat(26)}@bounces.test.example`
  expect(await talk.say(`RCPT TO:<${secret}>`)).toMatch(/^451 4\.3\.0 /)
  talk.end()
  const other = await ready(brokenLmtp.port, [rcpt, returnPath(app)], 'LHLO mx')
  const later = expect.stringMatching(/^451 4\.3\.0 /) as string
  expect(await other.mail(freshMail(), 2)).toEqual([later, later])
  other.end()
  await Promise.all([broken.close(), brokenLmtp.close(), away.end()])
  expect(await keptFor(app, rcpt)).toEqual([])
})

test('a hundred simultaneous sessions are served', async () => {
  const paths = Array.from({ length: 100 }, () => returnPath(app))
  const talks = await Promise.all(paths.map((path) => ready(smtp.port, [path])))
  const answers = await Promise.all(talks.map((talk) => talk.mail(freshMail())))
  for (const talk of talks) talk.end()
  expect(new Set(answers.flat())).toEqual(new Set(['250 2.6.0 Kept']))
  const kept = await app.rows(
    'select count(*)::integer as mails from inbound_mails where rcpt_to = any($1)',
    [paths],
  )
  expect(kept).toEqual([{ mails: 100 }])
})
