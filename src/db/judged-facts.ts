import type { VerdictClass } from '../verdict/verdict.ts'
import type { Db } from './pool.ts'

/** What a report was judged by, as it was known then. */
export type JudgedFacts = {
  id: string
  /** As `packFacts` made them. */
  facts: Buffer
  verdictClass: VerdictClass
  /** What the model said; null when none acted. */
  probability: number | null
}

/** Not of a report without effect on others. */
const counts = `not exists (
  select from reports where reports.id = analyses.id and shadow is not null)`

/** Facts of the newest reports, newest first; `before` is the last id of the page before. */
export async function listJudgedFacts(
  db: Db,
  page: { before: string | undefined; limit: number },
): Promise<JudgedFacts[]> {
  const { rows } = await db.query<JudgedFacts>(
    `select id, facts, verdict_class as "verdictClass",
       (judgment #>> '{verdict,probability}')::float8 as probability
     from analyses where facts is not null and ($1::uuid is null or id < $1) and ${counts}
     order by id desc limit $2`,
    [page.before ?? null, page.limit],
  )
  return rows
}

/** How often each symbol was raised in the newest reports, and how many reports those were. */
export async function countRaisedSymbols(
  db: Db,
  reports: number,
): Promise<{ reports: number; raised: ReadonlyMap<string, number> }> {
  const { rows } = await db.query<{ symbols: { name: string }[] | null }>(
    `select judgment #> '{verdict,symbols}' as symbols from analyses where ${counts}
     order by id desc limit $1`,
    [reports],
  )
  const raised = new Map<string, number>()
  for (const { name } of rows.flatMap(({ symbols }) => symbols ?? [])) {
    raised.set(name, (raised.get(name) ?? 0) + 1)
  }
  return { reports: rows.length, raised }
}
