/**
 * The distance between two samples, and the probability of a distance at least as large by chance.
 */
export type Comparison = { distance: number; chance: number }

/**
 * The two-sample Kolmogorov-Smirnov test: the largest distance between the two empirical
 * distributions, and its asymptotic probability if both samples come from one distribution
 * (Numerical Recipes §14.3, with Stephens' correction for small samples).
 */
export function compareSamples(one: readonly number[], other: readonly number[]): Comparison {
  const [a, b] = [one.toSorted((x, y) => x - y), other.toSorted((x, y) => x - y)]
  let [i, j, distance] = [0, 0, 0]
  while (i < a.length && j < b.length) {
    const value = Math.min(a[i] ?? Infinity, b[j] ?? Infinity)
    while (i < a.length && a[i] === value) i++
    while (j < b.length && b[j] === value) j++
    distance = Math.max(distance, Math.abs(i / a.length - j / b.length))
  }
  const size = Math.sqrt((a.length * b.length) / (a.length + b.length))
  return { distance, chance: chanceOf((size + 0.12 + 0.11 / size) * distance) }
}

function chanceOf(lambda: number): number {
  if (lambda < 0.2) return 1
  let sum = 0
  for (let k = 1; k <= 100; k++) sum += (k % 2 ? 2 : -2) * Math.exp(-2 * k * k * lambda * lambda)
  return Math.min(1, Math.max(0, sum))
}
