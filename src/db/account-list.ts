import type { Db } from './pool.ts'
import type { ReporterState } from './reporters.ts'

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
