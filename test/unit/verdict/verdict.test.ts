import { expect, test } from 'vitest'
import { hasEvidence, type SymbolBasis, symbolsForReporters } from '../../../src/verdict/verdict.ts'

const symbol = (basis: SymbolBasis, weight = 3) => ({ name: basis, weight, meaning: basis, basis })

test('a reporter sees symbols about the content and origin of the message only', () => {
  const all = (['content', 'way', 'word', 'known', 'model'] as const).map((one) => symbol(one))
  expect(symbolsForReporters(all).map(({ basis }) => basis)).toEqual(['content', 'way'])
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
  expect(hasEvidence({ symbols })).toBe(expected)
})
