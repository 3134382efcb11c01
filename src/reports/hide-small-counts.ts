/** The number of reports under a name, and of the people who sent them. */
export type Cell = { key: string; reports: number; reporters: number }

/** The published parts of a total, most frequent first, and the sum of the others. */
export type Shares = { shown: { key: string; reports: number }[]; rest: number }

/** Smaller numbers of reports are not published. */
export const REPORTS_FLOOR = 10

/**
 * Numbers from fewer people are not published: one of two people could subtract their own reports.
 */
export const REPORTERS_FLOOR = 3

export function isLargeEnough({ reports, reporters }: Omit<Cell, 'key'>): boolean {
  return reports >= REPORTS_FLOOR && reporters >= REPORTERS_FLOOR
}

/**
 * Hides the small ones of the cells that make up a published total. Their sum can be computed from
 * the total, so it must not reveal one of them: it is zero, or it is of at least two cells and
 * reaches the floor. To achieve this, further cells are hidden, the smallest first.
 */
export function hideSmallCounts(cells: readonly Cell[]): Shares {
  const present = cells
    .filter(({ reports }) => reports > 0)
    .toSorted((a, b) => b.reports - a.reports || (a.key < b.key ? -1 : 1))
  const shown = present.filter(isLargeEnough)
  const total = sumOf(present)
  const revealsCell = () => {
    const [rest, hidden] = [total - sumOf(shown), present.length - shown.length]
    return hidden > 0 && (hidden === 1 || rest < REPORTS_FLOOR)
  }
  while (shown.length > 0 && revealsCell()) shown.pop()
  return {
    shown: shown.map(({ key, reports }) => ({ key, reports })),
    rest: total - sumOf(shown),
  }
}

function sumOf(cells: readonly Cell[]): number {
  return cells.reduce((sum, { reports }) => sum + reports, 0)
}
