const NAMES_MAX = 2_000
const CHARS_MAX = 80

/**
 * Returns the most similar name in a list, or undefined when none is similar: at most a third of
 * its letters may be wrong, missing or transposed.
 */
export function suggest(written: string, names: readonly string[]): string | undefined {
  if (written.length > CHARS_MAX) return undefined
  let [best, bestDistance] = [undefined as string | undefined, Number.POSITIVE_INFINITY]
  for (const name of names.slice(0, NAMES_MAX)) {
    const distance = distanceOf(written.toLowerCase(), name.toLowerCase())
    if (distance < bestDistance) [best, bestDistance] = [name, distance]
  }
  return best !== undefined && bestDistance <= Math.max(1, best.length / 3) ? best : undefined
}

/**
 * Returns the number of insertions, deletions, substitutions and transpositions (optimal string
 * alignment distance).
 */
export function distanceOf(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      next[j] = Math.min(
        (row[j] ?? 0) + 1,
        (next[j - 1] ?? 0) + 1,
        (row[j - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    ;[before, row] = [row, next]
  }
  return row[b.length] ?? 0
}
