/** The rows of one multi-row `VALUES`, with their parameters in order. */
export type Values = { text: string; params: unknown[] }

/** `($1,$2),($3,$4)…` for rows of equal length. */
export function values(rows: readonly (readonly unknown[])[]): Values {
  let at = 0
  const text = rows.map((row) => `(${row.map(() => `$${++at}`).join(',')})`).join(',')
  return { text, params: rows.flat() }
}

/** The first row of an answer, or undefined. */
export function first<T>({ rows }: { rows: T[] }): T | undefined {
  return rows[0]
}
