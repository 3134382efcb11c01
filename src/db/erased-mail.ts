import type { Db } from './pool.ts'

/** Whose letters and mails. */
type Person = { id: string; email: string }

/**
 * Removes letters to a person, and the mails that came back for them, some at a time; returns how
 * many letters.
 */
export async function removeLettersOf(tx: Db, person: Person, limit: number): Promise<number> {
  const { rows } = await tx.query<{ id: string }>(
    `select id from letters where reporter_id = $1 or address = $2 order by id limit $3`,
    [person.id, person.email, limit],
  )
  const ids = rows.map(({ id }) => id)
  if (ids.length === 0) return 0
  await tx.query(`delete from inbound_mails where letter_id = any($1::uuid[])`, [ids])
  await tx.query(`delete from letters where id = any($1::uuid[])`, [ids])
  return ids.length
}

/** Removes the mails that a person sent in, some at a time; returns how many. */
export async function removeMailsOf(tx: Db, { id }: Person, limit: number): Promise<number> {
  const { rows } = await tx.query<{ id: string }>(
    `select id from inbound_mails where reporter_id = $1 order by id limit $2`,
    [id, limit],
  )
  const ids = rows.map((row) => row.id)
  if (ids.length === 0) return 0
  await tx.query(`delete from inbound_mails where id = any($1::uuid[])`, [ids])
  return ids.length
}

/**
 * Removes what is left of a person besides the account itself: advice, karma, a ban, own
 * statistics, and that mail to the address came back. That an address wants no mail from us stays
 * as long as an abuse desk has that address.
 */
export async function removeTraces(tx: Db, { id, email }: Person): Promise<void> {
  await tx.query(`delete from advices where reporter_id = $1`, [id])
  await tx.query(`delete from karmas where reporter_id = $1`, [id])
  await tx.query(`delete from shadow_bans where reporter_id = $1`, [id])
  await tx.query(`delete from reporter_days where reporter_id = $1`, [id])
  await tx.query(
    `delete from suppressions
     where address = $1 and not exists (select from consumers where consumers.address = $1)`,
    [email],
  )
  await tx.query(`delete from account_links where reporter_id = $1 or address = $2`, [id, email])
}
