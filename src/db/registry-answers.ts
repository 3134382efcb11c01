import type { Network } from '../analysis/network.ts'
import type { Db } from './pool.ts'
import { values } from './values.ts'

/** An answer to be kept: a block each, with contacts or without, until it grows old. */
export type NewRegistryRow = Pick<Network, 'cidr' | 'name' | 'country' | 'contacts'> & {
  expiresAt: Date
}

/**
 * Those addresses about whose networks a registry has answered; what has grown old does not count.
 *
 * @throws SQLSTATE 22P02 when an address is none
 */
export async function listAnswered(
  db: Db,
  ips: readonly string[],
  now: Date,
): Promise<Set<string>> {
  if (ips.length === 0) return new Set()
  const { rows } = await db.query<{ at: number }>(
    `select distinct asked.at from unnest($1::inet[]) with ordinality as asked (ip, at)
     join networks on cidr >>= asked.ip
     where source = 'registry' and expires_at > $2`,
    [ips, now],
  )
  return new Set(rows.flatMap(({ at }) => ips[at - 1] ?? []))
}

/** Keeps answers; what was kept about the same blocks before is replaced. */
export async function keepRegistryRows(
  tx: Db,
  answers: readonly NewRegistryRow[],
  now: Date,
): Promise<void> {
  const byBlock = new Map(answers.map((answer) => [answer.cidr, answer]))
  if (byBlock.size === 0) return
  const sorted = [...byBlock.values()].sort((one, other) => (one.cidr < other.cidr ? -1 : 1))
  const { text, params } = values(
    sorted.map(({ cidr, name, country, contacts, expiresAt }) => [
      cidr,
      'registry',
      name,
      country,
      contacts[0] ?? null,
      contacts,
      now,
      expiresAt,
    ]),
  )
  await tx.query(
    `insert into networks (cidr, source, name, country, abuse, contacts, imported_at, expires_at)
     values ${text}
     on conflict (cidr, source) do update set name = excluded.name, country = excluded.country,
       abuse = excluded.abuse, contacts = excluded.contacts, imported_at = excluded.imported_at,
       expires_at = excluded.expires_at`,
    params,
  )
}

/** Forgets the answers that had grown old before an instant; returns how many. */
export async function removeRegistryRows(db: Db, before: Date): Promise<number> {
  const { rowCount } = await db.query(
    `delete from networks where source = 'registry' and expires_at < $1`,
    [before],
  )
  return rowCount ?? 0
}
