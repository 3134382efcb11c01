import { expect, test } from 'vitest'
import {
  checkActionOf,
  correctedVerdict,
  isProvenUnwanted,
  type SymbolBasis,
  symbolScore,
  symbolsForReporters,
} from '../../../src/verdict/verdict.ts'

const symbol = (basis: SymbolBasis, weight = 3) => ({ name: basis, weight, meaning: basis, basis })

test('a reporter sees the message, the own statement, and a rounded sum of all else', () => {
  const all = (['content', 'way', 'word', 'known', 'model'] as const).map((one) => symbol(one, 1.6))
  expect(symbolsForReporters(all)).toEqual([
    symbol('content', 1.6),
    symbol('way', 1.6),
    { name: 'YOUR_REPORT', weight: 1.6, meaning: { code: 'your-report' } },
    { name: 'OTHER_SIGNS', weight: 4, meaning: { code: 'other-signs-against' } },
  ])
  expect(symbolsForReporters([symbol('known', 0.9)])).toEqual([])
  expect(symbolsForReporters([symbol('model', -2)])).toEqual([
    { name: 'OTHER_SIGNS', weight: -2, meaning: { code: 'other-signs-for' } },
  ])
})

test.for([
  [
    'content and the model are none, whatever they weigh',
    [symbol('content'), symbol('model')],
    false,
  ],
  ['a way is one', [symbol('way')], true],
  ['a word is one', [symbol('word')], true],
  ['what others reported is one', [symbol('known')], true],
  ['what speaks for the message takes none away', [symbol('known'), symbol('way', -9)], true],
  ['a little is none', [symbol('word', 1.4), symbol('known', 1)], false],
  ['but it adds up', [symbol('word', 1.5), symbol('known', 1)], true],
] as const)('of evidence %s', ([, symbols, expected]) => {
  const verdict = { class: 'spam', score: 20, symbols } as const
  const action = checkActionOf(verdict, { reject: 15, greylist: undefined })
  expect(action).toBe(expected ? 'reject' : 'add header')
})

test.for([
  ['a blacklist proves a message to be unwanted', 'spam', [symbol('way', 2.5)], true],
  ['complaints do not', 'spam', [symbol('word', 9), symbol('known', 9), symbol('way', 2.4)], false],
  ['nor does a blacklist without a verdict', 'undecided', [symbol('way', 3)], false],
] as const)('%s', ([, verdict, symbols, expected]) => {
  expect(isProvenUnwanted({ class: verdict, symbols })).toBe(expected)
})

test.for([
  ['spam', -8, 15],
  ['phishing', 22, 22],
  ['legitimate', 9, -15],
  ['marketing', -40, -40],
] as const)('a verdict corrected to %s of score %s has score %s', ([as, before, after]) => {
  const symbols = [symbol('content', before)]
  const verdict = correctedVerdict({ class: 'undecided', score: before, symbols }, as)
  expect(verdict).toMatchObject({ class: as, confidence: 1, score: after })
  expect(symbolScore(verdict.symbols)).toBe(after)
})
