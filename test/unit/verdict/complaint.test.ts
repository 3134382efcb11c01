import { expect, test } from 'vitest'
import {
  type Complaint,
  complaintOf,
  doubtOf,
  shortfallOf,
} from '../../../src/verdict/complaint.ts'
import type { Facts } from '../../../src/verdict/facts/fact.ts'
import type { SymbolBasis, Verdict, VerdictSymbol } from '../../../src/verdict/verdict.ts'
import { bulk, list, verified, welcome } from '../../support/newsletter-facts.ts'

const sign = (basis: SymbolBasis, weight: number): VerdictSymbol => {
  return { name: 'A_SIGN', weight, meaning: 'A sign of the test.', basis }
}
const word = sign('word', 1.5)
const model = { ...sign('model', 1), name: 'MODEL' }
const judgedAs = (facts: Facts, symbols: readonly VerdictSymbol[], probability?: number) => {
  const unsure = { isSure: false, isPhishing: false }
  const verdict: Verdict = {
    ...{ class: 'spam', score: 5, symbols },
    ...(probability !== undefined && { estimate: { ...unsure, probability } }),
  }
  return { facts, verdict, isRelayed: false }
}
const said = { kind: 'spam', isConfirmed: false } as const

test.for<[string, Facts, Complaint['manner'], number]>([
  ['plain mail', {}, 'plain', 1],
  ['a reply', { headers: { is_answer: true } }, 'reply', 3],
  ['mail that offers to unsubscribe', { links: { has_unsubscribe: true } }, 'plain', 1],
  ['bulk mail of a welcome author', { ...bulk, ...welcome }, 'bulk', 5],
  ['list mail', list, 'list', 5],
  ['a receipt', { ...verified, text: { receipt_words: 2 } }, 'receipt', 3],
  ['a verified author', { ...verified, text: { receipt_words: 1 } }, 'plain', 1],
  ['what only says so', { text: { receipt_words: 9 } }, 'plain', 1],
])('%s is forwarded above a score of its own', ([, facts, manner, withoutModel]) => {
  const symbols = [sign('word', 6), sign('content', 2)]
  const known = { kind: 'spam', manner, isRelayed: false, isConfirmed: false }
  const bare = judgedAs(facts, symbols)
  expect(complaintOf(said, bare)).toEqual({ ...known, score: 4.5, scoreMin: withoutModel })
  const modeled = judgedAs(facts, [...symbols, model], 0.7)
  expect(complaintOf(said, modeled)).toEqual({ ...known, score: 5.5, scoreMin: 3.5 })
  const relayed = complaintOf(said, { ...modeled, isRelayed: true })
  expect(relayed).toEqual({ ...known, isRelayed: true, score: 5.5, scoreMin: 6 })
})

test.for([
  ['one other reporter', { campaign_reporters_weeks: 1 }, 2.25],
  ['a crowd, which may be bought,', { text_reporters_weeks: 90, text_ham_weeks: 30 }, 3],
  ['a campaign that many want', { campaign_reporters_weeks: 9, campaign_ham_weeks: 4 }, 1.5],
] as const)('%s supports a complaint by a little', ([, seen, score]) => {
  const judged = judgedAs({ seen }, [sign('word', 1.5)])
  expect(complaintOf(said, judged)).toMatchObject({ score })
})

test('words that an operator looks for do not help a complaint, but may prevent one', () => {
  const scoreOf = (...symbols: VerdictSymbol[]) => {
    const verdict: Verdict = { class: 'undecided', score: 0, symbols }
    const given = { verdict, facts: {}, isRelayed: false }
    return complaintOf({ kind: 'spam', isConfirmed: false }, given).score
  }
  expect(scoreOf(sign('word', 1.5), sign('words', 2.5))).toBe(1.5)
  expect(scoreOf(sign('word', 1.5), sign('words', -2.5))).toBe(-1)
})

type Lacks = [score: number, isEnoughConfirmed: boolean, reporters: number]

test.for<[string, VerdictSymbol[], { others?: number; facts?: Facts }, Lacks | undefined]>([
  ['nothing, if its content suffices', [sign('content', 1.2)], {}, undefined],
  ['two other reports', [], {}, [1.2, false, 2]],
  ['one other report', [sign('content', 0.5)], {}, [0.7, false, 1]],
  [
    'a confirmation or two other reports',
    [sign('content', 1.2), sign('way', -3)],
    {},
    [1.3, true, 2],
  ],
  ['more than one change', [sign('known', -9)], {}, [10.2, false, 0]],
  ['one more report than the one known', [], { others: 1 }, [1.2, false, 1]],
  [
    'what nobody can add, if a list sent it',
    [sign('content', 1.2)],
    { facts: list },
    [2.3, false, 0],
  ],
])('a complaint lacks %s', ([, symbols, { others, facts = {} }, lacks]) => {
  const judged = judgedAs(facts, [word, ...symbols])
  const complaint = complaintOf({ ...said, others }, judged)
  const [score, isEnoughConfirmed, reporters] = lacks ?? []
  expect(shortfallOf(complaint, judged)).toEqual(lacks && { score, isEnoughConfirmed, reporters })
})

test('reporters agree only if they are independent', () => {
  const judged = judgedAs({ seen: { campaign_reporters_weeks: 3 } }, [word])
  const doubts = [undefined, 2, 1, 0].map((others) =>
    doubtOf(complaintOf({ ...said, others }, judged)),
  )
  expect(doubts).toEqual([undefined, undefined, 'unsupported', 'unsupported'])
})
