import { expect, test } from 'vitest'
import {
  saturated,
  crowdEffect,
  sourcesAtLeast,
} from '../../../../src/verdict/reputation/detail.ts'

test.for([0, 1, 2, 5, 31, 32])(
  '%d sources are never shown as more, however much they report',
  (n) => {
    for (const sayings of [1, 3, 1e6]) {
      const evidence = n * saturated(sayings) + crowdEffect(1e6)
      expect(sourcesAtLeast(evidence)).toBeLessThanOrEqual(n + 1e-9)
    }
  },
)

test('above the number of separate sources the total is unknown', () => {
  expect(sourcesAtLeast(64)).toBe(32)
  expect(sourcesAtLeast(Number.POSITIVE_INFINITY)).toBe(32)
})
