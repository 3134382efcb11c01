import { insertAudit } from './audit-log.ts'
import type { Db } from './pool.ts'

/** A name that is never listed while it holds. */
export type ListExemption = {
  name: string
  /** For administrators; never shown to others. */
  reason: string
  /** Null: for good. */
  expiresAt: Date | null
  /** Null: at the command line. */
  reporterId: string | null
  createdAt: Date
}

/** Which of these names are exempted at an instant. */
export async function findExempted(
  db: Db,
  names: readonly string[],
  now: Date,
): Promise<Set<string>> {
  if (names.length === 0) return new Set()
  const { rows } = await db.query<{ name: string }>(
    `select name from list_exemptions
     where name = any($1::text[]) and (expires_at is null or expires_at > $2)`,
    [names, now],
  )
  return new Set(rows.map(({ name }) => name))
}

/** Exempts a name, in place of what was said before, and writes down who did. */
export async function keepExemption(tx: Db, exemption: ListExemption): Promise<void> {
  const { name, reason, expiresAt, reporterId, createdAt } = exemption
  await tx.query(
    `insert into list_exemptions (name, reason, expires_at, reporter_id, created_at)
     values ($1, $2, $3, $4, $5)
     on conflict (name) do update set reason = excluded.reason, expires_at = excluded.expires_at,
       reporter_id = excluded.reporter_id, created_at = excluded.created_at`,
    [name, reason, expiresAt, reporterId, createdAt],
  )
  const until = expiresAt === null ? 'for good' : `until ${expiresAt.toISOString().slice(0, 10)}`
  const detail = `${name}, ${until}: ${reason}`
  await insertAudit(tx, { at: createdAt, reporterId, action: 'exempt from lists', detail })
}

/** Takes an exemption back, and writes down who did. False when there was none. */
export async function removeExemption(
  tx: Db,
  name: string,
  deed: { at: Date; reporterId: string | null },
): Promise<boolean> {
  const { rowCount } = await tx.query(`delete from list_exemptions where name = $1`, [name])
  if (!rowCount) return false
  await insertAudit(tx, { ...deed, action: 'unexempt from lists', detail: name })
  return true
}

/** A page of the exemptions, by name; `after` is the last name of the page before. */
export async function listExemptions(
  db: Db,
  page: { after: string; limit: number },
): Promise<ListExemption[]> {
  const { rows } = await db.query<ListExemption>(
    `select name, reason, expires_at as "expiresAt", reporter_id as "reporterId",
       created_at as "createdAt"
     from list_exemptions where name > $1 order by name limit $2`,
    [page.after, page.limit],
  )
  return rows
}
