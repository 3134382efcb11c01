import sql from 'sql-template-tag'
import type { EarlierUse, SecretChange } from '../key-ring.ts'
import type { Db } from './pool.ts'
import { preparedRowsOf } from './prepared.ts'
import { changesAny, rowOf, rowsOf } from './rows.ts'

/** What `secret rotate` encrypts again. */
export const convertedKinds = ['second steps', 'letters'] as const
export type ConvertedKind = (typeof convertedKinds)[number]

/** The last row that was looked at, and how many were encrypted again; `isDone`: all were. */
export type Progress = Record<
  ConvertedKind,
  { afterId: string | null; rows: number; isDone: boolean }
>

export type SecretRow = SecretChange & {
  number: number
  progress: Progress | null
  convertedAt: Date | null
}

/** Returns the secrets that came into force, oldest first. */
export function listSecrets(db: Db): Promise<SecretRow[]> {
  return preparedRowsOf(db)<SecretRow>`
    select number, name, in_force_at as "inForceAt", ended_at as "endedAt", progress,
      converted_at as "convertedAt" from secrets order by number`
}

/** Adds a secret; false if another process added one with this number or name. */
export function insertSecret(
  db: Db,
  { number, name, inForceAt }: Pick<SecretRow, 'number' | 'name' | 'inForceAt'>,
): Promise<boolean> {
  return changesAny(db)`
    insert into secrets (number, name, in_force_at) values (${number}, ${name}, ${inForceAt})
    on conflict do nothing returning number`
}

/** Ends all secrets before one. Returns the number of those that were accepted until now. */
export async function endSecrets(tx: Db, before: number, at: Date): Promise<number> {
  const { rowCount } = await tx.query(sql`
    update secrets set ended_at = ${at} where number < ${before} and ended_at is null`)
  return rowCount ?? 0
}

export async function setSecretProgress(
  tx: Db,
  number: number,
  progress: Progress,
  convertedAt: Date | null,
): Promise<void> {
  await tx.query(sql`
    update secrets set progress = ${JSON.stringify(progress)}::jsonb, converted_at = ${convertedAt}
    where number = ${number}`)
}

/** Stores when something was last accepted with previous secrets. */
export async function noteSecretUses(db: Db, uses: readonly EarlierUse[], at: Date): Promise<void> {
  for (const { name, purpose } of uses) {
    await db.query(sql`
      insert into secret_uses (name, purpose, last_at) values (${name}, ${purpose}, ${at})
      on conflict (name, purpose) do update set last_at = excluded.last_at`)
  }
}

export function listSecretUses(db: Db): Promise<(EarlierUse & { lastAt: Date })[]> {
  return rowsOf(db)`
    select name, purpose, last_at as "lastAt" from secret_uses order by purpose, name`
}

type Sealed = { id: string; sealed: Buffer }

/** Returns sealed rows in the order of their ids. */
export function listSealedRows(
  db: Db,
  kind: ConvertedKind,
  { afterId, limit }: { afterId: string | null; limit: number },
): Promise<Sealed[]> {
  const after = afterId ?? '00000000-0000-0000-0000-000000000000'
  if (kind === 'second steps') {
    return rowsOf(db)`
      select id, totp_secret as sealed from reporters
      where totp_secret is not null and id > ${after} order by id limit ${limit}`
  }
  return rowsOf(db)`
    select id, sealed_keys as sealed from letters
    where sealed_keys is not null and id > ${after} order by id limit ${limit}`
}

/** Stores what was sealed again, unless the row changed meanwhile. */
export async function replaceSealed(
  tx: Db,
  kind: ConvertedKind,
  { id, sealed, old }: Sealed & { old: Buffer },
): Promise<void> {
  await tx.query(
    kind === 'second steps'
      ? sql`update reporters set totp_secret = ${sealed} where id = ${id} and totp_secret = ${old}`
      : sql`update letters set sealed_keys = ${sealed} where id = ${id} and sealed_keys = ${old}`,
  )
}

/** How many things of each kind were issued before an instant and are still in use. */
export type IssuedBefore = {
  desks: number
  mailIn: number
  webhooks: number
  simulations: number
}

export async function countIssuedBefore(db: Db, at: Date): Promise<IssuedBefore> {
  const row = await rowOf(db)<IssuedBefore>`
    select
      (select count(*)::int from consumers
        where enrolled_at is not null and enrolled_at < ${at}) as desks,
      (select count(*)::int from mail_in_addresses where since < ${at}) as "mailIn",
      (select count(*)::int from webhooks
        where coalesce(renewed_at, created_at) < ${at}) as webhooks,
      (select count(*)::int from simulations
        where key_hash is not null and ended_at is null and created_at < ${at}) as simulations`
  return row ?? { desks: 0, mailIn: 0, webhooks: 0, simulations: 0 }
}

/** Removes mail-in addresses that were made before an instant. Returns their number. */
export async function removeMailInBefore(tx: Db, at: Date, limit: number): Promise<number> {
  const found = await rowsOf(tx)<{ id: string }>`
    select reporter_id as id from mail_in_addresses where since < ${at}
    order by reporter_id limit ${limit}`
  const ids = found.map(({ id }) => id)
  await tx.query(sql`delete from mail_in_addresses
    where reporter_id = any(${ids}::uuid[]) and since < ${at}`)
  return ids.length
}
