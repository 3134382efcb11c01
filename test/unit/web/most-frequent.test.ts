import { expect, test } from 'vitest'
import { mostFrequent } from '../../../src/web/admin/reports.ts'

test('the most frequent values come first, equally frequent ones in order', () => {
  expect(mostFrequent(['b', 'a', 'c', 'a', 'b', 'd', 'a'], 3)).toEqual({
    lines: [
      { value: 'a', count: 3 },
      { value: 'b', count: 2 },
      { value: 'c', count: 1 },
    ],
    more: 1,
  })
  expect(mostFrequent([], 3)).toEqual({ lines: [], more: 0 })
})
