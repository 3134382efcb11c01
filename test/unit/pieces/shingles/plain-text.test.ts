import fc from 'fast-check'
import { expect, test } from 'vitest'
import { withoutMarks } from '../../../../src/pieces/disguise/plain-text.ts'

const removed = new RegExp(
  `[${[
    '\\u0300-\\u036f\\u1ab0-\\u1aff\\u1dc0-\\u1dff\\u20d0-\\u20ff\\ufe20-\\ufe2f',
    '\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e',
    '\\u2060-\\u206f\\u2800\\u3164\\ufe00-\\ufe0f\\ufeff\\ufff9-\\ufffb\\u{e0000}-\\u{e0fff}',
  ].join('')}]`,
  'gu',
)

/** Removes the marks of a whole text at once, for comparison. */
const plainly = (text: string) => text.normalize('NFKD').replace(removed, '')

const pieces = [
  ...[
    'word ',
    'e\u0301',
    '\u0301',
    'a\u0323\u0307',
    'a\u0307\u0323',
    '\u0307\u0323',
    'é',
    'ﬁ',
    '½',
  ],
  ...[
    '\u00a0',
    '’',
    '\u00ad',
    '\u200b',
    '가',
    '각',
    '\u11a8',
    'Å',
    '\u212b',
    '①',
    '𝐀',
    '\ud800',
    '\udc00',
  ],
  ...['Привет', '您好', '\ufe0f', '😀', '\n', '\0', 'ｶﾞ', 'ሴ', '\u{e0041}', '\u3164'],
]

test('the marks of a text are removed run by run as from the whole text', () => {
  const mixed = fc.array(fc.constantFrom(...pieces), { maxLength: 40 })
  const ascii = fc.nat(600).map((length) => 'plain text '.repeat(length / 10))
  const text = fc
    .tuple(mixed, ascii, mixed)
    .map(([one, two, three]) => [...one, two, ...three].join(''))
  fc.assert(
    fc.property(text, (whole) => {
      expect(withoutMarks(whole)).toBe(plainly(whole))
    }),
    { numRuns: 2_000 },
  )
})

test('a long heap of marks on one letter is cut in long texts', () => {
  const heap = `a${'\u0483'.repeat(100)}b`
  expect(withoutMarks(heap + ' word'.repeat(500))).toBe(
    `a${'\u0483'.repeat(30)}b${' word'.repeat(500)}`,
  )
})
