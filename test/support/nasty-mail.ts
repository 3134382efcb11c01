import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { looksLikeMessage, parseHeader } from '../../src/mail/header.ts'
import { fieldsOf, normalizedForHash } from '../../src/mail/message.ts'
import { exceedsLimits } from '../../src/mail/mime-leaves.ts'
import { analyzeMessage } from '../../src/pieces/analyze.ts'
import { corpusFiles } from './corpus.ts'

const samples = join(import.meta.dirname, '../../scripts/samples')
const inputBytesMax = 400_000

/** The time limit of the analysis in milliseconds: per 100 KB, and for smaller messages. */
const msAllowed = 50
const triesMax = 5

/** Returns the sample messages, and the messages of the corpus if present. */
export function baseMessages(): Buffer[] {
  const own = readdirSync(samples).map((name) => readFileSync(join(samples, name)))
  const folders = ['phishing', 'newsletters', 'spam', 'ham', 'bounces', 'robustness']
  const real = corpusFiles(...folders) ?? []
  return [...own, ...real.map(({ raw }) => raw)].filter(({ length }) => length < 100_000)
}

/**
 * Generates hostile messages: damaged ones, and headers made of everything that is hard to parse.
 */
export function nastyMail(bases: readonly Buffer[]): fc.Arbitrary<Buffer> {
  const message = fc.constantFrom(...bases)
  const damaged = fc
    .tuple(message, message, fc.array(change, { minLength: 1, maxLength: 8 }))
    .map(([base, other, changes]) => changes.reduce((raw, one) => changed(raw, other, one), base))
  const onBody = fc.tuple(header, message).map(([text, base]) => Buffer.concat([text, base]))
  return fc.oneof(damaged, header, onBody).map((raw) => raw.subarray(0, inputBytesMax))
}

const partLimits = { headersMax: 500, partsMax: 200, nestingMax: 20 }

/**
 * Checks the guarantees for one input: no reader of messages throws; the result of the analysis
 * survives JSON and structured cloning, and PostgreSQL can store it; and the analysis takes at most
 * 50 ms per 100 KB.
 */
export async function surviveAnalysis(raw: Buffer): Promise<void> {
  looksLikeMessage(parseHeader(raw))
  normalizedForHash(raw)
  exceedsLimits(raw, partLimits)
  fieldsOf(parseHeader(raw).fields)
  const options = { trustedRelays: ['192.0.2.0/24'], ignoreStamps: raw.length % 2 === 0 }
  const analysis = await withinTime(raw, () => analyzeMessage(raw, options))
  const json = JSON.stringify(analysis)
  if (JSON.stringify(structuredClone(analysis)) !== json) throw new Error('The result changed.')
  if (/\\u0000|\\ud[89a-f]/i.test(json)) throw new Error('PostgreSQL cannot store the result.')
}

/**
 * Runs work that may take at most 50 ms of processor time per 100 KB of input. If it takes longer,
 * repeats it up to four times, because the machine may be busy, and throws if all attempts are too
 * slow.
 */
export async function withinTime<T>(raw: Buffer, work: () => T | Promise<T>): Promise<T> {
  const limit = msAllowed * Math.max(1, raw.length / 100_000)
  let best = Infinity
  for (let tried = 0; tried < triesMax; tried++) {
    const before = process.threadCpuUsage()
    const made = await work()
    const { user, system } = process.threadCpuUsage(before)
    best = Math.min(best, (user + system) / 1000)
    if (best <= limit) return made
  }
  throw new Error(`${raw.length} bytes took ${best.toFixed(0)} ms.`)
}

type Change = { how: (typeof hows)[number]; at: number; length: number; piece: string }

const hows = ['flip', 'delete', 'insert', 'repeat', 'splice', 'flood'] as const

