import { expect, test } from 'vitest'
import {
  afterBounce,
  type ContactBounce,
  healthAt,
  healthyRecord,
  type HealthRecord,
} from '../../../src/verdict/contact-health.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const start = new Date('2026-11-20T12:00:00Z')
const at = (ms: number) => new Date(start.getTime() + ms)

/**
 * Returns a bounce that arrived an hour after its mail, which was sent `sentHours` hours after the
 * start.
 */
function bounce(sentHours: number, more: Partial<ContactBounce> = {}): ContactBounce {
  const sentAt = at(sentHours * HOUR_MS)
  const bouncedAt = at((sentHours + 1) * HOUR_MS)
  return { hard: false, sentAt, bouncedAt, hasDelivered: false, ...more }
}

const after = (...bounces: readonly ContactBounce[]): HealthRecord =>
  bounces.reduce(afterBounce, healthyRecord)

test('an address that never bounced is healthy', () => {
  expect(healthAt(healthyRecord, start)).toBe('healthy')
})

test('a hard bounce disables an address for thirty days', () => {
  const record = after(bounce(0, { hard: true }))
  expect(healthAt(record, at(HOUR_MS))).toBe('dead')
  expect(healthAt(record, at(HOUR_MS + 30 * DAY_MS - 1))).toBe('dead')
  expect(healthAt(record, at(HOUR_MS + 30 * DAY_MS))).toBe('healthy')
})

test('another hard bounce after that disables it again', () => {
  const late = 31 * 24
  const record = after(bounce(0, { hard: true }), bounce(late, { hard: true }))
  expect(healthAt(record, at((late + 2) * HOUR_MS))).toBe('dead')
})

test.for<[string, ContactBounce[], string]>([
  ['two soft bounces over a day', [bounce(0), bounce(24)], 'healthy'],
  ['three within less than a day', [bounce(0), bounce(12), bounce(23)], 'healthy'],
  ['three over a day', [bounce(0), bounce(12), bounce(24)], 'failing'],
  ['many in an hour', Array.from({ length: 50 }, () => bounce(0)), 'healthy'],
  [
    'three with a delivery before the last',
    [bounce(0), bounce(12), bounce(24, { hasDelivered: true })],
    'healthy',
  ],
  ['three with a quiet week between', [bounce(0), bounce(12), bounce(12 + 7 * 24)], 'healthy'],
  ['three just less than a week apart', [bounce(0), bounce(167), bounce(334)], 'failing'],
  ['a hard one and then a soft one', [bounce(0, { hard: true }), bounce(2)], 'dead'],
])('%s leave an address in the expected state', ([, bounces, expected]) => {
  const record = after(...bounces)
  const last = bounces.at(-1)?.bouncedAt ?? start
  expect(healthAt(record, last)).toBe(expected)
})

test('a failing address is tried again after a week, and a further bounce fails it again', () => {
  const record = after(bounce(0), bounce(12), bounce(24))
  expect(healthAt(record, at(25 * HOUR_MS + 7 * DAY_MS - 1))).toBe('failing')
  expect(healthAt(record, at(25 * HOUR_MS + 7 * DAY_MS))).toBe('healthy')
  const inFlight = afterBounce(record, bounce(48))
  expect(healthAt(inFlight, at(49 * HOUR_MS))).toBe('failing')
  const again = afterBounce(inFlight, bounce(25 + 7 * 24))
  expect(healthAt(again, at((26 + 7 * 24) * HOUR_MS))).toBe('failing')
})
