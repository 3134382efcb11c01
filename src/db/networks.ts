import sql, { bulk } from 'sql-template-tag'
import type { NetworkLayer, NetworkOverride } from '../origin/networks.ts'
import type { Db } from './pool.ts'
import { numbered, prepared } from './prepared.ts'
import { changesAny, excluded, numberOf, rowOf, rowsOf } from './rows.ts'

/**
 * What a source says about a block: an imported table, or a registry whose answer expires. The
 * `asn` of an answer is the AS that announced the queried address according to the network tables;
 * the answer is valid for that AS only.
 */
export type NewLayer = Pick<NetworkLayer, 'cidr' | 'asn' | 'name' | 'country' | 'contacts'> & {
  expiresAt?: Date
}

/** A layer of the network of `ip`, which is spelled as in the query. */
export type FoundLayer = NetworkLayer & { ip: string }

/** The size and age of a source. */
export type SourceSummary = { source: string; blocks: number; importedAt: Date }

/** Rows per statement; a statement must have fewer than 65,536 parameters. */
export const LAYERS_PER_STATEMENT = 1_000

/**
 * Returns the unexpired layers of all sources for the blocks that contain the addresses, unordered.
 * Addresses in no known block have no row.
 *
 * @throws SQLSTATE 22P02 when an address is invalid
 */
export async function listLayers(db: Db, ips: readonly string[], now: Date): Promise<FoundLayer[]> {
  const { rows } = await db.query<Omit<FoundLayer, 'ip'> & { at: number }>(prepared`
    select asked.at, cidr::text, source, asn, networks.name, country, contacts,
      is_muted as "isMuted", imported_at as "importedAt", expires_at as "expiresAt"
    from ${numbered(ips, 'inet')} as asked (ip, at)
    join networks on cidr >>= asked.ip
    where expires_at is null or expires_at > ${now}`)
  return rows.map(({ at, ...layer }) => ({ ...layer, ip: ips[at - 1] ?? '' }))
}

/**
 * Returns the unexpired layers of all sources for a block, the blocks that contain it and those
 * inside it; undefined when there are more than `limit`.
 */
export async function listLayersOfBlock(
  db: Db,
  cidr: string,
  limit: number,
  now: Date,
): Promise<NetworkLayer[] | undefined> {
  const { rows } = await db.query<NetworkLayer>(sql`
    select cidr::text, source, asn, name, country, contacts, is_muted as "isMuted",
      imported_at as "importedAt", expires_at as "expiresAt"
    from networks
    where (cidr >>= ${cidr}::cidr or cidr << ${cidr}::cidr) and (expires_at is null
      or expires_at > ${now})
    limit ${limit + 1}`)
  return rows.length > limit ? undefined : rows
}

/**
 * Replaces all layers of a source. The layers come in batches of at most `LAYERS_PER_STATEMENT`; of
 * two for one block the last one wins. Returns the number of blocks of the source. Readers see the
 * old or the new layers. A second import of the same source waits for the first.
 */
export async function replaceNetworks(
  tx: Db,
  source: string,
  parts: AsyncIterable<readonly NewLayer[]> | Iterable<readonly NewLayer[]>,
  now: Date,
): Promise<number> {
  await tx.query(sql`
    select pg_advisory_xact_lock(hashtextextended(${`networks ${source}`}, 0))`)
  await tx.query(sql`delete from networks where source = ${source}`)
  for await (const part of parts) await insertLayers(tx, source, part, now)
  return numberOf(tx)`
    select count(*) as blocks from networks where source = ${source}`
}

/** Stores what a source says about blocks; it replaces what the source said about them before. */
export async function insertLayers(
  tx: Db,
  source: string,
  part: readonly NewLayer[],
  now: Date,
): Promise<void> {
  // A statement cannot update a row twice.
  const layers = new Map(part.map((layer) => [layer.cidr, layer]))
  if (layers.size === 0) return
  const sorted = [...layers.values()].sort((one, other) => (one.cidr < other.cidr ? -1 : 1))
  const values = bulk(
    sorted.map(({ cidr, asn, name, country, contacts, expiresAt }) => [
      cidr,
      source,
      asn,
      name,
      country,
      contacts[0] ?? null,
      contacts,
      now,
      expiresAt ?? null,
    ]),
  )
  await tx.query(sql`insert into networks
      (cidr, source, asn, name, country, abuse, contacts, imported_at, expires_at)
    values ${values}
    on conflict (cidr, source) do update set ${excluded`asn, name, country, abuse, contacts,
      imported_at, expires_at`}`)
}

/**
 * Removes deleted rows from the indexes and updates the statistics, so that lookups are fast after
 * an import. Cannot run in a transaction. Does not truncate the file, because that would lock the
 * table exclusively and block readers.
 */
export async function tidyNetworks(db: Db): Promise<void> {
  await db.query(sql`vacuum (analyze, truncate false) networks`)
}

/** Deletes all layers of a source; returns the number of blocks. */
export async function dropSource(tx: Db, source: string): Promise<number> {
  const { rowCount } = await tx.query(sql`delete from networks where source = ${source}`)
  return rowCount ?? 0
}

/** Returns a summary of each source, by name. Reads the whole table. */
export function listSources(db: Db): Promise<SourceSummary[]> {
  return rowsOf(db)`
    select source, count(*) as blocks, max(imported_at) as "importedAt"
    from networks group by source order by source`
}

export async function hasNetworks(db: Db): Promise<boolean> {
  const { rows } = await db.query('select 1 from networks limit 1')
  return rows.length > 0
}

const columns = sql`cidr::text, asn, name, country, contacts, is_muted as "isMuted"`

export function findOverride(db: Db, cidr: string): Promise<NetworkOverride | undefined> {
  return rowOf(db)`
    select ${columns} from networks where cidr = ${cidr}::cidr and source = 'manual'`
}

/** Returns a page of overrides by block; `after` is the last block of the previous page. */
export function listOverrides(
  db: Db,
  page: { after: string | undefined; limit: number },
): Promise<NetworkOverride[]> {
  return rowsOf(db)`select ${columns} from networks
    where source = 'manual' and (${page.after}::cidr is null or cidr > ${page.after}::cidr)
    order by networks.cidr limit ${page.limit}`
}

export async function putOverride(tx: Db, override: NetworkOverride, at: Date): Promise<void> {
  const { cidr, asn, name, country, contacts, isMuted } = override
  await tx.query(sql`insert into networks
      (cidr, source, asn, name, country, abuse, contacts, is_muted, imported_at)
    values (${cidr}, 'manual', ${asn}, ${name}, ${country}, ${contacts[0] ?? null}, ${contacts},
      ${isMuted}, ${at})
    on conflict (cidr, source) do update set ${excluded`asn, name, country, abuse, contacts,
      is_muted, imported_at`}`)
}

/** Deletes the override of exactly this block. False when there was none. */
export function removeOverride(tx: Db, cidr: string): Promise<boolean> {
  return changesAny(tx)`
    delete from networks where cidr = ${cidr}::cidr and source = 'manual'`
}
