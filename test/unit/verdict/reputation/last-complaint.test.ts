import { expect, test } from 'vitest'
import { lastComplaintAt } from '../../../../src/verdict/reputation/detail.ts'

const DAY_MS = 86_400_000
const seen = new Date('2026-11-20T12:00:00Z')
const first = new Date('2026-10-01T00:00:00Z')

function daysBefore(recentBad: number, foldedDaysLater = 0): number {
  const foldedAt = new Date(seen.getTime() + foldedDaysLater * DAY_MS)
  const at = lastComplaintAt({ recentBad, firstSeenAt: first, lastSeenAt: seen, foldedAt })
  return (seen.getTime() - at.getTime()) / DAY_MS
}

test('a proven reporter complained when it was last seen', () => {
  expect(daysBefore(0.5)).toBeCloseTo(0)
  expect(daysBefore(40)).toBe(0)
  expect(daysBefore(0.25, 1)).toBeCloseTo(0)
})

test('reports of newcomers do not make the last complaint more recent', () => {
  expect(daysBefore(0.3)).toBeGreaterThan(40)
  expect(daysBefore(0)).toBeGreaterThan(40)
})

test('if recent evidence has faded, the last complaint is older', () => {
  expect(daysBefore(0.4)).toBeCloseTo(1)
  expect(daysBefore(0.35)).toBeCloseTo(2)
})

test('it is never older than the evidence', () => {
  expect(daysBefore(0)).toBe((seen.getTime() - first.getTime()) / DAY_MS)
})
