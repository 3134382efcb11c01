import sql, { join, raw } from 'sql-template-tag'
import type { Db } from './pool.ts'
import type { Language } from '../texts/messages.ts'
import type { Role } from '../roles.ts'
import type { ReporterState } from './reporters.ts'
import { rowOf, rowsOf } from './rows.ts'

/**
 * The purpose of a mailed link: to create an account, to set a password, or to change the address.
 * A `notice` mail contains no link; it has a row only so that the limit counts it.
 */
export type LinkKind = 'confirm' | 'reset' | 'move' | 'notice'

export type AccountLink = {
  kind: LinkKind
  /** The subject of the link: an address, or the id of an account. */
  subject: string
  /** The address the link was mailed to, in lower case. */
  address: string
  reporterId: string | null
  language: Language
  /** The version of the privacy notice that was accepted with the request, and when. */
  consent: string | null
  consentedAt: Date | null
  letterId: string | null
  expiresAt: Date
}

const columns = sql`kind, subject, address, reporter_id as "reporterId", language, consent,
  consented_at as "consentedAt", letter_id as "letterId", expires_at as "expiresAt"`

/** The columns that a new link overwrites, unless the limit of letters is exceeded. */
const replacedColumns = [
  ...['token_hash', 'address', 'reporter_id', 'language'],
  ...['consent', 'consented_at', 'letter_id', 'expires_at'],
].map(raw)

/**
 * Stores a link in place of the previous one, unless more than `lettersMax` links were requested in
 * the current period; then the previous link stays. Returns the number of links requested in the
 * period, including this one. A new period begins when the current one began before `since`.
 */
export async function putAccountLink(
  tx: Db,
  link: AccountLink & { tokenHash: Buffer },
  count: { now: Date; since: Date; lettersMax: number },
): Promise<number> {
  const lettersNow = sql`case when account_links.letters_since < ${count.since} then 1
    else account_links.letters + 1 end`
  const replacements = replacedColumns.map(
    (column) => sql`${column} = case when ${lettersNow} > ${count.lettersMax}
      then account_links.${column} else excluded.${column} end`,
  )
  const { rows } = await tx.query<{ letters: number }>(sql`
    insert into account_links (kind, subject, token_hash, address, reporter_id, language, consent,
      consented_at, letter_id, letters, letters_since, expires_at)
    values (${link.kind}, ${link.subject}, ${link.tokenHash}, ${link.address}, ${link.reporterId},
      ${link.language}, ${link.consent}, ${link.consentedAt}, ${link.letterId}, 1, ${count.now},
      ${link.expiresAt})
    on conflict (kind, subject) do update set ${join(replacements)}, letters = ${lettersNow},
      letters_since = case when account_links.letters_since < ${count.since}
        then excluded.letters_since else account_links.letters_since end
    returning letters`)
  return rows[0]?.letters ?? 1
}

/** Returns the link with this token if it is of this kind and has not expired. */
export function findAccountLink(
  db: Db,
  kind: LinkKind,
  tokenHash: Buffer,
  now: Date,
): Promise<AccountLink | undefined> {
  return rowOf(db)`select ${columns} from account_links
    where kind = ${kind} and token_hash = ${tokenHash} and expires_at > ${now}`
}

/**
 * Deletes a link and returns it; undefined when it was used before, has expired or was replaced.
 */
export function takeAccountLink(
  tx: Db,
  kind: LinkKind,
  tokenHash: Buffer,
  now: Date,
): Promise<AccountLink | undefined> {
  return rowOf(tx)`
    delete from account_links where kind = ${kind} and token_hash = ${tokenHash}
      and expires_at > ${now}
    returning ${columns}`
}

/**
 * Makes the link in a letter useless that came back: its bounce contains the link, which its
 * recipient does not have. The row remains, because it counts letters.
 */
export async function endLinkOfLetter(tx: Db, letterId: string): Promise<void> {
  await tx.query(sql`update account_links set token_hash = sha256(token_hash)
    where letter_id = ${letterId}`)
}

export async function removeAccountLinks(tx: Db, reporterId: string): Promise<void> {
  await tx.query(sql`delete from account_links where reporter_id = ${reporterId}`)
}

/** Returns sign-ups that are not confirmed yet, newest first. */
export function listSignUps(db: Db, now: Date, limit: number): Promise<AccountLink[]> {
  return rowsOf(db)`
    select ${columns} from account_links where kind = 'confirm' and expires_at > ${now}
    order by expires_at desc, subject limit ${limit}`
}

/** Returns the unconfirmed, unexpired sign-up of an address. */
export function findSignUp(db: Db, address: string, now: Date): Promise<AccountLink | undefined> {
  return rowOf(db)`select ${columns} from account_links
    where kind = 'confirm' and subject = lower(${address}) and expires_at > ${now}`
}

export type AccountLine = {
  id: string
  email: string
  state: ReporterState
  role: Role | null
  hasTotp: boolean
  createdAt: Date
}

const accountLine = sql`id, email, state, role, totp_secret is not null as "hasTotp",
  created_at as "createdAt"`

/** Returns the accounts with a role, ordered by address. */
export function listStaff(db: Db, limit: number): Promise<AccountLine[]> {
  return rowsOf(db)`
    select ${accountLine} from reporters where role is not null order by email limit ${limit}`
}

/**
 * Returns a page of the accounts whose addresses start with `begin`, ordered by address. `after` is
 * the last address of the previous page.
 */
export function listAccounts(
  db: Db,
  { begin, after, limit }: { begin: string; after: string | undefined; limit: number },
): Promise<AccountLine[]> {
  const end = `${begin}\u{10ffff}`
  return rowsOf(db)`
    select ${accountLine} from reporters
    where email collate "C" >= ${begin} and email collate "C" < ${end}
      and (${after}::text is null or email collate "C" > ${after}::text)
    order by email collate "C" limit ${limit}`
}

/** The version of the privacy notice that a person accepted, and in which language. */
export type Consent = { version: string; language: Language; consentedAt: Date }

/** Stores the consent of a reporter; repeated consent to one version keeps the first date. */
export async function insertConsent(tx: Db, reporterId: string, consent: Consent): Promise<void> {
  await tx.query(sql`insert into consents (reporter_id, version, language, consented_at)
    values (${reporterId}, ${consent.version}, ${consent.language}, ${consent.consentedAt})
      on conflict (reporter_id, version) do nothing`)
}

/** Returns the consents of a reporter, oldest first. */
export function listConsents(db: Db, reporterId: string): Promise<Consent[]> {
  return rowsOf(db)`
    select version, language, consented_at as "consentedAt"
    from consents where reporter_id = ${reporterId} order by consented_at, version`
}
