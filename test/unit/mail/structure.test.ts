import { expect, test } from 'vitest'
import { parseHeader } from '../../../src/mail/header.ts'
import { exceedsLimits } from '../../../src/mail/mime-leaves.ts'
import { expectEffort } from '../../support/effort.ts'

const limits = { headersMax: 20, partsMax: 10, nestingMax: 4 }
function judge(text: string) {
  const raw = Buffer.from(text, 'latin1')
  const found = exceedsLimits(raw, limits)
  // The parsed header saves time but changes nothing.
  expect(exceedsLimits(raw, limits, parseHeader(raw))).toBe(found)
  return found
}

const flat = (parts: number) =>
  `Content-Type: multipart/mixed; boundary=b\n\n${'--b\n\nx\n'.repeat(parts)}--b--\n`

const nested = (levels: number) =>
  Array.from(
    { length: levels },
    (_, i) => `Content-Type: multipart/mixed;\n boundary="b${i}"\n\n--b${i}\n`,
  ).join('')

const enclosed = (levels: number) => 'Content-Type: message/rfc822\n\n'.repeat(levels)

test.for([
  ['an ordinary message', 'From: a\nTo: b\n\nbody', undefined],
  ['twenty fields', `${'A: 1\n'.repeat(20)}\nbody`, undefined],
  ['twenty-one fields', `${'A: 1\n'.repeat(21)}\nbody`, 'headers'],
  ['folds are not fields', `A: 1\n${' 2\n'.repeat(50)}\nbody`, undefined],
  ['fields below the header', `A: 1\n\n${'B: 2\n'.repeat(50)}`, undefined],
  ['lines that end in CR, with an LF further down', `A: 1\r\r${'b\r'.repeat(20_000)}\n`, undefined],
  [
    'one part with many fields',
    `Content-Type: text/plain\n${'A: 1\n'.repeat(21)}\nbody`,
    'headers',
  ],
  ['one part without a blank line', `Content-Type: text/plain\n${'A\n'.repeat(50)}`, 'headers'],
  ['nine parts', flat(9), undefined],
  ['ten parts and their whole', flat(10), 'parts'],
  ['dashes that separate nothing', `A: 1\n\n${'--c\n'.repeat(500)}`, undefined],
  ['four levels', nested(4), undefined],
  ['five levels', nested(5), 'nesting'],
  ['five levels, CRLF', nested(5).replaceAll('\n', '\r\n'), 'nesting'],
  ['five levels, CR', nested(5).replaceAll('\n', '\r'), 'nesting'],
  ['messages in messages', enclosed(5), 'nesting'],
  ['four messages in messages', enclosed(4), undefined],
  ['many levels that are closed again', nested(2) + '--b1--\n--b0--\n' + flat(3), undefined],
] as const)('%s', ([, text, expected]) => {
  expect(judge(text)).toBe(expected)
})

test('deeply nested parts of any shape are judged in linear time', async () => {
  const levels = nested(200_000)
  expect(await expectEffort(() => judge(levels), 1_000)).toBe('nesting')
  const parts = `Content-Type: multipart/mixed; boundary=b\n\n${'--b\n'.repeat(1_000_000)}`
  expect(await expectEffort(() => judge(parts), 1_000)).toBe('parts')
})
