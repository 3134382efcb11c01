import fc from 'fast-check'
import { expect, test } from 'vitest'
import { forwardedMessages } from '../../../src/mail/forwarded-messages.ts'
import { encodeTransfer } from '../../../src/mail/transfer-encoding.ts'
import { authenticated } from '../../support/authenticated.ts'
import { attached, file, type ForwardPart, forwardOf, greeting } from '../../support/forwards.ts'
import { spamMessage } from '../../support/messages.ts'
import { rsaKey, signed } from '../../support/signing.ts'
import { expectEffort } from '../../support/effort.ts'

const limits = { reporter: 'ann@reporters.example', messagesMax: 50 }
const one = spamMessage('one')
const two = spamMessage('two')

function taken(raw: Buffer): string[] {
  return forwardedMessages(raw, limits).messages.map((message) => message.toString('latin1'))
}

function bytes(...messages: Buffer[]): string[] {
  return messages.map((message) => message.toString('latin1'))
}

function inLf(message: Buffer): Buffer {
  return Buffer.from(message.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')
}

test.for<[string, ForwardPart[], Buffer[]]>([
  ['an attached message', [greeting, attached(one)], [one]],
  [
    'several attached messages, in their order',
    [greeting, attached(one), attached(two)],
    [one, two],
  ],
  ['a file under a general type', [file('application/octet-stream', 'Offer.EML', one)], [one]],
  ['a message that is encoded against the rules', [file('message/rfc822', 'a.eml', one)], [one]],
  ['a file that calls itself text', [file('text/plain', 'junk.eml', one)], [one]],
  [
    'a message in quoted-printable',
    [
      {
        header: ['Content-Type: message/rfc822', 'Content-Transfer-Encoding: quoted-printable'],
        body: encodeTransfer(one.toString('latin1'), 'quoted-printable'),
      },
    ],
    [one],
  ],
  [
    'a file whose name is encoded',
    [
      {
        header: [
          'Content-Type: application/octet-stream; name="=?utf-8?B?anVuay5lbWw=?="',
          'Content-Transfer-Encoding: 8bit',
        ],
        body: one,
      },
    ],
    [one],
  ],
  [
    'a message in a digest',
    [
      {
        header: ['Content-Type: multipart/digest; boundary=d'],
        body: Buffer.concat([
          Buffer.from('--d\r\n\r\n'),
          one,
          Buffer.from('\r\n--d\r\n\r\n'),
          two,
          Buffer.from('\r\n--d--'),
        ]),
      },
    ],
    [one, two],
  ],
  [
    'a message after a blank line too many',
    [attached(Buffer.concat([Buffer.from('\r\n'), one]))],
    [one],
  ],
])('%s is accepted byte for byte', ([, parts, messages]) => {
  expect(taken(forwardOf(parts))).toEqual(bytes(...messages))
})

test('line ends stay as received', () => {
  expect(taken(forwardOf([greeting, attached(inLf(one))], { eol: '\n' }))).toEqual(bytes(inLf(one)))
  expect(taken(forwardOf([attached(inLf(one))]))).toEqual(bytes(inLf(one)))
  const lone = Buffer.from(inLf(one).toString('latin1').replaceAll('\n', '\r'), 'latin1')
  const raw = forwardOf([attached(lone)])
    .toString('latin1')
    .replaceAll('\r\n', '\r')
  expect(taken(Buffer.from(raw, 'latin1'))).toEqual(bytes(lone))
})

test('a truncated mail still has its truncated message', () => {
  const raw = forwardOf([greeting, attached(one)])
  const cut = raw.subarray(0, raw.indexOf(one) + one.length - 20)
  expect(taken(cut)).toEqual(bytes(one.subarray(0, one.length - 20)))
})

test.for<[string, ForwardPart[]]>([
  ['an inline forward', [{ header: ['Content-Type: text/plain'], body: one }]],
  ['text about a message', [greeting]],
  ['its header alone', [{ header: ['Content-Type: text/rfc822-headers'], body: one }]],
  ['a picture', [file('image/png', 'shot.png', Buffer.from('no picture'))]],
])('%s is not an attached message', ([, parts]) => {
  expect(forwardedMessages(forwardOf(parts), limits)).toEqual({
    messages: [],
    beyond: 0,
    unreadable: 0,
  })
})

test.for([
  ['application/zip', 'junk.zip'],
  ['application/octet-stream', 'junk.ZIP'],
  ['application/vnd.ms-outlook', 'junk.msg'],
  ['application/ms-tnef', 'winmail.dat'],
])('%s named %s is not opened, but reported', ([type = '', name = '']) => {
  const found = forwardedMessages(forwardOf([file(type, name, one), attached(two)]), limits)
  expect(found.unreadable).toBe(1)
  expect(found.messages).toHaveLength(1)
})

test('attachments of the spam itself stay inside it', () => {
  const spam = forwardOf([greeting, attached(one), attached(two)], { from: 'x@spam.example' })
  expect(taken(forwardOf([attached(spam)]))).toEqual(bytes(spam))
})

test('a forward by the reporter inside a forward is unwrapped', () => {
  const inner = forwardOf([greeting, attached(one), attached(two)])
  expect(taken(forwardOf([attached(inner)]))).toEqual(bytes(one, two))
  const twice = forwardOf([greeting, attached(inner)], { from: 'Ann@Reporters.Example' })
  expect(taken(forwardOf([file('application/octet-stream', 'a.eml', twice)]))).toEqual(
    bytes(one, two),
  )
})

const passed = 'Authentication-Results: mx.reporters.example; dmarc=pass'
const travelled = 'Received: from a.example (a.example [192.0.2.1]) by mx.reporters.example; x'

test('a forward authenticated by the last machine is unwrapped too', () => {
  const inner = forwardOf([attached(one)], { before: [passed, travelled] })
  expect(taken(forwardOf([attached(inner)]))).toEqual(bytes(one))
})

test.for<[string, readonly string[]]>([
  ['that travelled, and for which nobody vouches', [travelled]],
  ['that vouches for itself', [travelled, passed]],
  ['that was delivered', ['Return-Path: <x@spam.example>']],
])('a forward in the name of the reporter %s is not used against anyone', ([, before]) => {
  const inner = forwardOf([attached(one)], { before })
  const found = forwardedMessages(forwardOf([attached(inner), attached(two)]), limits)
  expect(found.messages).toEqual([two])
  expect(found.unreadable).toBe(1)
})

test.for<[string, Buffer]>([
  ['that has another attachment', forwardOf([attached(one), file('image/png', 'a.png', two)])],
  [
    'with much text',
    forwardOf([
      { header: ['Content-Type: text/plain'], body: 'Buy now. '.repeat(300) },
      attached(one),
    ]),
  ],
  [
    'whose author was found forged',
    forwardOf([attached(one)], {
      header: ['Authentication-Results: mx.reporters.example; spf=fail; dmarc=fail'],
    }),
  ],
  [
    'with a second author',
    forwardOf([attached(one)], { from: 'ann@reporters.example>, <b@c.example' }),
  ],
  ['without any attached message', forwardOf([greeting])],
])('a message in the name of the reporter %s is itself the report', ([, inner]) => {
  expect(taken(forwardOf([attached(inner)]))).toEqual(bytes(inner))
})

test('a signature stays valid after forwarding', async () => {
  const key = rsaKey()
  const zone = { 'TXT s1._domainkey.shop.example': [key.record] }
  for (const canonicalization of ['simple/simple', 'relaxed/relaxed']) {
    const message = await signed(spamMessage('signed'), {
      domain: 'shop.example',
      key,
      canonicalization,
    })
    const ways = [attached(message), file('message/rfc822', 'a.eml', message)]
    // Some programs omit the last line end of an attachment.
    ways.push(attached(message.subarray(0, message.length - 2)))
    for (const way of ways) {
      const [found = Buffer.alloc(0)] = forwardedMessages(forwardOf([way]), limits).messages
      expect((await authenticated(found, zone)).dkim).toMatchObject([{ result: 'pass' }])
    }
  }
})

test('of ten thousand attached messages fifty are accepted, in little time', async () => {
  const raw = forwardOf(Array.from({ length: 10_000 }, () => attached(one)))
  const found = await expectEffort(() => forwardedMessages(raw, limits), 2_000)
  expect(found.messages).toHaveLength(50)
  expect(found.beyond).toBeGreaterThan(1_000)
})

test('deeply nested parts take linear time', async () => {
  const deep = Array.from(
    { length: 3_000 },
    (_, level) => `Content-Type: multipart/mixed; boundary=b${level}\r\n\r\n--b${level}\r\n`,
  ).join('')
  const dashes = `Content-Type: multipart/mixed; boundary="-"\r\n\r\n${'---\r\n'.repeat(400_000)}`
  const line = `Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b'.repeat(3_000_000)}`
  const wrappers = Array.from({ length: 40 }).reduce<Buffer>(
    (inner) => forwardOf([attached(inner)]),
    forwardOf([attached(one)]),
  )
  for (const bomb of [deep, dashes, line]) {
    const raw = Buffer.from(bomb)
    expect(await expectEffort(() => taken(raw), 1_000)).toEqual([])
  }
  // At most five nested forwards are unwrapped; the message inside the sixth is not extracted.
  expect(await expectEffort(() => taken(wrappers), 1_000)).toHaveLength(1)
})

test('no input throws', () => {
  const pieces = fc.constantFrom(
    ...['--b', '--b--', '\r\n', '\n', '\r', 'Content-Type: message/rfc822', ''],
    ...['Content-Type: multipart/mixed; boundary="b"', 'From: ann@reporters.example'],
    ...['Content-Transfer-Encoding: base64', 'Content-Disposition: attachment; filename=a.eml'],
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(pieces, fc.string()), { maxLength: 60 }), (parts) => {
      const raw = Buffer.from(parts.join('\r\n'))
      expect(forwardedMessages(raw, limits).messages.length).toBeLessThanOrEqual(50)
    }),
    { numRuns: 300 },
  )
})
