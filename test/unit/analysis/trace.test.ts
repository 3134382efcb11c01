import { expect, test } from 'vitest'
import { analyzeMessage } from '../../../src/analysis/analyze.ts'

const time = 'Tue, 3 Nov 2026 08:15:00 +0000'
const border = `from foo.example.com (foo.example.com [192.0.2.7]) by mx.example.net id 1; ${time}`
const google = `from g.google.com (g.google.com [209.85.128.5]) by mx.example.net id 1; ${time}`

const trace = async (...lines: string[]) => {
  const received = lines.map((line) => `Received: ${line}\n`).join('')
  const raw = Buffer.from(`${received}From: a@example.com\n\n`)
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
    [border, `from b (b [203.0.113.1]) by foo.example.com id 2; ${time}`],
    ['injection', 'claimed'],
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
    'two lines without identifiers that fit nowhere are forged',
    [
      border,
      `from b ([203.0.113.1]) by c.example.org with SMTP; ${time}`,
      `from d ([203.0.113.2]) by e.example.com with SMTP; ${time}`,
    ],
    ['injection', 'forged', 'forged'],
  ],
  [
    'one alone is not',
    [border, `from b ([203.0.113.1]) by c.example.org with SMTP; ${time}`],
    ['injection', 'claimed'],
  ],
  [
    'nor are two that fit one another',
    [
      border,
      `from b.example.com ([203.0.113.1]) by c.example.org with SMTP; ${time}`,
      `from d ([203.0.113.2]) by b.example.com with SMTP; ${time}`,
    ],
    ['injection', 'claimed', 'claimed'],
  ],
] as const)('%s', async ([, lines, expected]) => {
  expect((await trace(...lines)).map(({ trust }) => trust)).toEqual(expected)
})

test.for([
  [
    'a line written later than the one above',
    `from b (b [203.0.113.1]) by foo.example.com id 2; Tue, 3 Nov 2026 10:00:00 +0000`,
    'Its time is later than that of the line above it.',
  ],
  [
    'an address no machine has',
    `from b (b [250.1.1.1]) by foo.example.com id 2; ${time}`,
    'No machine can have the address 250.1.1.1.',
  ],
  [
    'a writer that was not named',
    `from b (b [203.0.113.1]) by c.example.org id 2; ${time}`,
    'Its writer is not the machine that the line above names.',
  ],
  [
    'a provider that was not there',
    `from b (b [203.0.113.1]) by AB1.mail.protection.outlook.com id 2; ${time}`,
    'It says Microsoft wrote it, but it did not come from there.',
  ],
] as const)('%s is noted', async ([, line, note]) => {
  expect((await trace(border, line))[1]?.notes.map(({ text }) => text)).toEqual([note])
})

test('an honest line has no note, a clock half an hour wrong included', async () => {
  const honest = `from b (b [203.0.113.1]) by foo.example.com id 2; Tue, 3 Nov 2026 08:45:00 +0000`
  expect((await trace(border, honest))[1]?.notes).toEqual([])
})
