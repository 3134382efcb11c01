import fc from 'fast-check'
import { analyzePlainly } from '../../src/pieces/analyze.ts'
import { composeFeedback } from '../../src/parsing/compose-report.ts'
import { contentOf } from './feedback-reports.ts'
import { spamMessage } from './messages.ts'
import { nastyMail, withinTime } from './nasty-mail.ts'

const address = 'zoe.quarry4711@reporters.example'

/** Pieces of hostile messages: separators, encodings, and the data for which redaction searches. */
const pieces = [
  ...[
    '-',
    '/',
    '+',
    '_',
    '=',
    '%',
    '@',
    '&',
    '<',
    '>',
    '\0',
    '\r',
    '\n',
    '\r\n',
    '\r\n ',
    '"',
    "'",
  ],
  ...[
    'A',
    '0f',
    'QUFB',
    'VFZG',
    '=3D',
    '=\r\n',
    '%40',
    '%2540',
    '&#64;',
    '&#x40;',
    '&amp;',
    '&nbsp;',
  ],
  ...['\\u0040', '\\x40', '+AEA-', '<a ', '<a href="', '<br>', '<!--', '-->', '<b></b>', '</td>'],
  ...[address, 'zoe.quarry4711', 'reporters.example', '@reporters.example', 'Zoe', 'Quarry', ' '],
  ...['dear ', 'zoe.quarry4711=reporters.example', 'reporters.example=zoe.quarry4711', ' at '],
  ...[
    'http://',
    'https://x.example/',
    '?u=',
    '&a=',
    '12345&',
    'mailto:',
    '//',
    '%2F',
    'Ab3xY9kLmNpQ',
  ],
  ...[
    '=?utf-8?B?',
    '=?utf-8?Q?=40',
    '?=',
    '\xe2\x80\xaf',
    '\xc2\xa0',
    '\xe2\x80\x8b',
    '\xc2\xad',
    '\xff',
  ],
  ...['--b', '\r\n--b\r\n', '\r\n--b--\r\n', 'a:b\r\n', '*1="', '; a*0=b', ' for zoe;', '\r\n\r\n'],
  ...['Content-Type: multipart/mixed; boundary=b\r\n\r\n', 'Content-Type: message/rfc822\r\n'],
  ...['Content-Type: text/html\r\n', 'Content-Transfer-Encoding: base64\r\n', 'To: '],
  ...['Content-Transfer-Encoding: quoted-printable\r\n', 'Subject: ', 'X-A: ', 'Received: '],
  ...[`${'A'.repeat(76)}\r\n`, Buffer.from(address).toString('base64'), 'redacted-'],
  ...[
    Buffer.from(address).toString('hex'),
    'b70fd3a9ec1b1f30b5a1ab0d4b0e3b90',
    `"Zoe Quarry" <${address}>, `,
  ],
] as const

const head = [
  `Delivered-To: ${address}`,
  'Received: from x.test ([198.51.100.23]) by mx.reporters.example; Tue, 3 Nov 2026 08:15:00 +0000',
  `To: "Zoe Quarry" <${address}>`,
  '',
].join('\r\n')

const pumped = fc
  .array(
    fc.tuple(
      fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 4 }),
      fc.oneof(fc.constant(1), fc.nat(20), fc.nat(3_000), fc.nat(30_000)),
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((runs) => runs.map(([text, times]) => text.join('').repeat(times).slice(0, 60_000)).join(''))
  .map((text) => Buffer.from(head + text, 'latin1'))

/** Generates damaged messages, and messages that are hard to redact and compose. */
export function nastyToCompose(bases: readonly Buffer[]): fc.Arbitrary<Buffer> {
  return fc.oneof(pumped, nastyMail(bases))
}

const raw = spamMessage('composing')
const analysis = await analyzePlainly(raw, { trustedRelays: [], ignoreStamps: false })

/**
 * Checks the guarantees of composing for one input: it does not throw, the result is 7-bit, and it
 * takes at most 50 ms per 100 KB.
 */
export async function surviveComposing(message: Buffer): Promise<void> {
  const content = contentOf(1, { keepsTokens: message.length % 2 === 0 })
  const { raw: composed } = await withinTime(message, () =>
    composeFeedback(message, analysis, content),
  )
  if (composed.some((byte) => byte > 0x7f)) throw new Error('What was composed is not 7 bits.')
}
