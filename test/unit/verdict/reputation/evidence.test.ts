import { expect, test } from 'vitest'
import { leaningOf, witnessSideOf } from '../../../../src/verdict/reputation/evidence.ts'

test.for([
  ['spam', 'spam', 0, 1, 'bad'],
  ['phishing', 'phishing', 0, 1, 'bad'],
  ['spam', 'malware', 0, 1, 'bad'],
  ['spam', 'marketing', 0, 0.3, undefined],
  ['spam', 'undecided', 0, 0.5, 'bad'],
  ['spam', 'legitimate', 0, 0, undefined],
  ['not-spam', 'legitimate', 1, 0, 'good'],
  ['not-spam', 'marketing', 1, 0, 'good'],
  ['not-spam', 'undecided', 0.5, 0, 'good'],
  ['not-spam', 'phishing', 0, 0, undefined],
] as const)(
  'a report as %s judged %s counts %d for good, %d for bad',
  ([reportedAs, verdict, good, bad, side]) => {
    const report = { reportedAs, verdict: { class: verdict, confidence: 1 } }
    expect(leaningOf(report)).toEqual({ good, bad })
    expect(witnessSideOf(report)).toBe(side)
  },
)

test.for([
  ['unconfirmed', 'spam', 0],
  ['unconfirmed', 'undecided', 0],
  ['list', 'undecided', 0],
  ['bulk', 'undecided', 0.3],
  ['bulk', 'legitimate', 0],
] as const)('a doubtful complaint (%s) judged %s counts %d', ([doubt, verdict, bad]) => {
  const report = { reportedAs: 'spam', verdict: { class: verdict, confidence: 1 }, doubt } as const
  expect(leaningOf(report)).toEqual({ good: 0, bad })
  expect(witnessSideOf(report)).toBeUndefined()
})
