import type { Db } from './pool.ts'
import { first } from './values.ts'

/** The address a reporter mails reports to, without its secret. */
export type MailInAddress = {
  reporterId: string
  /** Counts the addresses that the reporter has had. */
  generation: number
  secretHash: Buffer
  since: Date
}

/** The address of a reporter; undefined when none was ever made. */
export async function findMailInAddress(
  db: Db,
  reporterId: string,
): Promise<MailInAddress | undefined> {
  const answer = await db.query<MailInAddress>(
    `select reporter_id as "reporterId", generation, secret_hash as "secretHash", since
     from mail_in_addresses where reporter_id = $1`,
    [reporterId],
  )
  return first(answer)
}

/** Whose address has a secret of this hash. */
export async function findMailInReporter(db: Db, secretHash: Buffer): Promise<string | undefined> {
  const answer = await db.query<{ reporterId: string }>(
    `select reporter_id as "reporterId" from mail_in_addresses where secret_hash = $1`,
    [secretHash],
  )
  return first(answer)?.reporterId
}

/**
 * Gives a reporter an address in place of the one before it; false when another request had made
 * one of this generation or a later one.
 */
export async function putMailInAddress(db: Db, address: MailInAddress): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into mail_in_addresses (reporter_id, generation, secret_hash, since)
     values ($1, $2, $3, $4)
     on conflict (reporter_id) do update
       set generation = excluded.generation, secret_hash = excluded.secret_hash,
         since = excluded.since
       where mail_in_addresses.generation < excluded.generation`,
    [address.reporterId, address.generation, address.secretHash, address.since],
  )
  return rowCount === 1
}

/**
 * Notes that a mail of this reporter is answered now with what was wrong; false when one was since
 * `after`. Holds the row: two mails at once are answered once.
 */
export async function markMailInAnswered(
  tx: Db,
  mark: { reporterId: string; after: Date; at: Date },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update mail_in_addresses set answered_at = $3
     where reporter_id = $1 and (answered_at is null or answered_at < $2)`,
    [mark.reporterId, mark.after, mark.at],
  )
  return rowCount === 1
}

/** Notes that the reporter is told now of the first report by mail; false when told before. */
export async function markMailInConfirmed(
  tx: Db,
  mark: { reporterId: string; at: Date },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update mail_in_addresses set confirmed_at = $2
     where reporter_id = $1 and confirmed_at is null`,
    [mark.reporterId, mark.at],
  )
  return rowCount === 1
}

/** Ends the address of a reporter. */
export async function removeMailInAddress(tx: Db, reporterId: string): Promise<void> {
  await tx.query(`delete from mail_in_addresses where reporter_id = $1`, [reporterId])
}
