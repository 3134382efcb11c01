import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createJudgeChecked } from '../../../src/judging/check-message.ts'
import type { Verdict } from '../../../src/verdict/verdict.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { freshDatabase } from '../../support/database.ts'
import { append, foldAll, reportedBy, start, vouchedReporters } from '../../support/evidence.ts'
import { testJudge } from '../../support/judge.ts'
import { parser } from '../../support/parser.ts'

const database = await closeAfterTests(freshDatabase(start))

type Written = {
  from: string
  ip: string
  words: string
  links: readonly string[]
  listId?: string
}

function mail({ from, ip, words, links, listId }: Written) {
  const raw = Buffer.from(
    [
      `From: ${from}`,
      'To: you@home.example',
      'Subject: Your statement of November',
      'Date: Fri, 20 Nov 2026 09:59:57 +0000',
      `Message-ID: <1${from.replace(/^.*<|>$/g, '')}>`,
      ...(listId === undefined ? [] : [`List-Id: <${listId}>`]),
      'MIME-Version: 1.0',
      'Content-Type: text/plain; charset=utf-8',
      '',
      `${words} ${links.join(' ')} Call us: +33 1 23 45 67 89.`,
      '',
    ].join('\r\n'),
  )
  const client = { ip, helo: 'mail.sender.example', rdns: 'mail.sender.example' }
  return { raw, client }
}

const digestOf = async ({ raw, client }: ReturnType<typeof mail>) =>
  parser.check(raw, { trustedRelays: [], client })

/** Returns the verdict on a message for a mail server. */
async function asked(written: Written): Promise<Verdict> {
  const message = mail(written)
  const digest = await digestOf(message)
  const { ip, helo, rdns: hostname } = message.client
  const envelope = { ip, helo, hostname, returnPath: 'bounces@sender.example' }
  const judge = createJudgeChecked(
    { pool: database.pool, clock: () => start, log: pino({ level: 'silent' }) },
    testJudge(database.pool, () => start),
  )
  const nobody = { recipients: [], user: undefined, queueId: undefined }
  const judged = await judge({ digest, envelope: { ...envelope, ...nobody } })
  if (!judged) throw new Error('It was not judged.')
  return judged.verdict
}

/** Lets eight vouched-for reporters report a message, each for the first time. */
async function reported(written: Written): Promise<void> {
  const { subjects } = await digestOf(mail(written))
  const reporters = await vouchedReporters(database.pool, 8)
  const reports = await reportedBy(database.pool, reporters, { subjects: [...subjects] })
  await append(database.pool, reports)
  await foldAll(database.pool)
}

const bank = {
  from: 'Bank <service@bank.example>',
  ip: '192.0.2.10',
  words: 'Dear Ann, your statement is there. Sign in as you are used to.',
  links: ['https://www.bank.example/', 'https://www.bank.example/imprint'],
}
const phish = {
  from: 'Bank <x1@stranger.example>',
  ip: '198.51.100.66',
  words: 'We have locked what is yours. Unlock it by this form today.',
  links: ['https://evil.example/unlock', ...bank.links],
}

test('impersonating a bank with its links and telephone does not make its mail spam', async () => {
  const before = await asked(bank)
  await reported(phish)
  expect((await asked({ ...phish, words: 'Something else.' })).class).toBe('spam')
  const after = await asked(bank)
  expect(after.class).toBe(before.class)
  const other = { ...bank, from: 'Club <news@club.example>', links: bank.links.slice(0, 1) }
  const names = (await asked(other)).symbols.map(({ name }) => name)
  expect(names).not.toContain('LINK_DOMAIN_BAD_REPUTATION')
})

test('spam that links only to a bank makes neither its mail nor a club’s mail spam', async () => {
  const ownBank = {
    ...bank,
    from: 'Savings <a@savings.example>',
    links: ['https://savings.example/'],
  }
  await reported({ ...phish, words: 'See what is attached to this.', links: ownBank.links })
  expect((await asked(ownBank)).class).not.toBe('spam')
  const other = await asked({ ...ownBank, from: 'Club <news@club.example>' })
  expect(other.symbols.map(({ name }) => name)).toContain('LINK_DOMAIN_BAD_REPUTATION')
  expect(other.class).not.toBe('spam')
})

test('spam from a mailbox provider with a social network link harms no others', async () => {
  const gmail = { ip: '209.85.218.41', links: ['https://www.facebook.com/somebody'] }
  const spam = { ...gmail, from: 'Pills <p1@gmail.com>', words: 'Buy our pills, they are cheap.' }
  await reported(spam)
  const names = await database.pool.query('select kind from reputations where name = any($1)', [
    ['gmail.com', 'facebook.com', 'www.facebook.com', gmail.ip, '209.85.218.0/24'],
  ])
  expect(names.rows).toEqual([])
  const ann = { ...gmail, from: 'Ann <ann@gmail.com>', words: 'See you at lunch tomorrow?' }
  expect((await asked({ ...ann, links: ['https://www.facebook.com/events/1'] })).class).not.toBe(
    'spam',
  )
})

test('complaints about a post to a list do not make other mail of its machine bad', async () => {
  const badParts = async (written: Written) =>
    (await asked(written)).symbols
      .map(({ name }) => name)
      .filter((name) => /^(?:ORIGIN|NETWORK)_BAD_REPUTATION$|^SURELY_BAD$/.test(name))
  const post = { from: 'Spammer <x@member.example>', words: 'Cheap watches.', links: [] }
  const other = { from: 'Eve <eve@club.example>', words: 'The minutes of our meeting.', links: [] }
  const list = { ip: '2001:db8:aa::10', listId: 'talk.sender.example' }
  const line = { ip: '2001:db8:bb::10' }
  await reported({ ...post, ...list })
  await reported({ ...post, ...line, from: 'Spammer <y@stranger.example>' })
  expect(await badParts({ ...other, ...list })).toEqual([])
  expect(await badParts({ ...other, ...line })).toContain('SURELY_BAD')
})
