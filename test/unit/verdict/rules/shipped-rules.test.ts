import { describe, expect, test } from 'vitest'
import { analyzeForCounting } from '../../../../src/pieces/analyze.ts'
import { factDefinitions, factsOf } from '../../../../src/verdict/facts/facts.ts'
import type { FactValue } from '../../../../src/verdict/facts/fact.ts'
import { SPAM_SCORE_MIN } from '../../../../src/verdict/verdict.ts'
import { corpusFiles } from '../../../support/corpus.ts'
import {
  factsWith,
  readYaml,
  scoreBy,
  shippedRules,
  symbolsOf,
} from '../../../support/shipped-rules.ts'

type Known = Record<string, FactValue>
type Case = { symbol: string; raised: Known; nearly: Known }

const book = shippedRules()
const { rules } = book
const cases = readYaml('test/fixtures/rules/shipped-rules.cases.yaml') as Case[]

test('there are at least 60, each with a name and a sentence', () => {
  expect(rules.length).toBeGreaterThanOrEqual(60)
  expect(new Set(rules.map(({ symbol }) => symbol)).size).toBe(rules.length)
  for (const { symbol, meaning } of rules) {
    expect(symbol).toMatch(/^[A-Z][A-Z0-9_]+$/)
    expect(meaning).toMatch(/^[A-Z].*\.$/)
  }
})

test('each has facts that raise it and facts that nearly do', () => {
  expect(cases.map(({ symbol }) => symbol)).toEqual(rules.map(({ symbol }) => symbol))
})

test.for(cases)('$symbol is raised by its facts, and not by similar ones', (one) => {
  const { symbol, raised, nearly } = one
  expect(symbolsOf(book, factsWith(raised))).toContain(symbol)
  expect(symbolsOf(book, factsWith(nearly))).not.toContain(symbol)
})

test('a message without facts raises nothing', () => {
  expect(symbolsOf(book, factsWith({}))).toEqual([])
})

test.for([
  ['spam', 1, 6],
  ['phishing', 1, 7],
  ['not-spam', 1, -5],
] as const)('the report of a trusted reporter for %s decides', (one) => {
  const [kind, karma, score] = one
  expect(scoreBy(book, factsWith({ 'report.kind': kind, 'report.karma': karma }))).toBe(score)
})

test.for(['spam', 'phishing'] as const)('a report of %s weighs more with karma', (kind) => {
  const scores = Array.from({ length: 21 }, (_, step) =>
    scoreBy(book, factsWith({ 'report.kind': kind, 'report.karma': step / 20 })),
  )
  expect(scores).toEqual(scores.toSorted((a, b) => a - b))
  expect(scores[0]).toBeGreaterThan(0)
  // Step 4 is the karma of a newcomer, 0.2.
  expect(scores[4]).toBeLessThanOrEqual(2)
})

test('a crowd of newcomers with one complaint does not decide', () => {
  const crowd = factDefinitions
    .filter(({ group, name }) => group === 'seen' && !name.includes('_ham_'))
    .map(({ name }) => {
      const isShare = name.endsWith('_blame') || name.endsWith('_complaint_share')
      return [`seen.${name}`, isShare ? 1 : 500]
    })
  const facts = (kind: string) => factsWith({ ...Object.fromEntries(crowd), ...reported(kind) })
  const word = scoreBy(book, factsWith(reported('phishing')))
  expect(scoreBy(book, facts('phishing'))).toBeGreaterThan(word)
  // The maximum is half the threshold, which leaves room for the symbols of an honest newsletter
  // (see below).
  expect(scoreBy(book, facts('phishing'))).toBeLessThan(SPAM_SCORE_MIN / 2)
})

test('a crowd that wants it does not outweigh a trusted reporter', () => {
  const wanted = factDefinitions
    .filter(({ group, name }) => group === 'seen' && /_(?:ham|reporters)_|_blame$/.test(name))
    .map(({ name }) => [`seen.${name}`, name.endsWith('_blame') ? -1 : 500])
  const facts = factsWith({ ...Object.fromEntries(wanted), ...reported('spam', 1) })
  expect(symbolsOf(book, facts)).toEqual(
    expect.arrayContaining(['SEEN_WANTED', 'SEEN_LIST_WANTED', 'SEEN_SIGNER_WANTED']),
  )
  expect(scoreBy(book, facts)).toBeGreaterThanOrEqual(SPAM_SCORE_MIN)
})

