import { expect, test } from 'vitest'
import {
  checkActionOf,
  type VerdictClass,
  type VerdictSymbol,
} from '../../../src/verdict/verdict.ts'

const reported = {
  name: 'REPORTED',
  weight: 4,
  meaning: 'It was reported.',
  basis: 'known',
} as const
const verdict = (
  kind: VerdictClass,
  score: number,
  confidence = 0.5,
  symbols: readonly VerdictSymbol[] = [reported],
) => ({ class: kind, score, confidence, symbols })
const scores = { reject: 15, greylist: undefined }

test.for([
  ['spam gets a header', 'spam', 6, 0.99, 'add header'],
  ['spam far beyond doubt is rejected', 'spam', 15, 0.5, 'reject'],
  ['and just below it is not', 'spam', 14.9, 1, 'add header'],
  ['phishing that is sure is rejected', 'phishing', 6, 0.95, 'reject'],
  ['phishing that is not quite sure gets a header', 'phishing', 6, 0.94, 'add header'],
  ['malware that is sure is rejected', 'malware', 6, 0.99, 'reject'],
  ['what is undecided is delivered, whatever its score', 'undecided', 20, 1, 'no action'],
  ['marketing is delivered', 'marketing', 20, 1, 'no action'],
  ['legitimate mail is delivered', 'legitimate', -3, 1, 'no action'],
] as const)('%s', ([, kind, score, confidence, action]) => {
  expect(checkActionOf(verdict(kind, score, confidence), scores)).toBe(action)
})

test('if configured, undecided mail is greylisted from a score on, and no other mail', () => {
  const wished = { ...scores, greylist: 4 }
  expect(checkActionOf(verdict('undecided', 4), wished)).toBe('greylist')
  expect(checkActionOf(verdict('undecided', 3.9), wished)).toBe('no action')
  expect(checkActionOf(verdict('marketing', 9), wished)).toBe('no action')
  expect(checkActionOf(verdict('spam', 9), wished)).toBe('add header')
})

test.for([
  ['what it says', [{ ...reported, weight: 30, basis: 'content' }]],
  ['what the model thinks', [{ ...reported, weight: 30, basis: 'model' }]],
  [
    'little besides',
    [
      { ...reported, weight: 30, basis: 'content' },
      { ...reported, weight: 2.4 },
    ],
  ],
  ['who hands it over, unread', [{ name: 'FIRST_FILTER', weight: 30, meaning: 'It is listed.' }]],
] as const)('mail is never rejected for %s alone, however bad it is', ([, symbols]) => {
  for (const kind of ['spam', 'phishing', 'malware'] as const) {
    expect(checkActionOf(verdict(kind, 30, 1, symbols), scores)).toBe('add header')
  }
})
