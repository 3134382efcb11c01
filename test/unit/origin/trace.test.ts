import { expect, test } from 'vitest'
import { analyzeMessage } from '../../../src/pieces/analyze.ts'

const time = 'Tue, 3 Nov 2026 08:15:00 +0000'
const border = `from foo.example.com (foo.example.com [192.0.2.7]) by mx.example.net id 1; ${time}`
const google = `from g.google.com (g.google.com [209.85.128.5]) by mx.example.net id 1; ${time}`

const trace = async (...lines: string[]) => {
  const received = lines.map((line) => `Received: ${line}\n`).join('')
  const raw = Buffer.from(`${received}From: a@author.example\n\n`)
  const { hops } = await analyzeMessage(raw, { trustedRelays: [], ignoreStamps: true })
  return hops
}

test.for([
  [
    'the lines above the border are trusted',
    [`from a (a [127.0.0.1]) by mx.example.net; ${time}`, border],
    ['trusted', 'injection'],
  ],
  [
    'what the stranger says is a claim',
    [border, `from b (b [10.0.0.1]) by foo.example.com id 2; ${time}`],
    ['injection', 'claimed'],
  ],
  [
    'a stranger that received the message from outside is not named',
    [border, `from b (b [203.0.113.1]) by foo.example.com id 2; ${time}`],
    ['trusted', 'claimed'],
  ],
  [
    'what a known sender says of itself is believed',
    [google, `by g.google.com with SMTP id 2; ${time}`],
    ['injection', 'believed'],
  ],
  [
    'what stands below a known sender is a claim again',
    [
      google,
      `from x (x [192.0.2.1]) by g.google.com id 2; ${time}`,
      `from y (y [192.0.2.2]) by g.google.com id 3; ${time}`,
    ],
    ['injection', 'believed', 'claimed'],
  ],
  [
    'a date where an address belongs is forged',
    [border, `from b ([Tue, 3 Nov 2026 08:14:00 +0000]) by c.example.org with SMTP; ${time}`],
    ['injection', 'forged'],
  ],
  [
    'a date there in the line of the peer itself is not',
    [border, `from b ([Tue, 3 Nov 2026 08:14:00 +0000]) by foo.example.com with SMTP; ${time}`],
    ['injection', 'claimed'],
  ],
  [
    'a line without identifier from a writer that has nothing to do with the message is forged',
    [border, `from b ([203.0.113.1]) by c.example.org with SMTP; ${time}`],
    ['injection', 'forged'],
  ],
  [
    'and so is everything below it',
    [
      border,
      `from b ([203.0.113.1]) by c.example.org with ESMTP; ${time}`,
      `from d (d [203.0.113.2]) by e.example.net with ESMTP id 3; ${time}`,
    ],
    ['injection', 'forged', 'forged'],
  ],
  [
    'with an identifier it is a claim',
    [border, `from b ([203.0.113.1]) by c.example.org with SMTP id 2; ${time}`],
    ['injection', 'claimed'],
  ],
  [
    'so it is where the line below continues it with an identifier',
    [
      border,
      `from b.example.org ([203.0.113.1]) by c.example.org with SMTP; ${time}`,
      `from d ([203.0.113.2]) by b.example.org with SMTP id 3; ${time}`,
    ],
    ['injection', 'claimed', 'claimed'],
  ],
  [
    "so it is where the writer is of the author's domain",
    [border, `from b ([203.0.113.1]) by relay.author.example with SMTP; ${time}`],
    ['injection', 'claimed'],
  ],
  [
    'qmail numbers nothing, and writes no day of the week',
    [border, `from b (203.0.113.1) by c.example.org with SMTP; 3 Nov 2026 08:15:00 -0000`],
    ['injection', 'claimed'],
  ],
  [
    'what was handed in by HTTP has no number',
    [border, `from b (203.0.113.1) by c.example.org with HTTPS; ${time}`],
    ['injection', 'claimed'],
  ],
  [
    "a provider's own protocol at another's machine is forged",
    [border, `from b (b [203.0.113.1]) by c.example.org with NNFMP id 2; ${time}`],
    ['injection', 'forged'],
  ],
  [
    'at a machine of that provider it is none',
    [
      `from y (y.bullet.mail.yahoo.com [98.137.64.7]) by mx.example.net id 1; ${time}`,
      `from b (b [203.0.113.1]) by y.bullet.mail.yahoo.com with NNFMP id 2; ${time}`,
    ],
    ['injection', 'believed'],
  ],
] as const)('%s', async ([, lines, expected]) => {
  expect((await trace(...lines)).map(({ trust }) => trust)).toEqual(expected)
})

test.for([
  [
    'a line written later than the one above',
    `from b (b [203.0.113.1]) by foo.example.com id 2; Tue, 3 Nov 2026 10:00:00 +0000`,
    ['time-runs-backwards'],
  ],
  [
    'an address no machine has',
    `from b (b [250.1.1.1]) by foo.example.com id 2; ${time}`,
    ['reserved-address'],
  ],
  [
    'a HELO that poses as another address',
    `from [198.41.0.4] (b [203.0.113.1]) by foo.example.com id 2; ${time}`,
    ['posing-literal'],
  ],
  [
    'a writer that was not named',
    `from b (b [203.0.113.1]) by c.example.org id 2; ${time}`,
    ['broken-chain'],
  ],
  [
    'a provider that was not there',
    `from b (b [203.0.113.1]) by AB1.mail.protection.outlook.com id 2; ${time}`,
    ['borrowed-name'],
  ],
  ['a line that cannot be read', 'nonsense', ['unreadable']],
  [
    'an invention',
    `from b ([203.0.113.1]) by c.example.org with SMTP; ${time}`,
    ['broken-chain', 'no-identifier'],
  ],
] as const)('%s has a note', async ([, line, names]) => {
  const notes = (await trace(border, line))[1]?.notes ?? []
  expect(notes.map(({ code }) => code)).toEqual(names)
})

test('an honest line has no note, not even with a clock half an hour wrong', async () => {
  const honest = `from b (b [203.0.113.1]) by foo.example.com id 2; Tue, 3 Nov 2026 08:45:00 +0000`
  expect((await trace(border, honest))[1]?.notes).toEqual([])
})

test('every trusted line has a reason', async () => {
  const hops = await trace(
    `from a (a [127.0.0.1]) by mx.example.net; ${time}`,
    google,
    `by g.google.com with SMTP id 2; ${time}`,
    `from b (b [203.0.113.1]) by c.example.org id 2; ${time}`,
  )
  expect(hops.map(({ because }) => because)).toEqual([
    { code: 'address-loopback', params: { ip: '127.0.0.1' } },
    null,
    { code: 'provider-about-itself', params: { provider: 'Google' } },
    null,
  ])
})
