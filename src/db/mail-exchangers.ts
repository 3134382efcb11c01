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

/** A machine that handed over mail of an author to the reporters of a domain. */
export type HandOver = { recipientDomain: string; ip: string; authorDomain: string }

/**
 * Stores that machines handed over mail at `now`; writes only what was not stored that day. Returns
 * the number of authors whose mail each has handed over to each domain since a day.
 */
export async function countHandOvers(
  db: Db,
  seen: readonly HandOver[],
  { since, now }: { since: Date; now: Date },
): Promise<{ recipientDomain: string; ip: string; authors: number }[]> {
  const day = dayOf(now)
  const found = await preparedRowsOf(db)<{ recipientDomain: string; ip: string; authors: number }>`
    with given as (
      select distinct recipient_domain, ip, author_domain from unnest(
        ${seen.map(({ recipientDomain }) => recipientDomain)}::text[],
        ${seen.map(({ ip }) => ip)}::inet[],
        ${seen.map(({ authorDomain }) => authorDomain)}::text[]
      ) as given (recipient_domain, ip, author_domain)
    ), noted as (
      insert into hand_overs (recipient_domain, ip, author_domain, seen_on)
      select recipient_domain, ip, author_domain, ${day}::date from given order by 1, 2, 3
      on conflict (recipient_domain, ip, author_domain) do update set seen_on = excluded.seen_on
      where hand_overs.seen_on < excluded.seen_on
    )
    select recipient_domain as "recipientDomain", host(ip) as ip,
      count(distinct author_domain)::int as authors
    from (
      select given.recipient_domain, given.ip, given.author_domain from given
      union all
      select old.recipient_domain, old.ip, old.author_domain
      from given join hand_overs as old using (recipient_domain, ip)
      where old.seen_on >= ${dayOf(since)}::date
    ) as known
    group by recipient_domain, ip`
  return found
}

/** Deletes the hand-overs that were last seen before a day. */
export async function removeHandOvers(db: Db, before: Date): Promise<void> {
  await db.query(sql`delete from hand_overs where seen_on < ${dayOf(before)}::date`)
}

function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10)
}
