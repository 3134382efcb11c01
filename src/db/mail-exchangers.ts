import sql, { bulk } from 'sql-template-tag'
import type { Db } from './pool.ts'
import { preparedRowsOf } from './prepared.ts'
import { rowsOf } from './rows.ts'

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

/** A machine that handed over mail of an author to the reporters of a domain. */
export type HandOver = { recipientDomain: string; ip: string; authorDomain: string }

/** Stores that machines handed over mail at `now`; writes only what was not stored that day. */
export async function noteHandOvers(db: Db, seen: readonly HandOver[], now: Date): Promise<void> {
  const rows = new Map(
    seen.map(({ recipientDomain, ip, authorDomain }) => {
      const key = [recipientDomain, ip, authorDomain]
      return [key.join(' '), [...key, dayOf(now)]]
    }),
  )
  const ordered = [...rows].toSorted(([one], [other]) => (one < other ? -1 : 1))
  await db.query(sql`
    insert into hand_overs (recipient_domain, ip, author_domain, seen_on)
    values ${bulk(ordered.map(([, row]) => row))}
    on conflict (recipient_domain, ip, author_domain) do update set seen_on = excluded.seen_on
    where hand_overs.seen_on < excluded.seen_on`)
}

/** Counts the authors whose mail each machine handed over to each domain since a day. */
export function countHandOvers(
  db: Db,
  seen: readonly HandOver[],
  since: Date,
): Promise<{ recipientDomain: string; ip: string; authors: number }[]> {
  return rowsOf(db)`
    select recipient_domain as "recipientDomain", host(ip) as ip, count(*)::int as authors
    from hand_overs
    where (recipient_domain, ip) in (
        select asked.domain, asked.ip from unnest(
          ${seen.map(({ recipientDomain }) => recipientDomain)}::text[],
          ${seen.map(({ ip }) => ip)}::inet[]) as asked (domain, ip))
      and seen_on >= ${dayOf(since)}::date
    group by recipient_domain, hand_overs.ip`
}

/** Deletes the hand-overs that were last seen before a day. */
export async function removeHandOvers(db: Db, before: Date): Promise<void> {
  await db.query(sql`delete from hand_overs where seen_on < ${dayOf(before)}::date`)
}

function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10)
}
