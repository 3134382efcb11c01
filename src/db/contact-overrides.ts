import sql from 'sql-template-tag'
import type { ContactOverride } from '../mail/page-notice.ts'
import type { PageNotice } from './page-notices.ts'
import type { Db } from './pool.ts'
import { changesAny, excluded, rowsOf } from './rows.ts'

/** An override, who set it (null at the command line), when and why. */
export type StoredOverride = ContactOverride & {
  note: string | null
  setBy: string | null
  setAt: Date
}

/** A contact to which notices about pages went, or where an operator has to write. */
export type NotifiedContact = Pick<PageNotice, 'contact' | 'name' | 'isOverride'> & {
  role: ContactOverride['role']
}

export function listContactOverrides(db: Db): Promise<StoredOverride[]> {
  return rowsOf(db)`
    select role, name, contacts, is_muted as "isMuted", note, set_by as "setBy", set_at as "setAt"
    from contact_overrides order by name, role`
}

export async function putContactOverride(tx: Db, override: StoredOverride): Promise<void> {
  const { role, name, contacts, isMuted, note, setBy, setAt } = override
  await tx.query(sql`
    insert into contact_overrides (role, name, contacts, is_muted, note, set_by, set_at)
    values (${role}, ${name}, ${contacts}, ${isMuted}, ${note}, ${setBy}, ${setAt})
    on conflict (role, name) do update set
      ${excluded`contacts, is_muted, note, set_by, set_at`}`)
}

/** Deletes an override; false if there was none. */
export function removeContactOverride(
  tx: Db,
  { role, name }: Pick<ContactOverride, 'role' | 'name'>,
): Promise<boolean> {
  return changesAny(tx)`delete from contact_overrides where role = ${role} and name = ${name}`
}

/** Returns the contacts of all registrars, platforms and CDNs that could stop a page. */
export function listNotifiedContacts(db: Db): Promise<NotifiedContact[]> {
  return rowsOf(db)`
    select distinct case role when 'redirector' then 'platform' else role end as role,
      name, contact, is_override as "isOverride"
    from page_notices where role in ('platform', 'redirector', 'cdn', 'registrar')
    order by name, contact`
}
