import sql from 'sql-template-tag'
import type { AuditEntry } from './audit-log.ts'
import type { Db } from './pool.ts'
import { rowOf, rowsOf } from './rows.ts'

export type AuditSeal = {
  number: number
  /** The entries have ids from `fromId` (inclusive) to `untilId` (exclusive). */
  fromId: string
  untilId: string
  entries: number
  sealedAt: Date
  seal: Buffer
  /** The seal before; null for the first. */
  previous: Buffer | null
}

const columns = sql`number, from_id as "fromId", until_id as "untilId", entries,
  sealed_at as "sealedAt", seal, previous`

export function findLastSeal(db: Db): Promise<AuditSeal | undefined> {
  return rowOf(db)`select ${columns} from audit_seals order by number desc limit 1`
}

/** Returns seals in their order. */
export function listSeals(db: Db, after: number, limit: number): Promise<AuditSeal[]> {
  return rowsOf(db)`
    select ${columns} from audit_seals where number > ${after} order by number limit ${limit}`
}

/** Stores a seal; does nothing if another process stored one with this number. */
export async function insertSeal(tx: Db, its: AuditSeal): Promise<void> {
  await tx.query(sql`
    insert into audit_seals (number, from_id, until_id, entries, sealed_at, seal, previous)
    values (${its.number}, ${its.fromId}, ${its.untilId}, ${its.entries}, ${its.sealedAt},
      ${its.seal}, ${its.previous})
    on conflict (number) do nothing`)
}

export async function removeSeals(db: Db, beforeId: string): Promise<void> {
  await db.query(sql`delete from audit_seals where until_id < ${beforeId}`)
}

/** Returns the entries of an interval, oldest first. */
export function listSealed(
  db: Db,
  { afterId, untilId, limit }: { afterId: string | undefined; untilId: string; limit: number },
  fromId: string,
): Promise<(AuditEntry & { id: string })[]> {
  return rowsOf(db)`
    select id, at, reporter_id as "reporterId", action, detail from audit_log
    where id >= ${fromId} and id < ${untilId}
      and (${afterId}::uuid is null or id > ${afterId}::uuid)
    order by id limit ${limit}`
}
