import sql, { bulk } from 'sql-template-tag'
import type { Db } from './pool.ts'
import { preparedRowsOf } from './prepared.ts'

/** A host that the MX records of a domain named: its name, or an address to which it resolved. */
export type NamedExchanger = { domain: string; host: string }

/** Returns the hosts that the records of a domain named on `since` or later. */
export async function listExchangers(db: Db, domain: string, since: Date): Promise<string[]> {
  const found = await preparedRowsOf(db)<{ host: string }>`
    select host from mail_exchangers
    where domain = ${domain} and named_on >= ${dayOf(since)}::date`
  return found.map(({ host }) => host)
}

/**
 * Stores that records named these distinct hosts at `now`; writes only the hosts that were not
 * named that day.
 */
export async function noteExchangers(
  db: Db,
  named: readonly NamedExchanger[],
  now: Date,
): Promise<void> {
  if (named.length === 0) return
  const day = dayOf(now)
  const ordered = named.toSorted((one, other) => (one.host < other.host ? -1 : 1))
  const values = bulk(ordered.map(({ domain, host }) => [domain, host, day]))
  await db.query(sql`
    insert into mail_exchangers (domain, host, named_on) values ${values}
    on conflict (domain, host) do update set named_on = excluded.named_on
    where mail_exchangers.named_on < excluded.named_on`)
}

/** Deletes the hosts that no records have named since `before`. */
export async function removeExchangers(db: Db, before: Date): Promise<void> {
  await db.query(sql`delete from mail_exchangers where named_on < ${dayOf(before)}::date`)
}

function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10)
}
