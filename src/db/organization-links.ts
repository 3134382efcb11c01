import sql from 'sql-template-tag'
import type { Db } from './pool.ts'
import { changesAny, excluded, rowOf } from './rows.ts'

type ProviderPerson = { issuer: string; subject: string }

export type OrganizationLink = ProviderPerson & {
  reporterId: string
  linkedAt: Date
  /** Sealed; null if the provider gave none. */
  refreshToken: Buffer | null
  /** When the provider is asked again whether the role holds. */
  checkAt: Date
}

const columns = sql`reporter_id as "reporterId", issuer, subject, linked_at as "linkedAt",
  refresh_token as "refreshToken", check_at as "checkAt"`

export function findLink(db: Db, reporterId: string): Promise<OrganizationLink | undefined> {
  return rowOf(db)`select ${columns} from organization_links where reporter_id = ${reporterId}`
}

export function findLinkOf(
  db: Db,
  { issuer, subject }: ProviderPerson,
): Promise<OrganizationLink | undefined> {
  return rowOf(db)`select ${columns} from organization_links
    where issuer = ${issuer} and subject = ${subject}`
}

/**
 * Links an account to a person, instead of another one if it was linked. False if another account
 * is linked to this person.
 */
export async function putLink(tx: Db, link: OrganizationLink): Promise<boolean> {
  const other = await findLinkOf(tx, link)
  if (other && other.reporterId !== link.reporterId) return false
  await tx.query(sql`
    insert into organization_links (reporter_id, issuer, subject, linked_at, refresh_token,
      check_at)
    values (${link.reporterId}, ${link.issuer}, ${link.subject}, ${link.linkedAt},
      ${link.refreshToken}, ${link.checkAt})
    on conflict (reporter_id) do update set ${excluded`issuer, subject, linked_at, refresh_token,
      check_at`}`)
  return true
}

/** Stores what the provider gave for the next question. */
export async function updateLink(
  tx: Db,
  { reporterId, refreshToken, checkAt }: Omit<OrganizationLink, 'issuer' | 'subject' | 'linkedAt'>,
): Promise<void> {
  await tx.query(sql`
    update organization_links set refresh_token = ${refreshToken}, check_at = ${checkAt}
    where reporter_id = ${reporterId}`)
}

/**
 * Claims the question whether a role still holds, if it is due, and returns the link. One of
 * several concurrent callers gets it, because providers refuse a token that is used twice.
 */
export function claimCheck(
  db: Db,
  reporterId: string,
  { now, next }: { now: Date; next: Date },
): Promise<OrganizationLink | undefined> {
  return rowOf(db)`
    update organization_links set check_at = ${next}
    where reporter_id = ${reporterId} and check_at <= ${now} and refresh_token is not null
    returning ${columns}`
}

export function removeLink(tx: Db, reporterId: string): Promise<boolean> {
  return changesAny(tx)`delete from organization_links where reporter_id = ${reporterId}`
}
