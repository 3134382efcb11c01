import type { Network } from '../analysis/network.ts'
import type { Db } from './pool.ts'
import { values } from './values.ts'

/** What a registry said of a block, or what an operator decided about it. */
export type RegistryRow = Network & { source: 'registry' | 'manual' }

/** An answer to be kept: a block each, with contacts or without, until it grows old. */
export type NewRegistryRow = Pick<Network, 'cidr' | 'name' | 'country' | 'contacts'> & {
  expiresAt: Date
}

/**
 * What registries and operators say of networks whose block is one of `blocks`: operators first,
 * then the longest prefix. Answers that have grown old are not among them.
 */
export async function listRegistryRows(
  db: Db,
  blocks: readonly string[],
  now: Date,
): Promise<RegistryRow[]> {
  const { rows } = await db.query<RegistryRow>(
    `select cidr::text, source, asn, name, country, abuse, contacts
     from networks
     where cidr = any($1::cidr[])
       and (source = 'manual' or source = 'registry' and expires_at > $2)
     order by source = 'manual' desc, masklen(cidr) desc`,
    [blocks, now],
  )
  return rows
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
