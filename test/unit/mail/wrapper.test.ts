import fc from 'fast-check'
import { expect, test } from 'vitest'
import { networkSet } from '../../../src/mail/ip.ts'
import { wrapperOf } from '../../../src/mail/wrapper.ts'
import { readReported, structureLimits } from '../../../src/reports/message-refusal.ts'
import { der, opaqueSigned } from '../../support/containers/signed-data.ts'
import { expectEffort } from '../../support/effort.ts'
import { attached, file, type ForwardPart, forwardOf } from '../../support/forwards.ts'

const side = { reporter: 'ann@reporters.example' }
const border =
  'Received: from mail.bulk.example (mail.bulk.example [45.148.10.77])\r\n' +
  '\tby mx.reporters.example (Postfix) with ESMTPS id 4X1\r\n' +
  '\tfor <ann@reporters.example>; Sat, 28 Nov 2026 10:00:00 +0000 (UTC)'
const identity = [
  'From: "Shop" <x@bulk.example>',
  'To: ann@reporters.example',
  'Date: Sat, 28 Nov 2026 09:59:00 +0000',
  'Message-ID: <o1@bulk.example>',
]
const spam = Buffer.from(
  [border, ...identity, 'Subject: Buy now', '', 'Buy at http://bulk.example/', ''].join('\r\n'),
)
const local =
  'Received: from localhost by mx.reporters.example with SpamAssassin (version 3.4.6); Sat, 28 Nov 2026 10:00:01 +0000'
const foreign =
  'Received: from evil.example (evil.example [198.51.100.7]) by mx.reporters.example; Sat, 28 Nov 2026 10:01:00 +0000'

const text = (body: string, type = 'text/plain'): ForwardPart => ({
  header: [`Content-Type: ${type}; charset=utf-8`, 'Content-Disposition: inline'],
  body,
})
const original: ForwardPart = {
  header: ['Content-Type: message/rfc822; x-spam-type=original', 'Content-Disposition: inline'],
  body: spam,
}

function mail(header: readonly string[], parts: readonly ForwardPart[]): Buffer {
  const whole = forwardOf(parts).toString('latin1')
  const type = /Content-Type: multipart\/mixed; boundary="[^"]*"/.exec(whole)?.[0] ?? ''
  const body = whole.slice(whole.indexOf('\r\n\r\n'))
  return Buffer.from([...header, 'MIME-Version: 1.0', type].join('\r\n') + body, 'latin1')
}

const filtered = (before: readonly string[], parts = [text('Spam was found.'), original]) =>
  mail([...before, ...identity, 'Subject: *****SPAM***** Buy now'], parts)
const journaled = (before: readonly string[]) =>
  mail(
    [...before, 'X-MS-Journal-Report:', 'From: postmaster@reporters.example', 'Subject: Buy now'],
    [
      text('Sender: x@bulk.example\r\nMessage-Id: <o1@bulk.example>\r\nRecipient: a@b\r\n'),
      attached(spam),
    ],
  )
const userReport = (before: readonly string[]) =>
  mail(
    [
      ...before,
      'From: bob@elsewhere.example',
      'Subject: 3|a1b2|45.148.10.77|x@bulk.example|(Buy now)',
    ],
    [text('<p>Reported by a user.</p>', 'text/html'), attached(spam)],
  )
const colleague = (before: readonly string[]) =>
  mail(
    [...before, 'From: bob@reporters.example', 'To: ann@reporters.example', 'Subject: Phishing?'],
    [text('See attached.'), file('application/octet-stream', 'Ünknown name', spam)],
  )

