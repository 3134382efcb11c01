import { expect, test } from 'vitest'
import { levels } from '../../../src/activity/slots.ts'
import { periodNames, periods, spanOf } from '../../../src/activity/read-activity.ts'

const end = new Date('2026-11-23T12:34:50Z')
const ago = (ms: number) => new Date(end.getTime() - ms)
const MINUTE = 60_000

test('an installation of ten minutes has ten minutes in every period, in fine steps', () => {
  for (const period of periodNames) {
    const { from, to, stepMs, level } = spanOf(period, { end, since: ago(10 * MINUTE) })
    expect([period, stepMs, level]).toEqual([period, 20_000, 0])
    expect(from.toISOString()).toBe('2026-11-23T12:24:40.000Z')
    expect(to.toISOString()).toBe('2026-11-23T12:35:00.000Z')
  }
})

test('what is stored for five hours is drawn in the steps of a day, but an hour is an hour', () => {
  const since = ago(5 * 60 * MINUTE)
  const week = spanOf('week', { end, since })
  expect([week.stepMs, week.from.toISOString()]).toEqual([
    ...[10 * MINUTE, '2026-11-23T07:30:00.000Z'],
  ])
  expect(spanOf('hour', { end, since }).from.toISOString()).toBe('2026-11-23T11:35:00.000Z')
})

test('each period has some two hundred steps at most, and its level is kept for two of it', () => {
  for (const [period, { lengthMs, stepMs, listedMs, level }] of Object.entries(periods)) {
    const { from, to } = spanOf(period as keyof typeof periods, { end, since: undefined })
    expect([period, to.getTime() - from.getTime()]).toEqual([period, lengthMs])
    expect(lengthMs / stepMs).toBeLessThanOrEqual(182)
    expect([lengthMs % stepMs, listedMs % stepMs]).toEqual([0, 0])
    expect(levels[level]?.keepMs).toBeGreaterThanOrEqual(2 * lengthMs)
    expect(stepMs % (levels[level]?.stepMs ?? 0)).toBe(0)
  }
})
