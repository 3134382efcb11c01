import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { parseReceive, receiveOne } from '../../../src/processes/receive/recipients.ts'
import { createPool } from '../../../src/db/pool.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp, type TestApp } from '../../support/app.ts'
import { freshMail, keptFor, returnPath } from './listener.ts'

const app = await closeAfterTests(openTestApp())

function piped(rcptTo: string, raw: string, given: TestApp = app): Promise<number> {
  return receiveOne(Readable.from([Buffer.from(raw)]), { mailFrom: '', rcptTo }, given)
}

test('a mail from a pipe is stored, without a client address', async () => {
  const rcpt = returnPath(app)
  const raw = freshMail()
  expect(await piped(rcpt, raw)).toBe(0)
  expect(await piped(rcpt, raw)).toBe(0)
  expect(await keptFor(app, rcpt)).toMatchObject([{ peer: null, purpose: 'feedback-bounce' }])
})

test('exit codes tell a mail server the result', async () => {
  expect(await piped('someone@elsewhere.example', freshMail())).toBe(67)
  expect(await piped(returnPath(app), 'x'.repeat(10_000_001))).toBe(65)
  const onLost = () => undefined
  const url = 'postgres://nobody@127.0.0.1:1/none'
  const away = createPool(url, { connectionsMax: 1, name: 'away', onLost })
  expect(await piped(returnPath(app), freshMail(), { ...app, pool: away })).toBe(75)
  const secret = `report-${'a'.repeat(26)}@bounces.test.example`
  expect(await piped(secret, freshMail(), { ...app, pool: away })).toBe(75)
  await away.end()
})

test('the return path may be empty, with or without brackets', () => {
  const to = ['--stdin', '--to', 'fb@bounces.example']
  expect(parseReceive([...to, '--from', '<>'])).toMatchObject({ mailFrom: '' })
  expect(parseReceive(to)).toMatchObject({ mailFrom: '' })
  expect(parseReceive([])).toBeUndefined()
  expect(() => parseReceive(['--stdin'])).toThrow('Name the recipient with --to')
})
