import { randomBytes } from 'node:crypto'
import { zstdCompressSync } from 'node:zlib'
import { afterEach, expect, test, vi } from 'vitest'
import { envelopeOf, messageIn } from '../../../../src/web/check/protocol.ts'

const message = Buffer.from('Subject: hello\r\n\r\nYou know.\r\n')
const MAX = 1_000

afterEach(() => {
  vi.restoreAllMocks()
})

test('the envelope is parsed from the fields as Exim and rspamc write them', () => {
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
] as const)('the address %s is parsed as %s', ([text, ip]) => {
  expect(envelopeOf({ ip: [text] }).ip).toBe(ip)
})

test('unreadable fields are absent, and the null return path is empty', () => {
  const none = { helo: undefined, hostname: undefined, user: undefined, queueId: undefined }
  const unknown = { ...none, ip: undefined, returnPath: undefined, recipients: [] }
  expect(envelopeOf({})).toEqual(unknown)
  expect(envelopeOf({ ip: ['1.2.3.4.5; drop'], rcpt: ['', '<>'] })).toEqual(unknown)
  expect(envelopeOf({ from: ['<>'] }).returnPath).toBe('')
  // This field names the recipient, not the signed-in user.
  expect(envelopeOf({ 'deliver-to': ['you@home.example'] }).user).toBeUndefined()
  expect(envelopeOf({ helo: [`\u0007x${'y'.repeat(5_000)}`] }).helo).toHaveLength(1_000)
})

test('the message is the body, unpacked, or the part of it after the JSON', async () => {
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

test('a body that unpacks beyond the limit is too large, however small it was', async () => {
  const bomb = zstdCompressSync(Buffer.alloc(50_000_000))
  expect(bomb.length).toBeLessThan(10_000)
  expect(await messageIn(bomb, { compression: ['zstd'] }, MAX)).toBe('too-big')
})

test('a large message is unpacked whole, and no turn copies more than 1 MB of it', async () => {
  const large = Buffer.alloc(24_000_000, 'all work and no play ')
  const packed = zstdCompressSync(large)
  const copied = watchCopies()
  const given = await messageIn(packed, { compression: ['zstd'] }, 25_000_000)
  copied.stop()
  expect(copied.mostInOneTurn()).toBeLessThanOrEqual(1_000_000)
  expect(copied.mostInOneTurn()).toBeGreaterThan(0)
  expect(Buffer.isBuffer(given) && given.equals(large)).toBe(true)
})

test('a large truncated message is refused with a reason', async () => {
  const packed = zstdCompressSync(randomBytes(3_000_000))
  const cut = packed.subarray(0, packed.length - 1_000)
  expect(await messageIn(cut, { compression: ['zstd'] }, 25_000_000)).toHaveProperty('fault')
})

/** Counts the bytes copied in each turn of the event loop, until it is stopped. */
function watchCopies() {
  let [most, inThisTurn] = [0, 0]
  const count = (bytes: number) => {
    inThisTurn += bytes
    most = Math.max(most, inThisTurn)
  }
  let turn = setImmediate(function next() {
    inThisTurn = 0
    turn = setImmediate(next)
  })
  const concat = Buffer.concat.bind(Buffer)
  vi.spyOn(Buffer, 'concat').mockImplementation((list, length) => {
    const whole = concat(list, length)
    count(whole.length)
    return whole
  })
  const copy = Buffer.prototype.copy
  vi.spyOn(Buffer.prototype, 'copy').mockImplementation(function (this: Buffer, ...to) {
    const bytes = copy.apply(this, to)
    count(bytes)
    return bytes
  })
  return { mostInOneTurn: () => most, stop: () => clearImmediate(turn) }
}
