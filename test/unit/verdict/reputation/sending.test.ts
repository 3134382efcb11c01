import { expect, test } from 'vitest'
import { type SendingDay, sendingRecord } from '../../../../src/verdict/reputation/sending.ts'
import { decide, isUnwanted, SPAM_SCORE_MIN } from '../../../../src/verdict/verdict.ts'
import { factsWith, scoreBy, shippedRules } from '../../../support/shipped-rules.ts'

const none = {
  daysAgo: 0,
  sent: 0,
  unwanted: 0,
  recipients: 0,
  complaints: 0,
  bounces: 0,
  reads: 0,
}
const day = (its: Partial<SendingDay>): SendingDay => ({ ...none, ...its })
const scoreOf = (...days: Partial<SendingDay>[]) => sendingRecord(days.map(day)).score

test.for([
  ['nothing', {}, 0, 0],
  ['a few messages', { sent: 3, recipients: 3 }, 0, 0.05],
  ['much wanted mail', { sent: 1_000, recipients: 900 }, 0.8, 1],
  ['one complaint about little mail', { sent: 3, recipients: 3, complaints: 1 }, -0.5, 0],
  ['three complaints about little mail', { sent: 5, recipients: 5, complaints: 3 }, -1, -0.5],
  ['1 % complaints', { sent: 1_000, recipients: 1_000, complaints: 10 }, -0.1, 0.1],
  ['5 % complaints', { sent: 1_000, recipients: 1_000, complaints: 50 }, -1, -0.5],
  ['ten bounces of a small list', { sent: 20, recipients: 20, bounces: 10 }, -0.2, 0],
  ['80 % bounces', { sent: 1_000, recipients: 1_000, bounces: 800 }, -1, -0.5],
  ['only unwanted mail', { sent: 200, unwanted: 200, recipients: 900 }, -1, -0.8],
  ['three unwanted messages', { sent: 3, unwanted: 3, recipients: 3 }, -0.2, 0],
] as const)('%s: from %3$s to %4$s', ([, its, min, max]) => {
  const score = scoreOf(its)
  expect(score).toBeGreaterThanOrEqual(min)
  expect(score).toBeLessThanOrEqual(max)
})

test('mail that is read counts in favor, and an old day counts less', () => {
  const sent = { sent: 100, recipients: 100 }
  expect(scoreOf({ ...sent, reads: 50 })).toBeGreaterThan(scoreOf(sent))
  const bad = { sent: 100, unwanted: 100, recipients: 100 }
  expect(scoreOf({ ...bad, daysAgo: 12 })).toBeGreaterThan(scoreOf(bad))
  expect(scoreOf({ ...bad, daysAgo: 12 }, { sent: 500 })).toBeGreaterThan(0)
})

test('shares and days come from what was counted', () => {
  const record = sendingRecord([
    day({ sent: 60, unwanted: 40, recipients: 80, complaints: 10 }),
    day({ daysAgo: 9, sent: 1 }),
    day({ daysAgo: 11, complaints: 1 }),
  ])
  expect(record.today).toMatchObject({ sent: 60, recipients: 80, complaints: 10 })
  expect(record.knownDays).toBe(9)
  expect(record.unwantedShare).toBeCloseTo(0.5, 1)
  expect(record.complaintShare).toBeCloseTo(0.1, 1)
  expect(record.bounceShare).toBe(0)
})

test('no volume makes a message unwanted, and the worst reputation alone does not either', () => {
  const book = shippedRules()
  const busy = {
    ...{ 'sender.is_given': true, 'envelope.is_given': true, 'envelope.recipients': 10_000 },
    ...{ 'sender.sent_today': 1e6, 'sender.recipients_today': 1e6, 'message.kind': 'message' },
  }
  expect(scoreBy(book, factsWith(busy))).toBeLessThan(2)
  const worst = { 'sender.unwanted_today': 1e6, 'sender.reputation': -1 }
  const facts = factsWith({ ...busy, ...worst })
  expect(scoreBy(book, facts)).toBeLessThan(SPAM_SCORE_MIN + 1)
  expect(isUnwanted(decide({ facts, symbols: book.run(factsWith(busy)) }))).toBe(false)
})
