import { describe, expect, test } from 'vitest'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/durations.ts'
import {
  afterNotice,
  beginsCase,
  noReports,
  withReports,
} from '../../../src/verdict/after-notice.ts'

const notice = new Date('2026-11-20T12:00:00Z')
const at = (hours: number) => new Date(notice.getTime() + hours * HOUR_MS)
const seen = (...hours: number[]) => afterNotice(withReports(noReports(), hours.map(at)), notice)
/** Hours of silence after the last report that count; undefined for too few reports. */
const silence = (...hours: number[]) => {
  const { silentAt } = seen(...hours)
  return silentAt === null
    ? undefined
    : (silentAt.getTime() - at(Math.max(...hours)).getTime()) / HOUR_MS
}

test('reports are counted in the day until a notice, and in the day after it', () => {
  const { before, after } = seen(-30, -24, -23, -1, 0, 1, 24, 25)
  expect({ before, after }).toEqual({ before: 3, after: 2 })
})

describe('a silence', () => {
  test('says nothing after reports in fewer than three hours', () => {
    expect(silence(0)).toBeUndefined()
    // Ten people report one mailing within an hour.
    expect(silence(...Array.from({ length: 10 }, (_, n) => n * 0.09))).toBeUndefined()
    // What came more than a day before the notice does not count.
    expect(silence(-90, -80, -70, 0)).toBeUndefined()
  })

  test('must be a week, however many reports came before', () => {
    expect(silence(...Array.from({ length: 40 }, (_, n) => n * 0.3))).toBeCloseTo(168, 1)
  })

  test('must be longer the fewer reports came before', () => {
    // Three in four days: 96 * (sqrt(20) - 1) hours.
    expect(silence(0, 48, 96)).toBeCloseTo(333.3, 1)
    expect(silence(0, 32, 64, 96)).toBeCloseTo(168, 1)
  })

  test('must be twice the longest pause before', () => {
    const mailing = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    expect(silence(...mailing, ...mailing.map((hour) => hour + 168))).toBeCloseTo(2 * 159, 1)
  })
})

test('of many minutes with reports, the latest are kept', () => {
  const reports = Array.from(
    { length: 1_000 },
    (_, n) => new Date(notice.getTime() + n * MINUTE_MS),
  )
  const series = withReports(withReports(noReports(), reports), reports.slice(-3))
  expect(series.minutes).toHaveLength(400)
  expect(series.minutes.at(-1)).toBe(notice.getTime() / MINUTE_MS + 999)
  expect(series.counts.slice(-4)).toEqual([1, 2, 2, 2])
})

test('reports more than 30 days after the last one are a new case', () => {
  expect(beginsCase(notice, new Date(notice.getTime() + 30 * DAY_MS))).toBe(false)
  expect(beginsCase(notice, new Date(notice.getTime() + 31 * DAY_MS))).toBe(true)
})

/** Reproducible random numbers below 1 (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The hours of mailings at random instants until an hour, each reported by some people. */
function mailings(
  random: () => number,
  { everyHours, until, people }: { everyHours: number; until: number; people: number },
): number[] {
  const hours: number[] = []
  for (let hour = 0; hour < until; hour -= Math.log(1 - random()) * everyHours) {
    const reports = 1 + Math.floor(random() * people)
    hours.push(...Array.from({ length: reports }, () => hour + random() * 12))
  }
  return hours
}

/** Of a thousand origins, the shares that are too few to tell, and that are called stopped. */
function shares(
  everyHours: number,
  people: number,
  { until, lookAt }: Record<'until' | 'lookAt', number>,
) {
  const random = numbers(everyHours * 100 + people)
  let [few, stopped] = [0, 0]
  for (let origin = 0; origin < 1_000; origin++) {
    const hours = mailings(random, { everyHours, until, people }).filter((hour) => hour < lookAt)
    const { silentAt } = seen(...hours)
    if (silentAt === null) few++
    else if (silentAt <= at(lookAt)) stopped++
  }
  return { few: few / 1_000, stopped: stopped / (1_000 - few) }
}

test.each([
  { everyHours: 4, people: 1, most: 0.01 },
  { everyHours: 12, people: 1, most: 0.01 },
  { everyHours: 36, people: 1, most: 0.03 },
  { everyHours: 36, people: 20, most: 0.03 },
  { everyHours: 72, people: 5, most: 0.1 },
])('an origin that goes on is rarely called stopped: %o', ({ everyHours, people, most }) => {
  for (const days of [10, 15, 30]) {
    const { stopped } = shares(everyHours, people, { until: days * 24, lookAt: days * 24 })
    expect(stopped).toBeLessThan(most)
  }
})

test.each([
  { everyHours: 4, people: 1 },
  { everyHours: 12, people: 5 },
])('one that ended after a week is found in two more: %o', ({ everyHours, people }) => {
  const { few, stopped } = shares(everyHours, people, { until: 168, lookAt: 504 })
  expect(few).toBeLessThan(0.05)
  expect(stopped).toBeGreaterThan(0.95)
})
