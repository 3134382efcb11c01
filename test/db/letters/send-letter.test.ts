import { expect, test } from 'vitest'
import { findLetter, findLetterMessage, releaseLetters } from '../../../src/db/letters.ts'
import { concealKeysIn } from '../../../src/mail/conceal-keys.ts'
import { unpack } from '../../../src/db/rows.ts'
import { inTransaction } from '../../../src/db/pool.ts'
import { suppress } from '../../../src/db/suppressions.ts'
import { queueLetter, runSendLetter } from '../../../src/letters/send-letter.ts'
import { parseOwnAddress } from '../../../src/mail/verp.ts'
import { createMailer, type Mailer } from '../../../src/net/mailer.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { startSmtpSink } from '../../support/smtp-sink.ts'

const app = await closeAfterTests(openTestApp())
const sink = await closeAfterTests(startSmtpSink())
const mailer = await closeAfterTests(createMailer(sink.url))

function owe(to: string): Promise<string> {
  return inTransaction(app.pool, (tx) =>
    queueLetter(
      tx,
      {
        kind: 'advice',
        to,
        subject: 'Comment se désabonner',
        text: 'Bonjour,\n\nvoici comment.\n',
        language: 'fr',
        autoSubmitted: 'generated',
        isAnswerable: true,
      },
      app,
      app.clock(),
    ),
  )
}

async function stateOf(id: string): Promise<string | undefined> {
  return (await findLetter(app.pool, id))?.state
}

test('a letter is sent with its own return path, as stored', async () => {
  const letterId = await owe('leaves@reporters.example')
  expect(await runSendLetter([{ letterId }], { ...app, mailer })).toEqual(['done'])
  const mail = sink.messages.find(({ to }) => to.includes('leaves@reporters.example'))
  const settings = { domain: app.config.returnPathDomain, secret: app.config.secret }
  expect(parseOwnAddress(mail?.from ?? '', settings)).toEqual({ is: 'letter-bounce', letterId })
  const copy = await findLetterMessage(app.pool, letterId)
  const sent = mail?.raw ?? Buffer.of()
  expect(copy && (await unpack(copy)).equals(concealKeysIn(sent))).toBe(true)
  expect(concealKeysIn(sent).equals(sent)).toBe(false)
  expect(copy?.sealedKeys).toBeNull()
  expect(await stateOf(letterId)).toBe('sent')
})

test('a second run of its job sends nothing', async () => {
  const letterId = await owe('once@reporters.example')
  await runSendLetter([{ letterId }], { ...app, mailer })
  expect(await runSendLetter([{ letterId }], { ...app, mailer })).toEqual(['done'])
  expect(sink.messages.filter(({ to }) => to.includes('once@reporters.example'))).toHaveLength(1)
})

test('without a mail server it is held, and sent when released', async () => {
  const letterId = await owe('held@reporters.example')
  await runSendLetter([{ letterId }], { ...app, mailer: undefined })
  expect(await stateOf(letterId)).toBe('held')
  const released = { which: { letterId }, from: 'held', now: app.clock() } as const
  expect(await releaseLetters(app.pool, released, 10)).toMatchObject([{ id: letterId }])
  await runSendLetter([{ letterId }], { ...app, mailer })
  expect(await stateOf(letterId)).toBe('sent')
})

test('nothing is sent to a suppressed address, in any case', async () => {
  const kept = { reason: 'hard-bounce', status: '5.1.1', detail: 'It bounced.' } as const
  const since = app.clock()
  await suppress(app.pool, { address: 'Gone@reporters.example', ...kept, since, until: null })
  const letterId = await owe('gone@Reporters.example')
  await runSendLetter([{ letterId }], { ...app, mailer })
  expect(await stateOf(letterId)).toBe('suppressed')
  expect(sink.messages.filter(({ to }) => /^gone@/i.test(to[0] ?? ''))).toEqual([])
})

test.for([
  ['a passing refusal is tried again', { code: 451 }, 'queued'],
  ['a final one ends it', { code: 550, text: 'no such user' }, 'refused'],
] as const)('%s', async ([name, failure, state]) => {
  const letterId = await owe(`${name.length}@reporters.example`)
  sink.failNext('rcpt', failure)
  const [outcome] = await runSendLetter([{ letterId }], { ...app, mailer })
  expect(outcome).toEqual(state === 'queued' ? { retry: expect.stringContaining('451') } : 'done')
  expect(await stateOf(letterId)).toBe(state)
})

test('a letter that always stalls is deferred, and given up by its first attempt', async () => {
  const letterId = await owe('stalls@reporters.example')
  const stalling: Mailer = { ...mailer, send: () => new Promise(() => undefined) }
  const [fresh, old] = await runSendLetter(
    [{ letterId }, { letterId, postponedSince: new Date(0).toISOString() }],
    { ...app, mailer: stalling },
    undefined,
    100,
  )
  expect(fresh).toMatchObject({ payload: { letterId, postponedSince: expect.any(String) } })
  expect(old).toEqual({
    failed: 'The mail server of the recipient accepted nothing for five days.',
  })
})
