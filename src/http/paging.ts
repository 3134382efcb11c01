const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Whether a value from an address is the id of something. */
export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && UUID.test(value)
}

/** A page of a list, and the query that leads to the next one. */
export type ListPage<Row> = { lines: Row[]; next: string | undefined }

/**
 * Makes a page of rows that were fetched with one more than the page holds; `keyOf` gives the
 * query parameters of the page after a row.
 */
export function pageOf<Row>(
  rows: readonly Row[],
  limit: number,
  keyOf: (last: Row) => Record<string, string | undefined>,
): ListPage<Row> {
  const lines = rows.slice(0, limit)
  const last = lines.at(-1)
  if (rows.length <= limit || last === undefined) return { lines, next: undefined }
  return { lines, next: queryOf(keyOf(last)) }
}

/** `?a=b&c=d` of what is defined and not empty. */
export function queryOf(parameters: Record<string, string | undefined>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) if (value) query.set(name, value)
  return `?${query}`
}
