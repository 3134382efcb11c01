import { expect, test } from 'vitest'
import { checkActionOf, decide, type VerdictSymbol } from '../../../src/verdict/verdict.ts'
import type { Facts } from '../../../src/verdict/facts/fact.ts'

const estimate = (probability: number, given: { isSure?: boolean; isPhishing?: boolean } = {}) => {
  return { probability, isSure: false, isPhishing: false, ...given }
}
const symbols = (...weights: readonly number[]): VerdictSymbol[] =>
  weights.map((weight, index) => {
    return { name: `RULE_${index}`, weight, meaning: 'A rule of the test.', basis: 'way' }
  })
const facts = (changes: Facts = {}): Facts => ({ message: { kind: 'message' }, ...changes })
const reportedAs = (kind: string, karma = 1) => facts({ report: { kind, karma } })
const bulk = {
  message: { kind: 'message', has_list_unsubscribe: true },
  authentication: { checked: true, dkim_aligned: true, unsubscribe_signed: true },
}

test.for([
  ['a score at the threshold is spam', facts(), [5], 'spam'],
  ['a score just below it accuses nobody', facts(), [4.99], 'undecided'],
  ['what was reported as phishing is', reportedAs('phishing'), [6], 'phishing'],
  ['the word alone does not make it so', reportedAs('phishing', 0.2), [2], 'undecided'],
  [
    'a list of phishing says it too',
    facts({ blacklists: { has_phishing: true } }),
    [5],
    'phishing',
  ],
  ['malware goes first', facts({ blacklists: { has_malware: true } }), [5], 'malware'],
  ['what nobody reported and speaks for itself is wanted', facts(), [-2], 'legitimate'],
  ['a little less is not enough', facts(), [-1.99], 'undecided'],
  [
    'what a reporter wants is legitimate, whatever is said',
    reportedAs('not-spam'),
    [9],
    'legitimate',
  ],
  ['a newcomer who wants it is believed', reportedAs('not-spam', 0.2), [4.9], 'legitimate'],
  ['but not against all others', reportedAs('not-spam', 0.2), [5], 'undecided'],
  ['a bounce is nobody’s spam', facts({ message: { kind: 'dsn' } }), [5, -8], 'undecided'],
  ['honest bulk mail is marketing', { ...reportedAs('spam'), ...bulk }, [5, -2], 'marketing'],
  ['until enough speaks against it', { ...reportedAs('spam'), ...bulk }, [5], 'spam'],
  [
    'it is not honest with an invented line',
    { ...bulk, origin: { has_forged_hop: true } },
    [3],
    'undecided',
  ],
  [
    'nor is it where no signature was looked up',
    { ...bulk, authentication: { checked: false }, bulk: { unsubscribe_of_author: true } },
    [3],
    'undecided',
  ],
  [
    'nor if the author did not sign the address for unsubscribing',
    { ...bulk, authentication: { checked: true, dkim_aligned: true } },
    [3],
    'undecided',
  ],
] as const)('%s', ([, its, weights, expected]) => {
  expect(decide({ facts: its, symbols: symbols(...weights) }).class).toBe(expected)
})

test('the model is evaluated last, as one symbol whose weight is its log-odds', () => {
  const verdict = decide({ facts: facts(), symbols: symbols(3), estimate: estimate(0.9) })
  expect(verdict).toMatchObject({ class: 'spam', score: 5.2, estimate: { probability: 0.9 } })
  expect(verdict.symbols.at(-1)).toMatchObject({ name: 'MODEL', weight: 2.2, basis: 'model' })
})

test.for([
  [1, 4],
  [0, -4],
  [0.5, 0],
] as const)('a model that says %s weighs %s', ([probability, weight]) => {
  const { symbols: raised } = decide({
    facts: facts(),
    symbols: [],
    estimate: estimate(probability),
  })
  expect(raised[0]?.weight).toBe(weight)
})

test('a sure model decides alone, but not against what speaks for the message', () => {
  const sure = estimate(0.9, { isSure: true })
  const verdict = decide({ facts: facts(), symbols: [], estimate: sure })
  expect(verdict).toMatchObject({ class: 'spam', score: 6, estimate: { probability: 0.9 } })
  expect(checkActionOf(verdict, { reject: 6, greylist: undefined })).toBe('add header')
  const welcome = decide({ facts: facts(), symbols: symbols(-1.5), estimate: sure })
  expect(welcome.class).toBe('undecided')
  const unsure = decide({ facts: facts(), symbols: [], estimate: estimate(1) })
  expect(unsure.class).toBe('undecided')
})

test('content and a model that is not sure do not decide without other evidence', () => {
  const [content] = symbols(2)
  if (!content) throw new Error('There is no symbol.')
  const spoken = { ...content, basis: 'content' } as const
  const its = { facts: facts(), estimate: estimate(1) }
  expect(decide({ ...its, symbols: [spoken] })).toMatchObject({ class: 'undecided', score: 4.9 })
  expect(decide({ ...its, symbols: [spoken, ...symbols(1)] }).class).toBe('spam')
  expect(decide({ ...its, symbols: [{ ...spoken, weight: 5 }] }).score).toBe(5)
})

test('the model says phishing only where no reporter says what it is', () => {
  const found = estimate(1, { isSure: true, isPhishing: true })
  const classOf = (its: Facts) => decide({ facts: its, symbols: [], estimate: found }).class
  expect(classOf(facts())).toBe('phishing')
  expect(classOf(reportedAs('spam'))).toBe('spam')
  expect(classOf(facts({ blacklists: { has_malware: true } }))).toBe('malware')
})

test('a model result that is not a number is ignored', () => {
  const verdict = decide({ facts: facts(), symbols: symbols(5), estimate: estimate(NaN) })
  expect(verdict).toEqual(decide({ facts: facts(), symbols: symbols(5) }))
})

test('without a model there is no symbol for it', () => {
  const verdict = decide({ facts: facts(), symbols: symbols(1.105, 2) })
  expect(verdict).toMatchObject({ score: 3.11, symbols: symbols(1.105, 2) })
  expect(verdict).not.toHaveProperty('estimate')
})

test('a score further from the thresholds has a higher confidence', () => {
  const sure = (...weights: readonly number[]) =>
    decide({ facts: facts(), symbols: symbols(...weights) }).confidence ?? 0
  expect(sure(5)).toBeGreaterThan(0.9)
  expect(sure(9)).toBeGreaterThan(sure(5))
  expect(sure(-6)).toBeGreaterThan(sure(-2))
  expect(sure(2.5)).toBe(1)
  expect(sure(4.9)).toBeLessThan(0.2)
})

test('words alone never decide, in either direction, and stay below half of the threshold', () => {
  const words = (...weights: number[]) =>
    symbols(...weights).map((symbol) => ({ ...symbol, basis: 'words' as const }))
  const against = decide({ facts: facts(), symbols: words(2, 20, 3) })
  expect(against.symbols.map(({ weight }) => weight)).toEqual([2, 0.5, 0])
  expect(against).toMatchObject({ class: 'undecided', score: 2.5 })
  expect(checkActionOf(against, { reject: 2, greylist: undefined })).toBe('no action')
  const inFavor = decide({ facts: facts(), symbols: [...symbols(6), ...words(-20)] })
  expect(inFavor).toMatchObject({ class: 'undecided', score: 3.5 })
  const together = decide({ facts: facts(), symbols: [...words(9), ...symbols(2.5)] })
  expect(together).toMatchObject({ class: 'spam', score: 5 })
})
