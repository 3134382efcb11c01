import { expect, test } from 'vitest'
import { shippedMeanings, withoutShippedMeanings } from '../../../src/judging/rule-versions.ts'
import { phrase } from '../../../src/phrase.ts'
import type { VerdictSymbol } from '../../../src/verdict/verdict.ts'
import { plainReasons, sayMeaning } from '../../../src/web/history/symbols.ts'
import { technicalWords } from '../../support/technical-words.ts'

const shipped = { name: 'DATE_MISSING', weight: 1 }
const meaning = shippedMeanings().get('DATE_MISSING') ?? ''
const stored = (symbol: VerdictSymbol) =>
  withoutShippedMeanings({ class: 'spam', score: 5, symbols: [symbol] }).symbols[0]

test('a verdict is stored without meanings of shipped rules; these are found by name', () => {
  const symbol = stored({ ...shipped, meaning })
  expect(symbol).toEqual(shipped)
  expect(sayMeaning(shipped, 'en', 'operator')).toEqual({ text: meaning, lang: undefined })
  expect(sayMeaning(shipped, 'fr', 'reporter')).toEqual({
    text: 'Le champ Date est absent.',
    lang: undefined,
  })
})

test('a meaning that an operator wrote is stored, and shown as written in every language', () => {
  const own = { ...shipped, meaning: 'No date at our place.' }
  expect(stored(own)).toEqual(own)
  expect(sayMeaning(own, 'en', 'operator')).toEqual({ text: own.meaning, lang: undefined })
  expect(sayMeaning(own, 'ru', 'reporter')).toEqual({ text: own.meaning, lang: 'en' })
})

test('a symbol that no rule describes has a phrase, and an unknown one its name', () => {
  const model = { name: 'MODEL', weight: 2, meaning: phrase('model-estimate', { percent: 90 }) }
  expect(stored(model)).toEqual(model)
  expect(sayMeaning(model, 'en', 'operator').text).toContain('90%')
  expect(sayMeaning({ name: 'GONE' }, 'fr', 'reporter')).toEqual({ text: 'GONE', lang: 'en' })
})

test('the reasons for everybody have no words of mail technique', () => {
  const all = [...shippedMeanings().keys()].map((name) => ({ name, weight: 1 }))
  const reasons = plainReasons(all, { class: 'spam' })
  expect(reasons.length).toBeGreaterThan(30)
  expect(reasons.length).toBeLessThan(all.length)
  for (const language of ['en', 'fr', 'ru'] as const) {
    const texts = reasons.map((symbol) => sayMeaning(symbol, language, 'reporter').text)
    expect(texts.filter((text) => technicalWords[language].test(text))).toEqual([])
  }
})

test('the reasons support the verdict, and the heaviest comes first', () => {
  const symbols = [
    { name: 'TEXT_SHOUTS', weight: 1 },
    { name: 'LINK_SHORTENED', weight: 2 },
    { name: 'DATE_MISSING', weight: 3 },
    { name: 'YOUR_REPORT', weight: -1 },
  ]
  const namesFor = (verdict: 'spam' | 'legitimate' | 'undecided') =>
    plainReasons(symbols, { class: verdict }).map(({ name }) => name)
  expect(namesFor('spam')).toEqual(['LINK_SHORTENED', 'TEXT_SHOUTS'])
  // That a message was reported explains no verdict.
  expect(namesFor('legitimate')).toEqual([])
  expect(namesFor('undecided')).toEqual(['LINK_SHORTENED', 'TEXT_SHOUTS'])
})
