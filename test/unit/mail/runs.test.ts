import fc from 'fast-check'
import { expect, test } from 'vitest'
import { characterSet, runsOf } from '../../../src/mail/text.ts'

const digits = characterSet('01')

test.for([
  ['one that just fits', 'x111x', 3, ['111']],
  ['one that is a digit short', 'x11x', 3, []],
  ['each as long as it can be', '0101 x 1111111 x 01', 3, ['0101', '1111111']],
  ['at both ends', '000x111', 3, ['000', '111']],
  ['next to each other but for one character', '000x111x000', 3, ['000', '111', '000']],
  ['beyond Latin-1 nothing is in the set', '\u0130\u0131\u0130\u0131', 2, []],
] as const)('matches are found: %s', ([, text, least, expected]) => {
  expect(runsOf(text, digits, least)).toEqual(expected)
})

test('the same matches are found as by a regular expression', () => {
  const text = fc.string({ unit: fc.constantFrom('0', '1', 'x', ' '), maxLength: 80 })
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 9 }), (written, least) => {
      const expected = written.match(new RegExp(`[01]{${String(least)},}`, 'g')) ?? []
      expect(runsOf(written, digits, least)).toEqual([...expected])
    }),
    { numRuns: 2_000 },
  )
})
