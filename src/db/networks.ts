import type { Network } from '../analysis/network.ts'
import type { Db } from './pool.ts'
import { values } from './values.ts'

const ROWS_PER_STATEMENT = 5_000

/**
 * Networks whose block is one of `blocks`: the longest prefix first, and of two sources for the
 * same block the one imported last first.
 */
export async function listNetworks(db: Db, blocks: readonly string[]): Promise<Network[]> {
  const { rows } = await db.query<Network>(
    `select cidr::text, asn, name, country, abuse, contacts
     from networks where cidr = any($1::cidr[]) and source <> 'registry'
     order by masklen(cidr) desc, imported_at desc`,
    [blocks],
  )
  return rows
}

/** Replaces all that `source` told earlier. In one transaction readers see the old or the new. */
export async function replaceNetworks(
  tx: Db,
  source: string,
  networks: readonly Network[],
  now: Date,
): Promise<void> {
  await tx.query(`delete from networks where source = $1`, [source])
  for (let at = 0; at < networks.length; at += ROWS_PER_STATEMENT) {
    const { text, params } = values(
      networks
        .slice(at, at + ROWS_PER_STATEMENT)
        .map(({ cidr, asn, name, country, abuse, contacts }) => [
          cidr,
          source,
          asn,
          name,
          country,
          abuse,
          contacts,
          now,
        ]),
    )
    await tx.query(
      `insert into networks (cidr, source, asn, name, country, abuse, contacts,
         imported_at) values ${text}
       on conflict (cidr, source) do update set asn = excluded.asn, name = excluded.name,
         country = excluded.country, abuse = excluded.abuse,
         contacts = excluded.contacts`,
      params,
    )
  }
}

/** Whether any network is known. */
export async function hasNetworks(db: Db): Promise<boolean> {
  const { rows } = await db.query('select 1 from networks limit 1')
  return rows.length > 0
}
