import type { Db } from './pool.ts'
import { first } from './rows.ts'

/** Why nobody writes to an address. */
type SuppressionReason = 'hard-bounce' | 'soft-bounces' | 'complaint' | 'stop' | 'operator'

/** An address we do not write to. */
export type Suppression = {
  /** In lower case. */
  address: string
  reason: SuppressionReason
  /** Enhanced status code of the bounce (RFC 3463). */
  status: string | null
  /** A sentence for an operator, without personal data. */
  detail: string
  since: Date
  /** Null: for good. */
  until: Date | null
}

/** Weaker reasons give way to stronger ones. */
const strength: Record<SuppressionReason, number> = {
  'soft-bounces': 1,
  'hard-bounce': 2,
  complaint: 3,
  stop: 4,
  operator: 5,
}

/**
 * Keeps that an address is not written to. One that is suppressed already for a stronger reason
 * that still holds stays as it is.
 */
export async function suppress(tx: Db, suppression: Suppression): Promise<void> {
  const address = suppression.address.toLowerCase()
  const weaker = Object.entries(strength)
    .filter(([, its]) => its <= strength[suppression.reason])
    .map(([reason]) => reason)
  await tx.query(
    `insert into suppressions (address, reason, status, detail, since, until)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (address) do update
     set reason = excluded.reason, status = excluded.status, detail = excluded.detail,
       since = excluded.since, until = excluded.until
     where suppressions.reason = any($7::text[]) or suppressions.until <= excluded.since`,
    [
      address,
      suppression.reason,
      suppression.status,
      suppression.detail,
      suppression.since,
      suppression.until,
      weaker,
    ],
  )
}

/** Those of the addresses that are suppressed at an instant, in lower case. */
export async function listSuppressed(
  db: Db,
  addresses: readonly string[],
  now: Date,
): Promise<Map<string, Suppression>> {
  if (addresses.length === 0) return new Map()
  const { rows } = await db.query<Suppression>(
    `select address, reason, status, detail, since, until from suppressions
     where address = any($1::text[]) and (until is null or until > $2)`,
    [addresses.map((address) => address.toLowerCase()), now],
  )
  return new Map(rows.map((row) => [row.address, row]))
}

/** A page of all of them by address, ended ones too; `part` is what their addresses hold. */
export async function listSuppressions(
  db: Db,
  { after, part, limit }: { after?: string | undefined; part?: string | undefined; limit: number },
): Promise<Suppression[]> {
  const { rows } = await db.query<Suppression>(
    `select address, reason, status, detail, since, until from suppressions
     where ($1::text is null or address > $1)
       and ($2::text is null or strpos(address, $2) > 0)
     order by address limit $3`,
    [after ?? null, part?.toLowerCase() ?? null, limit],
  )
  return rows
}

/** Lets an address be written to again; returns what was kept of it. */
export async function removeSuppression(db: Db, address: string): Promise<Suppression | undefined> {
  return first(
    await db.query<Suppression>(
      `delete from suppressions where address = $1
       returning address, reason, status, detail, since, until`,
      [address.toLowerCase()],
    ),
  )
}

/** Forgets those that ended before an instant. */
export async function removeEndedSuppressions(db: Db, before: Date): Promise<void> {
  await db.query(`delete from suppressions where until < $1`, [before])
}
