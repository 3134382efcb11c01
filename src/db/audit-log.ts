import sql from 'sql-template-tag'
import { uuidv7 } from '../world.ts'
import type { Db } from './pool.ts'
import { rowsOf } from './rows.ts'

/** The time and the author of an operator's action; `reporterId` is null at the command line. */
export type OperatorAction = { at: Date; reporterId: string | null }

/** An action of an administrator. */
export type AuditEntry = {
  at: Date
  /** Null when the action was run at the command line. */
  reporterId: string | null
  action: AuditAction
  detail: string
}

/** The names of the actions in the audit log. */
export type AuditAction =
  | 'redrive'
  | 'purge'
  | 'pause queue'
  | 'resume queue'
  | 'set queue'
  | 'start jobs'
  | 'cancel job'
  | 'run chore'
  | 'demote'
  | 'retract'
  | 'release'
  | 'resend'
  | 'set network'
  | 'unset network'
  | 'drop networks'
  | 'mark reputation'
  | 'unmark reputation'
  | 'apply rules'
  | 'add model'
  | 'promote model'
  | 'roll back model'
  | 'set automatic models'
  | 'set public statistics'
  | 'exempt from lists'
  | 'unexempt from lists'
  | 'accept delisting'
  | 'refuse delisting'
  | 'set marketer'
  | 'remove marketer'
  | 'dismiss marketer proposal'
  | 'close sender alert'
  | 'take marketer proposal'
  | 'answer for a desk'
  | 'handle mail'
  | 'add consumer'
  | 'set consumer'
  | 'pause consumer'
  | 'resume consumer'
  | 'stop consumer'
  | 'enroll consumer'
  | 'accept enrollment'
  | 'refuse enrollment'
  | 'lift correction'
  | 'disable account'
  | 'enable account'
  | 'erase account'
  | 'remove second step'
  | 'grant role'
  | 'confirm again'
  | 'suppress'
  | 'unsuppress'
  | 'set limit'
  | 'shadow ban'
  | 'lift shadow ban'
  | 'release reports'
  | 'set health'
  | 'silence alarm'
  | 'note backup'
  | 'forget processes'
  | 'retry mail'
  | 'drop reports'
  | 'export reports'
  | 'save search'

/** Stores an audit entry, in the transaction of the action. */
export async function insertAudit(tx: Db, entry: AuditEntry): Promise<void> {
  await tx.query(sql`
    insert into audit_log (id, at, reporter_id, action, detail) values (${uuidv7(entry.at)},
      ${entry.at}, ${entry.reporterId}, ${entry.action}, ${entry.detail})`)
}

/** Returns a page of the log, newest first; `before` is the last id of the previous page. */
export function listAudit(
  db: Db,
  page: { before: string | undefined; limit: number },
): Promise<(AuditEntry & { id: string })[]> {
  return rowsOf(db)<AuditEntry & { id: string }>`
    select id, at, reporter_id as "reporterId", action, detail from audit_log
    where ${page.before}::uuid is null or id < ${page.before}::uuid
    order by id desc limit ${page.limit}`
}
