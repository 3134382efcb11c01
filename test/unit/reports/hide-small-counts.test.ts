import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Cell, hideSmallCounts } from '../../../src/reports/hide-small-counts.ts'

const cell = (key: string, reports: number, reporters = 9): Cell => ({ key, reports, reporters })
const shownOf = (...cells: Cell[]) => {
  const { shown, rest } = hideSmallCounts(cells)
  return [...shown.map(({ key, reports }) => `${key} ${reports}`), `rest ${rest}`]
}

test('large numbers are shown, the most frequent first', () => {
  expect(shownOf(cell('a', 20), cell('b', 300))).toEqual(['b 300', 'a 20', 'rest 0'])
  expect(shownOf(cell('a', 20), cell('b', 0))).toEqual(['a 20', 'rest 0'])
})

test('a number below ten is hidden, with others until their sum does not reveal it', () => {
  expect(shownOf(cell('a', 300), cell('b', 9), cell('c', 8))).toEqual(['a 300', 'rest 17'])
  expect(shownOf(cell('a', 300), cell('b', 50), cell('c', 1))).toEqual(['a 300', 'rest 51'])
  expect(shownOf(cell('a', 300), cell('b', 5), cell('c', 3))).toEqual(['rest 308'])
})

test('a number from one or two people is hidden', () => {
  expect(shownOf(cell('a', 300), cell('b', 50, 2), cell('c', 40))).toEqual(['a 300', 'rest 90'])
})

test('no hidden number can be computed from those that are shown', () => {
  const cells = fc.array(fc.tuple(fc.nat(40), fc.integer({ min: 1, max: 6 })), { maxLength: 12 })
  fc.assert(
    fc.property(cells, (given) => {
      const all = given.map(([reports, reporters], n) => cell(String(n), reports, reporters))
      const { shown, rest } = hideSmallCounts(all)
      const names = new Set(shown.map(({ key }) => key))
      const hidden = all.filter(({ key, reports }) => reports > 0 && !names.has(key))
      expect(rest).toBe(hidden.reduce((sum, { reports }) => sum + reports, 0))
      for (const { key } of shown) {
        const { reports = 0, reporters = 0 } = all.find((one) => one.key === key) ?? {}
        expect([reports >= 10, reporters >= 3]).toEqual([true, true])
      }
      // Everything may be hidden, with a sum that is the published total anyway.
      if (shown.length > 0)
        expect(hidden.length === 0 || (hidden.length > 1 && rest >= 10)).toBe(true)
    }),
  )
})