const pieces = [
  ...['from ', ' by ', ' with ESMTP ', ' id ', ' for ', ' via ', '; ', ';', '(', ')', '((', '))'],
  ...['[', ']', '<', '>', '"', '\\', '@', ':', '?', '=', '%', '\0', '\r', '\n', '\r\n', '\n\n'],
  ...['\r\n ', '\n\t', ' ', '\t', '\xa0', '\xff', 'helo=', 'HELO ', '(EHLO x)', 'ident=', 'port=1'],
  ...['[192.0.2.7]', '192.0.2.7', '([198.51.100.9]:25)', 'IPv6:2001:db8::1', '?IPv6:::1?', '::'],
  ...['fe80::1%4', '999.1.1.1', '1.2.3', 'x.example.com', 'mx.google.com', 'a.b.c.d.e', '-', '.'],
  ...['AB1.mail.protection.outlook.com', 'unknown', 'localhost', '(may be forged)', '(Postfix)'],
  ...[
    'Microsoft SMTP Server',
    'LMTP',
    '(qmail 1 invoked from network)',
    '(Exim 4.98)',
    'fetchmail',
  ],
  ...[
    'Tue, 3 Nov 2026 08:15:00 +0000',
    '3 Nov 26 8:15',
    '2026-11-03T08:15:00Z',
    '+9999',
    '99:99:99',
  ],
  ...['=?utf-8?B?', '=?utf-8?Q?=', '?=', '--', '--x', 'multipart/mixed; boundary=x', 'text/html'],
  ...['message/rfc822', 'base64', 'quoted-printable', '=3D=', 'http://x.example/', 'https://[::1'],
  ...['<a href="', '<!--', '<style>', '&#x', '&amp;', 'mailto:a@example.com?', '<https://x>, <'],
  ...['(authenticated sender: ', 'AUTH: LOGIN x', '(envelope-from <', '(proxying for 10.0.0.1)'],
] as const

const names = [
  ...[
    'Received',
    'From',
    'To',
    'Subject',
    'Date',
    'Return-Path',
    'List-Unsubscribe',
    'Content-Type',
  ],
  ...['Content-Transfer-Encoding', 'Authentication-Results', 'ARC-Seal', 'DKIM-Signature', 'X'],
  ...['X-Originating-IP', 'MIME-Version', 'Message-ID', 'List-Unsubscribe-Post', 'Auto-Submitted'],
] as const

const piece = fc.constantFrom(...pieces)

const change: fc.Arbitrary<Change> = fc.record({
  how: fc.constantFrom(...hows),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.nat(2000),
  piece,
})

const line = fc
  .tuple(
    fc.oneof({ weight: 3, arbitrary: fc.constant('Received') }, fc.constantFrom(...names)),
    fc.array(piece, { maxLength: 25 }),
    fc.oneof({ weight: 30, arbitrary: fc.constant(1) }, fc.integer({ min: 2, max: 5000 })),
  )
  .map(([name, text, times]) => `${name}: ${text.join('').repeat(times).slice(0, 100_000)}\r\n`)

const header = fc
  .tuple(
    fc.array(line, { maxLength: 12 }),
    fc.oneof({ weight: 30, arbitrary: fc.constant(1) }, fc.integer({ min: 2, max: 2000 })),
  )
  .map(([lines, times]) => lines.join('').repeat(times).slice(0, 200_000))
  .map((text) => Buffer.from(text, 'latin1'))

/** Applies a change to a message. Most changes are near the top, where the header is. */
function changed(raw: Buffer, other: Buffer, { how, at, length, piece: text }: Change): Buffer {
  const start = Math.floor(at * at * raw.length)
  const [before, after] = [raw.subarray(0, start), raw.subarray(start)]
  const bytes = Buffer.from(text, 'latin1')
  switch (how) {
    case 'flip':
      return Buffer.concat([before, Buffer.from([length & 255]), after.subarray(1)])
    case 'delete':
      return Buffer.concat([before, after.subarray(length)])
    case 'insert':
      return Buffer.concat([before, bytes, after])
    case 'repeat':
      return Buffer.concat([before, after.subarray(0, length), after])
    case 'splice':
      return Buffer.concat([before, other.subarray(Math.floor(at * other.length))])
    case 'flood':
      return Buffer.concat([before, ...Array<Buffer>(length * 5).fill(bytes), after])
  }
}
