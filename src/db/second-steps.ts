import type { Db } from './pool.ts'
import { first, values } from './values.ts'

/** What a code of the second step is checked against; sealed by `intake/account/second-step`. */
export type TotpState = { secret: Buffer; step: number | null }

/** Of a reporter who has a second step. */
export async function findTotp(db: Db, reporterId: string): Promise<TotpState | undefined> {
  const answer = await db.query<TotpState>(
    `select totp_secret as secret, totp_step as step from reporters
     where id = $1 and totp_secret is not null`,
    [reporterId],
  )
  return first(answer)
}

/** Uses up a step and all before it; false when that was done: a code works once. */
export async function takeTotpStep(db: Db, reporterId: string, step: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `update reporters set totp_step = $2
     where id = $1 and totp_secret is not null and (totp_step is null or totp_step < $2)`,
    [reporterId, step],
  )
  return rowCount === 1
}

/** Switches the second step on, with its codes for the loss of the device. */
export async function putTotp(
  tx: Db,
  reporterId: string,
  totp: { secret: Buffer; step: number; codeHashes: readonly Buffer[] },
): Promise<void> {
  await tx.query(`update reporters set totp_secret = $2, totp_step = $3 where id = $1`, [
    reporterId,
    totp.secret,
    totp.step,
  ])
  await putRecoveryCodes(tx, reporterId, totp.codeHashes)
}

/** Switches it off. */
export async function removeTotp(tx: Db, reporterId: string): Promise<void> {
  await tx.query(`update reporters set totp_secret = null, totp_step = null where id = $1`, [
    reporterId,
  ])
  await tx.query(`delete from recovery_codes where reporter_id = $1`, [reporterId])
}

/** Gives new recovery codes in place of those that are left. */
export async function putRecoveryCodes(
  tx: Db,
  reporterId: string,
  hashes: readonly Buffer[],
): Promise<void> {
  await tx.query(`delete from recovery_codes where reporter_id = $1`, [reporterId])
  const { text, params } = values(hashes.map((hash) => [reporterId, hash]))
  await tx.query(`insert into recovery_codes (reporter_id, code_hash) values ${text}`, params)
}

/** Uses up a recovery code; false when it is none, or was used. */
export async function takeRecoveryCode(db: Db, reporterId: string, hash: Buffer): Promise<boolean> {
  const { rowCount } = await db.query(
    `delete from recovery_codes where reporter_id = $1 and code_hash = $2`,
    [reporterId, hash],
  )
  return rowCount === 1
}

/** How many recovery codes are left. */
export async function countRecoveryCodes(db: Db, reporterId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*) as count from recovery_codes where reporter_id = $1`,
    [reporterId],
  )
  return rows[0]?.count ?? 0
}
