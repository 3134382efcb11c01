import sql from 'sql-template-tag'
import type { Db } from './pool.ts'
import { isOneOf, prepared } from './prepared.ts'
import { excluded, rowOf, rowsOf } from './rows.ts'

type SuppressionReason = 'hard-bounce' | 'soft-bounces' | 'complaint' | 'stop' | 'operator'

/** An address that this program must not send mail to. */
export type Suppression = {
  /** In lower case. */
  address: string
  reason: SuppressionReason
  /** Enhanced status code of the bounce (RFC 3463). */
  status: string | null
  /** The operator's reason, or a code of the bounce or refusal; may be empty. */
  detail: string
  since: Date
  /** Null: no expiry. */
  until: Date | null
}

/** A stronger reason replaces a weaker one. */
const strength: Record<SuppressionReason, number> = {
  'soft-bounces': 1,
  'hard-bounce': 2,
  complaint: 3,
  stop: 4,
  operator: 5,
}

/**
 * Suppresses an address. An existing suppression for a stronger reason stays unchanged until it
 * expires.
 */
export async function suppress(tx: Db, suppression: Suppression): Promise<void> {
  const address = suppression.address.toLowerCase()
  const weaker = Object.entries(strength)
    .filter(([, its]) => its <= strength[suppression.reason])
    .map(([reason]) => reason)
  await tx.query(sql`insert into suppressions (address, reason, status, detail, since, until)
    values (${address}, ${suppression.reason}, ${suppression.status}, ${suppression.detail},
      ${suppression.since}, ${suppression.until})
    on conflict (address) do update set ${excluded`reason, status, detail, since, until`}
    where suppressions.reason = any(${weaker}::text[]) or suppressions.until <= excluded.since`)
}

/** Returns the given addresses that are suppressed at an instant, by address in lower case. */
export async function listSuppressed(
  db: Db,
  addresses: readonly string[],
  now: Date,
): Promise<Map<string, Suppression>> {
  if (addresses.length === 0) return new Map()
  const lower = addresses.map((address) => address.toLowerCase())
  const { rows } = await db.query<Suppression>(prepared`
    select address, reason, status, detail, since, until from suppressions
    where ${isOneOf('address', lower, 'text[]')}
      and (until is null or until > ${now})`)
  return new Map(rows.map((row) => [row.address, row]))
}

/**
 * Returns a page of all suppressions by address, including expired ones; `part` is a substring of
 * the address.
 */
export function listSuppressions(
  db: Db,
  { after, part, limit }: { after?: string | undefined; part?: string | undefined; limit: number },
): Promise<Suppression[]> {
  return rowsOf(db)`
    select address, reason, status, detail, since, until from suppressions
    where (${after}::text is null or address > ${after}::text)
      and (${part?.toLowerCase()}::text is null or strpos(address,
        ${part?.toLowerCase()}::text) > 0)
    order by address limit ${limit}`
}

export function removeSuppression(db: Db, address: string): Promise<Suppression | undefined> {
  return rowOf(db)`
      delete from suppressions where address = ${address.toLowerCase()}
      returning address, reason, status, detail, since, until`
}
