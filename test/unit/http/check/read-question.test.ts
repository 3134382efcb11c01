import { zstdCompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { envelopeOf, messageIn } from '../../../../src/http/check/read-question.ts'

const message = Buffer.from('Subject: hello\r\n\r\nYou know.\r\n')
const MAX = 1_000

test('the envelope is read from the fields, as Exim and as rspamc write them', () => {
  const fields = {
    ip: ['2001:DB8::0:9'],
    helo: ['mx.shop.example'],
    hostname: ['unknown'],
    from: ['<offers@shop.example>'],
    rcpt: ['<you@home.example>', 'me@home.example'],
    user: ['joe'],
    'queue-id': ['1vM8xQ-000001-2f'],
  }
  expect(envelopeOf(fields)).toEqual({
    ip: '2001:db8::9',
    helo: 'mx.shop.example',
    hostname: undefined,
    returnPath: 'offers@shop.example',
    recipients: ['you@home.example', 'me@home.example'],
    user: 'joe',
    queueId: '1vM8xQ-000001-2f',
  })
})

test.for([
  ['127.0.0.1:43092', '127.0.0.1'],
  ['203.0.113.9:25', '203.0.113.9'],
  ['[2001:DB8::9]:43092', '2001:db8::9'],
  ['[2001:db8::9]', '2001:db8::9'],
  ['2001:db8::9', '2001:db8::9'],
  ['[::ffff:203.0.113.9]:1', '203.0.113.9'],
  ['203.0.113.9:', undefined],
  ['203.0.113.9:smtp', undefined],
  ['/run/postfix.sock', undefined],
] as const)('the address %s is read as %s', ([text, ip]) => {
  expect(envelopeOf({ ip: [text] }).ip).toBe(ip)
})

test('what cannot be read is absent, and the null return path is none', () => {
  const none = { helo: undefined, hostname: undefined, user: undefined, queueId: undefined }
  const unknown = { ...none, ip: undefined, returnPath: undefined, recipients: [] }
  expect(envelopeOf({})).toEqual(unknown)
  expect(envelopeOf({ ip: ['1.2.3.4.5; drop'], rcpt: ['', '<>'] })).toEqual(unknown)
  expect(envelopeOf({ from: ['<>'] }).returnPath).toBe('')
  // To whom it goes, not who logged in.
  expect(envelopeOf({ 'deliver-to': ['you@home.example'] }).user).toBeUndefined()
  expect(envelopeOf({ helo: [`\u0007x${'y'.repeat(5_000)}`] }).helo).toHaveLength(1_000)
})

test('the message is the body, unpacked, or its end behind what tells of it', async () => {
  expect(await messageIn(message, {}, MAX)).toEqual(message)
  const packed = zstdCompressSync(message)
  expect(await messageIn(packed, { compression: ['zstd'] }, MAX)).toEqual(message)
  const told = Buffer.concat([Buffer.from('{"ip":"192.0.2.7"}'), message])
  expect(await messageIn(told, { 'message-length': [String(message.length)] }, MAX)).toEqual(
    message,
  )
})

test.for([
  ['what is not packed', message, { compression: ['zstd'] }],
  ['packed otherwise', message, { compression: ['lzma'] }],
  ['a length beyond the end', message, { 'message-length': ['99999'] }],
  ['a length that is none', message, { 'message-length': ['-1'] }],
  ['a file of ours', Buffer.alloc(0), { file: ['/etc/passwd'] }],
] as const)('%s is refused with a reason', async ([, body, fields]) => {
  expect(await messageIn(body, fields, MAX)).toHaveProperty('fault')
})

test('what unpacks to more than is taken is too big, however small it came', async () => {
  const bomb = zstdCompressSync(Buffer.alloc(50_000_000))
  expect(bomb.length).toBeLessThan(10_000)
  expect(await messageIn(bomb, { compression: ['zstd'] }, MAX)).toBe('too-big')
})
