import { findKarmas } from '../db/karmas.ts'
import type { Db } from '../db/pool.ts'
import { karmaOf } from '../reputation/karma.ts'

/** How far reporters are believed, 0 to 1, by their ids: each of the ids is there. */
export async function readKarmas(
  db: Db,
  reporterIds: readonly string[],
  now: Date,
): Promise<Map<string, number>> {
  const ids = [...new Set(reporterIds)]
  const known = new Map((await findKarmas(db, ids)).map((row) => [row.reporterId, row]))
  return new Map(ids.map((id) => [id, karmaOf(known.get(id), now)]))
}
