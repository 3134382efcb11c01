import { expect, test } from 'vitest'
import type { RateLimit } from '../../../src/db/limits.ts'
import { decideAttempt } from '../../../src/people/limits.ts'

const limit: RateLimit = {
  name: 'a',
  attempt: 'report',
  keyKind: 'reporter',
  windowMs: 60_000,
  attemptsMax: 10,
  behavior: 'refuse',
}
const one = { cost: 1, later: 0 }
const counted = (counts: number[], overMs = 0) => ({
  total: counts.reduce((sum, count) => sum + count, 0),
  counts,
  overMs,
})

test('the last attempt that a limit allows is accepted, the next one refused', () => {
  expect(decideAttempt(limit, counted([10]), one).isAdmitted).toBe(true)
  expect(decideAttempt(limit, counted([11]), one).isAdmitted).toBe(false)
})

test('later attempts in the same statement do not count against an earlier one', () => {
  expect(decideAttempt(limit, counted([11]), { cost: 1, later: 1 }).isAdmitted).toBe(true)
})

test('several at once are accepted together or not at all', () => {
  expect(decideAttempt(limit, counted([10]), { cost: 5, later: 0 }).isAdmitted).toBe(true)
  expect(decideAttempt(limit, counted([12]), { cost: 5, later: 0 }).isAdmitted).toBe(false)
})

test('a refused client waits until enough attempts have left the window', () => {
  // Eleven attempts in the current second expire 61 seconds after it began.
  expect(decideAttempt(limit, counted([11], 250), one).waitSeconds).toBe(61)
  // Of five attempts ten seconds ago and six now, two must expire; the five expire in 51 seconds.
  const counts = [5, ...Array<number>(9).fill(0), 6]
  expect(decideAttempt(limit, counted(counts, 250), one).waitSeconds).toBe(51)
})

test('a request above the maximum waits for the whole window', () => {
  expect(decideAttempt(limit, counted([20]), { cost: 20, later: 0 }).waitSeconds).toBe(61)
})

test.for([
  ['what is left', [3, 4], 3],
  ['nothing below zero', [30], 0],
] as const)('the wait that a client gets is %s', ([, counts, remaining]) => {
  expect(decideAttempt(limit, counted([...counts]), one).state).toMatchObject({
    name: 'a',
    attemptsMax: 10,
    windowSeconds: 60,
    remaining,
  })
})

test('a client gets the time when attempts are available again', () => {
  expect(decideAttempt(limit, counted([1, 0, 1], 0), one).state.resetSeconds).toBe(59)
})
