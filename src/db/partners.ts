import sql from 'sql-template-tag'
import type { Db } from './pool.ts'
import type { SealedFor } from './sealed-bytes.ts'
import { changesAny, excluded, rowsOf } from './rows.ts'

/** A partner that an operator enabled. */
export type EnabledPartner = {
  key: string
  /** The address of a partner that gets mail. */
  contact: string | null
  /** The encrypted key of our account, for a partner that gave one. */
  sealedKey: Buffer | null
  enabledAt: Date
}

/** For what the key of our account at a partner is encrypted. */
export function sealOf({ key: owner }: Pick<EnabledPartner, 'key'>): SealedFor {
  return { purpose: 'partner key', owner }
}

export function listEnabledPartners(db: Db): Promise<EnabledPartner[]> {
  return rowsOf(db)`
    select key, contact, sealed_key as "sealedKey", enabled_at as "enabledAt" from partners
    order by key`
}

/** Enables a partner, or changes one that is enabled. */
export async function putPartner(
  tx: Db,
  { key, contact, sealedKey, enabledAt }: EnabledPartner,
): Promise<void> {
  await tx.query(sql`
    insert into partners (key, contact, sealed_key, enabled_at)
    values (${key}, ${contact}, ${sealedKey}, ${enabledAt})
    on conflict (key) do update set ${excluded`contact, sealed_key`}`)
}

/** Disables a partner; false if it was not enabled. */
export function removePartner(tx: Db, key: string): Promise<boolean> {
  return changesAny(tx)`delete from partners where key = ${key}`
}
