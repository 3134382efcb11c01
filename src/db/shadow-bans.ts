import type { Db } from './pool.ts'

/** A reporter whose reports are put aside. */
export type ShadowBan = {
  reporterId: string
  reason: string
  imposedAt: Date
  /** Null: at the command line. */
  imposedBy: string | null
}

/** Which of these reporters are banned. */
export async function listBannedAmong(
  db: Db,
  reporterIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ reporterId: string }>({
    name: 'list-banned-among',
    text: `select reporter_id as "reporterId" from shadow_bans
      where reporter_id = any($1::uuid[])`,
    values: [reporterIds],
  })
  return new Set(rows.map(({ reporterId }) => reporterId))
}
