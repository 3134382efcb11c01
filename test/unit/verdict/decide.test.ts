import { expect, test } from 'vitest'
import { decide, type Facts } from '../../../src/verdict/decide.ts'

const plain: Facts = {
  reportedAs: 'spam',
  messageKind: 'message',
  hasForgedHop: false,
  listings: [],
}
const host = '192.0.2.7'
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
    { ...plain, reportedAs: 'phishing', messageKind: 'dsn', hasForgedHop: true },
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
  [
    'an origin on a spam list adds to it, however many list it',
    {
      ...plain,
      listings: [
        { category: 'spam', subject: host },
        { category: 'compromised', subject: '2001:db8::25' },
      ],
    },
    'spam',
    7,
    ['REPORTED_SPAM', 'ORIGIN_LISTED'],
  ],
  [
    'a list of domains says nothing of the origin, nor one of origins of the domains',
    {
      ...plain,
      listings: [
        { category: 'spam', subject: 'shop.example' },
        { category: 'dynamic', subject: host },
        { category: 'other', subject: host },
        { category: 'welcome', subject: 'shop.example' },
        { category: 'phishing', subject: host },
      ],
    },
    'spam',
    5,
    ['REPORTED_SPAM'],
  ],
  [
    'a report alone does not outweigh a welcome list',
    { ...plain, listings: [{ category: 'welcome', subject: host }] },
    'undecided',
    4,
    ['REPORTED_SPAM', 'ORIGIN_WELCOME'],
  ],
  [
    'a report of phishing does',
    {
      ...plain,
      reportedAs: 'phishing',
      listings: [
        { category: 'welcome', subject: host },
        { category: 'welcome', subject: 'bank.example' },
      ],
    },
    'phishing',
    5,
    ['REPORTED_PHISHING', 'ORIGIN_WELCOME'],
  ],
  [
    'a domain listed for phishing or malware adds to it',
    { ...plain, listings: [{ category: 'malware', subject: 'login.example' }] },
    'spam',
    8,
    ['REPORTED_SPAM', 'BAD_DOMAIN_LISTED'],
  ],
  [
    'listings alone accuse nobody whom the reporter defends',
    {
      ...plain,
      reportedAs: 'not-spam',
      listings: [
        { category: 'spam', subject: host },
        { category: 'phishing', subject: 'login.example' },
      ],
    },
    'legitimate',
    0,
    ['REPORTED_NOT_SPAM', 'ORIGIN_LISTED', 'BAD_DOMAIN_LISTED'],
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
