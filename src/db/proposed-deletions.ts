import sql from 'sql-template-tag'
import type { OperatorAction } from './audit-log.ts'
import type { Db } from './pool.ts'
import { rowOf, rowsOf } from './rows.ts'

/**
 * A deletion that a second person must confirm. `reporterId` is null if it was proposed at the
 * command line.
 */
export type ProposedDeletion = OperatorAction & {
  id: string
  /** The name of the action, and its fields. */
  action: string
  given: Record<string, unknown>
  /** What it would do. */
  detail: string
  expiresAt: Date
}

const columns = sql`id, action, given, detail, proposed_by as "reporterId", proposed_at as at,
  expires_at as "expiresAt"`

export async function insertProposedDeletion(tx: Db, one: ProposedDeletion): Promise<void> {
  await tx.query(sql`
    insert into proposed_deletions
      (id, action, given, detail, proposed_by, proposed_at, expires_at)
    values (${one.id}, ${one.action}, ${JSON.stringify(one.given)}, ${one.detail},
      ${one.reporterId}, ${one.at}, ${one.expiresAt})`)
}

/** Returns the deletions that can be confirmed, newest first. */
export function listProposedDeletions(
  db: Db,
  now: Date,
  limit: number,
): Promise<ProposedDeletion[]> {
  return rowsOf(db)`
    select ${columns} from proposed_deletions where expires_at > ${now}
    order by id desc limit ${limit}`
}

/** Returns a deletion that can be confirmed, and lets no other transaction change it. */
export function holdProposedDeletion(
  tx: Db,
  id: string,
  now: Date,
): Promise<ProposedDeletion | undefined> {
  return rowOf(tx)`
    update proposed_deletions set action = action where id = ${id} and expires_at > ${now}
    returning ${columns}`
}

export async function removeProposedDeletion(tx: Db, id: string): Promise<void> {
  await tx.query(sql`delete from proposed_deletions where id = ${id}`)
}
