import type { Db } from './pool.ts'
import type { LetterLanguage } from '../texts/letters.ts'
import type { ReporterState } from './reporters.ts'
import { first } from './rows.ts'

/**
 * What a link by mail is for: to make an account, to set a password, to move to another address;
 * a notice has a link to nothing, and stands here to be counted.
 */
export type LinkKind = 'confirm' | 'reset' | 'move' | 'notice'

/** A link that was mailed. */
export type AccountLink = {
  kind: LinkKind
  /** What it is for: an address, or the id of an account. */
  subject: string
  /** To which it was mailed, in lower case. */
  address: string
  reporterId: string | null
  language: LetterLanguage
  /** The version of the text that was agreed to when asking for it, and when. */
  consent: string | null
  consentedAt: Date | null
  letterId: string | null
  expiresAt: Date
}

const columns = `kind, subject, address, reporter_id as "reporterId", language, consent,
  consented_at as "consentedAt", letter_id as "letterId", expires_at as "expiresAt"`

const lettersNow = `case when account_links.letters_since < $12 then 1
  else account_links.letters + 1 end`
/** What a new link replaces, unless too many were asked for. */
const replacements = [
  ...['token_hash', 'address', 'reporter_id', 'language'],
  ...['consent', 'consented_at', 'letter_id', 'expires_at'],
]
  .map(
    (column) =>
      `${column} = case when ${lettersNow} > $13 then account_links.${column}
        else excluded.${column} end`,
  )
  .join(', ')

/**
 * Keeps a link in place of the one before it, unless more than `lettersMax` were asked for of late:
 * then the one before it stays. Returns how many were, this one counted; the count begins anew when
 * it began before `since`.
 */
export async function putAccountLink(
  tx: Db,
  link: AccountLink & { tokenHash: Buffer },
  count: { now: Date; since: Date; lettersMax: number },
): Promise<number> {
  const { rows } = await tx.query<{ letters: number }>(
    `insert into account_links (kind, subject, token_hash, address, reporter_id, language, consent,
       consented_at, letter_id, letters, letters_since, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 1, $10, $11)
     on conflict (kind, subject) do update set ${replacements},
       letters = ${lettersNow},
       letters_since = case when account_links.letters_since < $12 then excluded.letters_since
         else account_links.letters_since end
     returning letters`,
    [
      link.kind,
      link.subject,
      link.tokenHash,
      link.address,
      link.reporterId,
      link.language,
      link.consent,
      link.consentedAt,
      link.letterId,
      count.now,
      link.expiresAt,
      count.since,
      count.lettersMax,
    ],
  )
  return rows[0]?.letters ?? 1
}

/** The link of a token, if it is of this kind and has not expired. */
export async function findAccountLink(
  db: Db,
  kind: LinkKind,
  tokenHash: Buffer,
  now: Date,
): Promise<AccountLink | undefined> {
  const answer = await db.query<AccountLink>(
    `select ${columns} from account_links
     where kind = $1 and token_hash = $2 and expires_at > $3`,
    [kind, tokenHash, now],
  )
  return first(answer)
}

/** Uses a link up and gives it; undefined when it was used, expired or replaced. */
export async function takeAccountLink(
  tx: Db,
  kind: LinkKind,
  tokenHash: Buffer,
  now: Date,
): Promise<AccountLink | undefined> {
  const answer = await tx.query<AccountLink>(
    `delete from account_links where kind = $1 and token_hash = $2 and expires_at > $3
     returning ${columns}`,
    [kind, tokenHash, now],
  )
  return first(answer)
}

/** Ends all links of an account. */
export async function removeAccountLinks(tx: Db, reporterId: string): Promise<void> {
  await tx.query(`delete from account_links where reporter_id = $1`, [reporterId])
}

/** Sign-ups that wait to be confirmed, the latest first. */
export async function listSignUps(db: Db, now: Date, limit: number): Promise<AccountLink[]> {
  const { rows } = await db.query<AccountLink>(
    `select ${columns} from account_links where kind = 'confirm' and expires_at > $1
     order by expires_at desc, subject limit $2`,
    [now, limit],
  )
  return rows
}

/** Forgets links that expired before an instant. */
export async function removeExpiredLinks(db: Db, before: Date): Promise<void> {
  await db.query(`delete from account_links where expires_at < $1`, [before])
}

/** The sign-up of an address that waits to be confirmed. */
export async function findSignUp(
  db: Db,
  address: string,
  now: Date,
): Promise<AccountLink | undefined> {
  const answer = await db.query<AccountLink>(
    `select ${columns} from account_links
     where kind = 'confirm' and subject = lower($1) and expires_at > $2`,
    [address, now],
  )
  return first(answer)
}

/** An account as administrators see it in a list. */
export type AccountLine = {
  id: string
  email: string
  state: ReporterState
  isAdmin: boolean
  hasTotp: boolean
  createdAt: Date
}

/** A page of the accounts whose addresses begin so, by address; `after` is the last one before. */
export async function listAccounts(
  db: Db,
  { begin, after, limit }: { begin: string; after: string | undefined; limit: number },
): Promise<AccountLine[]> {
  const { rows } = await db.query<AccountLine>(
    `select id, email, state, is_admin as "isAdmin", totp_secret is not null as "hasTotp",
       created_at as "createdAt"
     from reporters
     where email collate "C" >= $1 and email collate "C" < $2
       and ($3::text is null or email collate "C" > $3)
     order by email collate "C" limit $4`,
    [begin, `${begin}\u{10ffff}`, after ?? null, limit],
  )
  return rows
}

/** To which text of ours somebody said yes. */
export type Consent = { version: string; language: LetterLanguage; consentedAt: Date }

/** Keeps that a reporter said yes; the first time counts. */
export async function insertConsent(tx: Db, reporterId: string, consent: Consent): Promise<void> {
  await tx.query(
    `insert into consents (reporter_id, version, language, consented_at)
     values ($1, $2, $3, $4) on conflict (reporter_id, version) do nothing`,
    [reporterId, consent.version, consent.language, consent.consentedAt],
  )
}

/** What a reporter said yes to, oldest first. */
export async function listConsents(db: Db, reporterId: string): Promise<Consent[]> {
  const { rows } = await db.query<Consent>(
    `select version, language, consented_at as "consentedAt"
     from consents where reporter_id = $1 order by consented_at, version`,
    [reporterId],
  )
  return rows
}