function reported(kind: string, karma = 0.2): Known {
  return { 'report.kind': kind, 'report.karma': karma }
}

test('a copied letter does not harm the established domain that wrote it', () => {
  const copied = { 'reputation.campaign_score': -0.7, 'reputation.campaign_weight': 7 }
  const own = { ...copied, 'authentication.author_stands_behind': true }
  const known = { ...own, 'reputation.author_domain_known_days': 30 }
  const told = (facts: Known) =>
    symbolsOf(book, factsWith(facts)).filter((name) => name.startsWith('CAMPAIGN_'))
  const both = ['CAMPAIGN_REPORTED', 'CAMPAIGN_BAD_REPUTATION']
  expect(told(copied)).toEqual(both)
  expect(told(own)).toEqual(both)
  expect(told(known)).toEqual([])
  expect(told({ ...known, 'reputation.author_domain_score': -0.25 })).toEqual(both)
})

test('our own verdicts on unreported traffic raise nothing', () => {
  const copies = factDefinitions
    .filter(({ group, name }) => group === 'seen' && name.includes('_copies_'))
    .map(({ name }) => [`seen.${name}`, 1_000_000])
  expect(copies.length).toBeGreaterThan(0)
  expect(symbolsOf(book, factsWith(Object.fromEntries(copies)))).toEqual([])
})

test.for([
  ['an answer', { 'headers.is_answer': true }],
  ['a post of a list', { 'bulk.has_list_id': true, 'bulk.has_list_post': true }],
  ['a machine’s answer', { 'message.is_machine_answer': true }],
  [
    'all of it',
    { 'headers.is_answer': true, 'bulk.has_list_id': true, 'bulk.has_list_post': true },
  ],
] as const)('checked mail gets no credit for calling itself %s', ([, called]) => {
  const known = { 'reputation.campaign_score': -0.6, 'reputation.campaign_weight': 4 }
  for (const isEmpty of [true, false]) {
    const asked = { 'envelope.is_given': true, 'envelope.return_path_empty': isEmpty }
    expect(scoreBy(book, factsWith({ ...known, ...asked, ...called }))).toBeGreaterThanOrEqual(
      SPAM_SCORE_MIN,
    )
  }
})

test('the text alone stays below the threshold, however it is written', () => {
  const shown = Object.fromEntries(
    factDefinitions
      .filter(({ group, type }) => group === 'text' && type !== 'string')
      .map(({ name, type }): [string, FactValue] => [`text.${name}`, type === 'bool' ? true : 5]),
  )
  // The sum of all symbols may exceed the threshold, because no message is an empty page that also
  // shouts, threatens and shows pictures.
  const all = scoreBy(book, factsWith({ ...shown, 'links.count': 1 }))
  const likely = { ...shown, 'text.is_empty': false, 'text.payment_addresses': 0 }
  expect(scoreBy(book, factsWith(likely))).toBeLessThan(SPAM_SCORE_MIN)
  expect(all).toBeGreaterThan(scoreBy(book, factsWith(likely)))
})

test.for(
  rules.filter(({ facts }) => facts.every((fact) => /^(?:text|headers|author|bulk)\./.test(fact))),
)('no single appearance decides half: $symbol', ({ weight }) => {
  expect(Math.abs(weight)).toBeLessThanOrEqual(SPAM_SCORE_MIN / 2)
})

describe('of the corpus, without reports', () => {
  const files = (['ham', 'newsletters'] as const).flatMap((folder) => corpusFiles(folder) ?? [])

  test.skipIf(files.length === 0)('no wanted mail is judged spam (needs the corpus)', async () => {
    const condemned: string[] = []
    let highest = -Infinity
    for (const { name, raw } of files) {
      const { features } = await analyzeForCounting(raw, { trustedRelays: [], ignoreStamps: true })
      const score = scoreBy(book, factsOf({ features, now: new Date(0) }))
      highest = Math.max(highest, score)
      if (score >= SPAM_SCORE_MIN / 2) condemned.push(`${name} ${score}`)
    }
    expect(condemned).toEqual([])
    expect(highest).toBeGreaterThan(0)
  })
})
