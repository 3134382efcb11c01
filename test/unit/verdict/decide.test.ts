import { expect, test } from 'vitest'
import { decide, type Facts } from '../../../src/verdict/decide.ts'

const plain: Facts = { reportedAs: 'spam', messageKind: 'message', hasForgedHop: false }
const namesOf = (facts: Facts) => decide(facts).symbols.map(({ name }) => name)

test.for([
  ['the reporter is believed: spam', plain, 'spam', 5, ['REPORTED_SPAM']],
  [
    'the reporter is believed: phishing',
    { ...plain, reportedAs: 'phishing' },
    'phishing',
    6,
    ['REPORTED_PHISHING'],
  ],
  [
    'what the reporter asked for is legitimate',
    { ...plain, reportedAs: 'not-spam' },
    'legitimate',
    -5,
    ['REPORTED_NOT_SPAM'],
  ],
  [
    'a forged line adds to it',
    { ...plain, hasForgedHop: true },
    'spam',
    7,
    ['REPORTED_SPAM', 'FORGED_HOP'],
  ],
  [
    'a forged line alone accuses nobody whom the reporter defends',
    { ...plain, reportedAs: 'not-spam', hasForgedHop: true },
    'legitimate',
    -3,
    ['REPORTED_NOT_SPAM', 'FORGED_HOP'],
  ],
  [
    'a bounce is nobody’s spam, forged line or not',
    { reportedAs: 'phishing', messageKind: 'dsn', hasForgedHop: true },
    'undecided',
    0,
    ['REPORTED_PHISHING', 'FORGED_HOP', 'MACHINE_ANSWER'],
  ],
  [
    'nor is an automatic reply',
    { ...plain, messageKind: 'auto-reply' },
    'undecided',
    -3,
    ['REPORTED_SPAM', 'MACHINE_ANSWER'],
  ],
] as const satisfies readonly (readonly [string, Facts, string, number, readonly string[]])[])(
  '%s',
  ([, facts, verdict, score, symbols]) => {
    expect(decide(facts)).toMatchObject({ class: verdict, score })
    expect(namesOf(facts)).toEqual(symbols)
  },
)

test('the score is the sum of the symbols, each with a sentence', () => {
  for (const reportedAs of ['spam', 'phishing', 'not-spam'] as const) {
    for (const hasForgedHop of [true, false]) {
      const { score, symbols } = decide({ ...plain, reportedAs, hasForgedHop })
      expect(symbols.reduce((sum, { weight }) => sum + weight, 0)).toBe(score)
      expect(symbols.every(({ meaning }) => /^[A-Z].*\.$/.test(meaning))).toBe(true)
    }
  }
})

test('a verdict is data: no function is left in it', () => {
  const verdict = decide(plain)
  expect(structuredClone(verdict)).toEqual(verdict)
})
