import sql from 'sql-template-tag'
import type { Db } from './pool.ts'

/** What a process remembers about callers, by kind: the keys that it may still use. */
export type CallerKeys = {
  /** SHA-256 hashes of tokens, in hexadecimal. */
  token: readonly string[]
  /** Mail addresses of accounts with a password. */
  account: readonly string[]
  /** Ids of browser sessions. */
  session: readonly string[]
  /** Ids of accounts. */
  reporter: readonly string[]
  /** Hashes of the secrets in mail-in addresses, in hexadecimal. */
  'mail-in': readonly string[]
}

/** A key that is still valid; `mark` changes with the password and the second step. */
export type ValidKey = { kind: keyof CallerKeys; key: string; mark: string | null }

/** Returns the keys, of those given, that are valid and belong to active accounts. */
export async function listValidKeys(db: Db, keys: CallerKeys, now: Date): Promise<ValidKey[]> {
  const bytes = (all: readonly string[]) => all.map((one) => Buffer.from(one, 'hex'))
  const answers = await Promise.all([
    db.query<ValidKey>(sql`
      select 'token' as kind, encode(token_hash, 'hex') as key, null as mark
      from tokens join reporters on reporters.id = tokens.reporter_id
      where token_hash = any(${bytes(keys.token)}::bytea[]) and state = 'active'`),
    db.query<ValidKey>(sql`
      select 'account' as kind, email as key,
        concat(password_hash, ' ', totp_secret is not null) as mark
      from reporters where email = any(${keys.account}::text[]) and state = 'active'`),
    db.query<ValidKey>(sql`
      select 'session' as kind, sid as key, null as mark from sessions
      where sid = any(${keys.session}::text[]) and expire > ${now}`),
    db.query<ValidKey>(sql`
      select 'reporter' as kind, id::text as key, null as mark
      from reporters where id = any(${keys.reporter}::uuid[]) and state = 'active'`),
    db.query<ValidKey>(sql`
      select 'mail-in' as kind, encode(secret_hash, 'hex') as key, null as mark
      from mail_in_addresses join reporters on reporters.id = mail_in_addresses.reporter_id
      where secret_hash = any(${bytes(keys['mail-in'])}::bytea[]) and state = 'active'`),
  ])
  return answers.flatMap(({ rows }) => rows)
}
