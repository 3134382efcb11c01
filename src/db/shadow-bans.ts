import type { Db } from './pool.ts'
import { first } from './values.ts'

/** A reporter whose reports are held. */
export type ShadowBan = {
  reporterId: string
  reason: string
  imposedAt: Date
  /** Null: at the command line. */
  imposedBy: string | null
}

const columns = `reporter_id as "reporterId", reason, imposed_at as "imposedAt",
  imposed_by as "imposedBy"`

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

/** One reporter's ban. */
export async function findShadowBan(db: Db, reporterId: string): Promise<ShadowBan | undefined> {
  return first(
    await db.query<ShadowBan>(`select ${columns} from shadow_bans where reporter_id = $1`, [
      reporterId,
    ]),
  )
}

/** A page of the bans, in the order of the reporters' ids, the youngest accounts first. */
export async function listShadowBans(
  db: Db,
  page: { before: string | undefined; limit: number },
): Promise<ShadowBan[]> {
  const { rows } = await db.query<ShadowBan>(
    `select ${columns} from shadow_bans where $1::uuid is null or reporter_id < $1
     order by reporter_id desc limit $2`,
    [page.before ?? null, page.limit],
  )
  return rows
}

/** Bans a reporter, or gives another reason; who is banned already stays so. */
export async function putShadowBan(tx: Db, ban: ShadowBan): Promise<void> {
  await tx.query(
    `insert into shadow_bans (reporter_id, reason, imposed_at, imposed_by)
     values ($1, $2, $3, $4)
     on conflict (reporter_id) do update set reason = excluded.reason`,
    [ban.reporterId, ban.reason, ban.imposedAt, ban.imposedBy],
  )
}

/** Lifts a ban; false when there was none. */
export async function removeShadowBan(tx: Db, reporterId: string): Promise<boolean> {
  const { rowCount } = await tx.query(`delete from shadow_bans where reporter_id = $1`, [
    reporterId,
  ])
  return (rowCount ?? 0) > 0
}
