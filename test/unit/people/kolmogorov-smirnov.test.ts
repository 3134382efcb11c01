import { expect, test } from 'vitest'
import { compareSamples } from '../../support/kolmogorov-smirnov.ts'

const grid = (count: number, shift = 0) =>
  Array.from({ length: count }, (_, n) => (n + 0.5) / count + shift)

test('samples of one distribution are not distinguished', () => {
  expect(compareSamples(grid(1_000), grid(997)).chance).toBeGreaterThan(0.99)
})

test('a shift of 0.08 of the spread is found, one of 0.02 is not', () => {
  expect(compareSamples(grid(1_000), grid(1_000, 0.08)).chance).toBeLessThan(0.01)
  expect(compareSamples(grid(1_000), grid(1_000, 0.02)).chance).toBeGreaterThan(0.9)
})

test('the critical value equals that of the published tables', () => {
  // For large samples, the critical distance for 0.01 is 1.628 (n m / (n + m))^-1/2.
  const distance = 1.628 / Math.sqrt(2_000)
  const { chance } = compareSamples(grid(4_000), grid(4_000, distance))
  expect(chance).toBeGreaterThan(0.008)
  expect(chance).toBeLessThan(0.011)
})