test.for<[string, Buffer]>([
  ['SpamAssassin', filtered([local])],
  [
    'SpamAssassin, as text',
    filtered(
      [local],
      [text('Spam.'), { ...original, header: ['Content-Type: text/plain; x-spam-type=original'] }],
    ),
  ],
  [
    'SpamAssassin, delivered by LMTP',
    filtered([
      'Received: from mx.reporters.example ([10.0.0.7]) by store with LMTP id 1; Sat, 28 Nov 2026 10:00:02 +0000',
      local,
    ]),
  ],
  [
    'amavis, with the fields of the message',
    filtered(
      [
        'Received: from mx.reporters.example ([127.0.0.1]) by localhost (mx.reporters.example [127.0.0.1]) (amavis, port 10024) with ESMTP id x; Sat, 28 Nov 2026 10:00:01 +0000',
        border,
      ],
      [text('Banned.'), attached(spam)],
    ),
  ],
  [
    'MailScanner',
    mail(
      [
        border,
        ...identity,
        'X-Yours-MailScanner: Found to be infected',
        'Subject: {Spam?} Buy now',
      ],
      [text('The original is attached.'), attached(spam)],
    ),
  ],
  [
    'rspamd, in base64',
    filtered([local], [text('x'), file('message/rfc822', 'original.eml', spam)]),
  ],
  [
    'an Exchange journal',
    journaled([
      'Received: from EX01.corp.local (10.1.1.5) by EX02.corp.local (10.1.1.6) with Microsoft SMTP Server id 15.2; Sat, 28 Nov 2026 10:00:02 +0000',
    ]),
  ],
  [
    'a Microsoft user report',
    userReport([
      'Received: from pc ([192.168.1.4]) by mx.reporters.example; Sat, 28 Nov 2026 10:00:02 +0000',
    ]),
  ],
  [
    'a colleague',
    colleague([
      'Received: from pc ([192.168.1.4]) by mx.reporters.example; Sat, 28 Nov 2026 10:00:02 +0000',
    ]),
  ],
  ['the reporter', forwardOf([text('junk'), attached(spam)])],
  [
    'the reporter, with dmarc=pass',
    forwardOf([attached(spam)], {
      before: ['Authentication-Results: mx.reporters.example; dmarc=pass', foreign],
    }),
  ],
  [
    'the reporter, signed',
    forwardOf([
      file('application/pkcs7-mime', 'smime.p7m', opaqueSigned(forwardOf([attached(spam)]))),
    ]),
  ],
])('the message in a wrapper of %s is reported, if nothing outside touched it', ([, raw]) => {
  expect(wrapperOf(raw, side)).toEqual({ messages: [spam], isProven: true })
  const fit = readReported(raw, { ...structureLimits, bytesMax: 1_000_000 }, side)
  expect('message' in fit && fit.message.raw).toEqual(spam)
})

test.for<[string, Buffer]>([
  ['SpamAssassin', filtered([foreign, local])],
  ['SpamAssassin without any Received', filtered([])],
  [
    'SpamAssassin behind a local relay',
    filtered(['Received: from mx ([10.0.0.7]) by store; x', foreign, local]),
  ],
  ['amavis with a forged route', filtered([foreign, border], [text('Banned.'), attached(spam)])],
  ['a journal', journaled([foreign])],
  ['a journal without a route', journaled([])],
  ['a Microsoft user report', userReport([foreign])],
  ['a Microsoft user report without a route', userReport([])],
  ['a colleague', colleague([foreign])],
  ['the reporter', forwardOf([attached(spam)], { before: [foreign] })],
  [
    'qmail from the network',
    filtered(['Received: (qmail 12 invoked from network); 28 Nov 2026 10:00:00 -0000']),
  ],
  ['a route that cannot be read', filtered(['Received: ???', local])],
])('a look-alike of %s proves nothing, so the reporter is asked with both shown', ([, raw]) => {
  expect(wrapperOf(raw, side)).toEqual({ messages: [spam], isProven: false })
  const limits = { ...structureLimits, bytesMax: 1_000_000 }
  const rawOf = (by: object) => {
    const fit = readReported(raw, limits, { ...side, ...by })
    return 'message' in fit ? fit.message.raw : fit.refusal
  }
  expect(rawOf({})).toMatchObject({
    reason: 'choose-message',
    choices: [{ report: 'attached', subject: 'Buy now' }, { report: 'whole' }],
  })
  expect(rawOf({ choice: 'attached' })).toEqual(spam)
  expect(rawOf({ choice: 'whole' })).toEqual(raw)
  expect(rawOf({ isUnasked: true })).toEqual(raw)
})

test.for<[string, Buffer]>([
  [
    'with another message attached',
    mail([foreign, 'From: y@evil.example', 'Subject: Look'], [text('Hello'), attached(spam)]),
  ],
  [
    'with a picture too',
    filtered([local], [text('x'), original, file('image/png', 'a.png', spam)]),
  ],
  ['with two messages', filtered([local], [original, original])],
  ['with much text', filtered([local], [text('Buy now. '.repeat(20_000)), original])],
  [
    'that is a notice of delivery',
    mail(
      [foreign, 'From: MAILER-DAEMON@mx.example', 'Subject: Undelivered'],
      [text('x'), attached(spam)],
    ),
  ],
  ['without parts', spam],
  [
    'of the reporter that failed',
    forwardOf([attached(spam)], { before: ['Authentication-Results: mx; dmarc=fail', foreign] }),
  ],
])('a message %s is itself the report', ([, raw]) => {
  expect(wrapperOf(raw, side)).toBeUndefined()
})

