import type { NetworkOverride } from '../verdict/network-override.ts'
import { insertAudit } from './audit-log.ts'
import type { Db } from './pool.ts'

/** Who does it, and when; null at the command line. */
export type Deed = { at: Date; reporterId: string | null }

const columns = `cidr::text, asn, name, country, contacts, is_muted as "isMuted"`

/** What is said by hand of exactly this block. */
export async function findOverride(db: Db, cidr: string): Promise<NetworkOverride | undefined> {
  const { rows } = await db.query<NetworkOverride>(
    `select ${columns} from networks where cidr = $1::cidr and source = 'manual'`,
    [cidr],
  )
  return rows[0]
}

/** A page of what is said by hand, by block; `after` is the last block of the page before. */
export async function listOverrides(
  db: Db,
  page: { after: string | undefined; limit: number },
): Promise<NetworkOverride[]> {
  const { rows } = await db.query<NetworkOverride>(
    `select ${columns} from networks
     where source = 'manual' and ($1::cidr is null or cidr > $1::cidr)
     order by networks.cidr limit $2`,
    [page.after ?? null, page.limit],
  )
  return rows
}

/** Keeps what is said of a block in place of what was said before, and writes down who said it. */
export async function keepOverride(tx: Db, override: NetworkOverride, deed: Deed): Promise<void> {
  const { cidr, asn, name, country, contacts, isMuted } = override
  await tx.query(
    `insert into networks
       (cidr, source, asn, name, country, abuse, contacts, is_muted, imported_at)
     values ($1, 'manual', $2, $3, $4, $5, $6, $7, $8)
     on conflict (cidr, source) do update set asn = excluded.asn, name = excluded.name,
       country = excluded.country, abuse = excluded.abuse, contacts = excluded.contacts,
       is_muted = excluded.is_muted, imported_at = excluded.imported_at`,
    [cidr, asn, name, country, contacts[0] ?? null, contacts, isMuted, deed.at],
  )
  const said = [
    `abuse ${isMuted ? 'none' : contacts.join(', ') || 'as others say'}`,
    ...(name === null ? [] : [`name ${name}`]),
    ...(asn === null ? [] : [`AS${asn}`]),
    ...(country === null ? [] : [country]),
  ]
  const detail = `${cidr}: ${said.join('; ')}`
  await insertAudit(tx, { ...deed, action: 'set network', detail })
}

/** Takes back what was said of exactly this block. False when nothing was. */
export async function removeOverride(tx: Db, cidr: string, deed: Deed): Promise<boolean> {
  const { rowCount } = await tx.query(
    `delete from networks where cidr = $1::cidr and source = 'manual'`,
    [cidr],
  )
  if (!rowCount) return false
  await insertAudit(tx, { ...deed, action: 'unset network', detail: cidr })
  return true
}
