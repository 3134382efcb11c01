/** What occurred, and how often. */
export type Frequency = { value: string; count: number }

/**
 * The values that occur most often, at most `limit` of them; those that are as frequent in the
 * order of their coming. `more` is how many different ones are left out.
 */
export function mostFrequent(
  values: readonly string[],
  limit: number,
): { lines: Frequency[]; more: number } {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  const all = [...counts].map(([value, count]) => ({ value, count }))
  all.sort((a, b) => b.count - a.count)
  return { lines: all.slice(0, limit), more: Math.max(0, all.length - limit) }
}