test.for([
  'spf=pass smtp.mailfrom=dmarc=pass@evil.example; dmarc=none',
  'spf=pass smtp.mailfrom="x; dmarc=pass"@evil.example',
  'spf=none (helo dmarc=pass) smtp.helo=dmarc=pass',
  'spf=none smtp.helo=x;dmarc=pass; dmarc=none header.from=reporters.example',
])('what a client says of itself vouches for nothing: %s', (results) => {
  const before = [`Authentication-Results: mx.reporters.example; ${results}`, foreign]
  const raw = mail([...before, 'From: ann@reporters.example', 'Subject: x'], [attached(spam)])
  expect(wrapperOf(raw, side)?.isProven).toBe(false)
})

test('a mail with a second author is not by the reporter', () => {
  const before = ['Authentication-Results: mx.reporters.example; dmarc=pass', foreign]
  const authors = ['From: ann@reporters.example', 'From: x@evil.example']
  const raw = mail([...before, ...authors, 'Subject: x'], [attached(spam)])
  expect(wrapperOf(raw, side)?.isProven).not.toBe(true)
})

test('a message that was carried is within the limits, too', () => {
  const parts = '--b\r\nContent-Type: text/plain\r\n\r\nx\r\n'.repeat(1_100)
  const head = [border, ...identity, 'Subject: x', 'Content-Type: multipart/mixed; boundary=b']
  const inside = Buffer.from([...head, '', parts].join('\r\n')).toString('base64')
  const raw = mail(
    ['From: ann@reporters.example', 'Subject: Fwd'],
    [
      {
        header: ['Content-Type: message/rfc822', 'Content-Transfer-Encoding: base64'],
        body: inside,
      },
    ],
  )
  const by = { ...side, choice: 'attached' as const }
  const fit = readReported(raw, { ...structureLimits, bytesMax: 1_000_000 }, by)
  expect(fit).toMatchObject({ refusal: { reason: 'too-many-parts' } })
})

test('a message as received is read as it is, whatever is written in it', () => {
  const limits = { ...structureLimits, bytesMax: 1_000_000 }
  for (const line of ['X-A: &lt;a@b.example&gt;', 'X-A: =3D', 'X-A: a=', 'Received: x\r\nstray']) {
    const sent = ['From: a@b.example', 'To: b@c.example', line, 'Subject: x', 'Date: y', '', 'hi']
    const raw = Buffer.from(sent.join('\r\n'))
    const fit = readReported(raw, limits, 'as-received')
    expect('message' in fit && fit.message.raw.equals(raw)).toBe(true)
  }
})

test('a wrapper that came from a relay of the reporter is proven', () => {
  const relays = networkSet(['198.51.100.0/24'])
  expect(wrapperOf(filtered([foreign, local]), { ...side, relays })?.isProven).toBe(true)
})

test('wrappers in wrappers are opened, and a look-alike inside stays closed', () => {
  const limits = { ...structureLimits, bytesMax: 1_000_000 }
  const nested = forwardOf([attached(forwardOf([attached(filtered([local]))]))])
  const fit = readReported(nested, limits, side)
  expect('message' in fit && fit.message.raw).toEqual(spam)
  const lookAlike = filtered([foreign, local])
  const around = readReported(forwardOf([attached(lookAlike)]), limits, {
    ...side,
    choice: 'attached',
  })
  expect('message' in around && around.message.raw).toEqual(lookAlike)
})

test('several messages in a forward are refused as such', () => {
  const raw = forwardOf([attached(spam), attached(spam)])
  const fit = readReported(raw, { ...structureLimits, bytesMax: 1_000_000 }, side)
  expect(fit).toMatchObject({ refusal: { reason: 'several-messages' } })
})

test('hostile structures take linear time, and nothing throws', async () => {
  const bombs = [
    opaqueSigned(Buffer.alloc(1_000_000, 0x30)),
    Buffer.from('3080'.repeat(500_000), 'hex'),
    Buffer.from(`30846fffffff${'00'.repeat(100)}`, 'hex'),
    Array.from({ length: 6 }).reduce<Buffer>((inner) => opaqueSigned(inner), spam),
  ].map((content) => forwardOf([file('application/pkcs7-mime', 'smime.p7m', content)]))
  bombs.push(forwardOf(Array.from({ length: 3_000 }, () => attached(spam))))
  bombs.push(filtered(Array.from({ length: 20_000 }, () => local)))
  for (const bomb of bombs) await expectEffort(() => wrapperOf(bomb, side), 1_000)
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const raw = forwardOf([file('application/pkcs7-mime', 'a.p7m', Buffer.from(bytes))])
      expect(() => wrapperOf(raw, side)).not.toThrow()
    }),
  )
  expect(der(0x30, Buffer.alloc(0))).toHaveLength(2)
})
