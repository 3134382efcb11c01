import sql, { bulk } from 'sql-template-tag'
import { dateOf } from '../durations.ts'
import type { Db } from './pool.ts'
import { isOneOf, preparedInsert, preparedRowsOf } from './prepared.ts'
import { rowsOf } from './rows.ts'

/** A host that the MX records of a domain named: its name, or an address to which it resolved. */
export type NamedExchanger = { domain: string; host: string }

/** Returns the hosts that the records of a domain named on `since` or later. */
export async function listExchangers(db: Db, domain: string, since: Date): Promise<string[]> {
  const found = await preparedRowsOf(db)<{ host: string }>`
    select host from mail_exchangers
    where domain = ${domain} and named_on >= ${dateOf(since)}::date`
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
  const day = dateOf(now)
  const ordered = named.toSorted((one, other) => (one.host < other.host ? -1 : 1))
  const values = bulk(ordered.map(({ domain, host }) => [domain, host, day]))
  await db.query(sql`
    insert into mail_exchangers (domain, host, named_on) values ${values}
    on conflict (domain, host) do update set named_on = excluded.named_on
    where mail_exchangers.named_on < excluded.named_on`)
}

export type HandOver = { reporterId: string; ip: string; authorDomain: string }

/**
 * Stores that machines handed over mail at `now`; writes only what was not stored that day. Returns
 * the number of authors whose mail each has handed over to each reporter since a day.
 */
export async function countHandOvers(
  db: Db,
  seen: readonly HandOver[],
  { since, now }: { since: Date; now: Date },
): Promise<{ reporterId: string; ip: string; authors: number }[]> {
  const ids = [...new Set(seen.map(({ reporterId }) => reporterId))]
  const rows = new Map(
    seen.map(({ reporterId, ip, authorDomain }) => {
      const key = [reporterId, ip, authorDomain]
      return [key.join(' '), [...key, dateOf(now)]]
    }),
  )
  const ordered = [...rows].toSorted(([one], [other]) => (one < other ? -1 : 1))
  await db.query(
    preparedInsert(
      ordered.map(([, row]) => row),
      (values) => sql`
        insert into hand_overs (reporter_id, ip, author_domain, seen_on) values ${values}
        on conflict (reporter_id, ip, author_domain) do update set seen_on = excluded.seen_on
        where hand_overs.seen_on < excluded.seen_on`,
    ),
  )
  return preparedRowsOf(db)`
    select reporter_id as "reporterId", host(ip) as ip, count(*)::int as authors from hand_overs
    where ${isOneOf('reporter_id', ids, 'uuid[]')} and seen_on >= ${dateOf(since)}::date
    group by reporter_id, hand_overs.ip`
}

/** Returns the machines that handed over mail to a reporter, and the authors of that mail. */
export function listHandOvers(
  db: Db,
  reporterId: string,
): Promise<{ ip: string; authorDomain: string; seenOn: string }[]> {
  return rowsOf(db)`
    select host(ip) as ip, author_domain as "authorDomain", seen_on::text as "seenOn"
    from hand_overs where reporter_id = ${reporterId} order by hand_overs.ip, author_domain`
}
