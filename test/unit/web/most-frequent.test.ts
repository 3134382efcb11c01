import { expect, test } from 'vitest'
import { mostFrequent } from '../../../src/web/admin/reports.ts'

test('what occurs most often comes first, and what is as frequent in its order', () => {
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
