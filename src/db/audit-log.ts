import sql from 'sql-template-tag'
import { uuidFloor, uuidv7 } from '../world.ts'
import type { Db } from './pool.ts'
import { rowOf, rowsOf } from './rows.ts'

/** The time and the author of an operator's action; `reporterId` is null at the command line. */
export type OperatorAction = { at: Date; reporterId: string | null }

export type AuditEntry = {
  at: Date
  /** Null when the action was run at the command line. */
  reporterId: string | null
  action: AuditAction
  detail: string
}

export const auditActions = [
  'redrive',
  'purge',
  'pause queue',
  'resume queue',
  'set queue',
  'start jobs',
  'cancel job',
  'run chore',
  'demote',
  'retract',
  'release',
  'resend',
  'set network',
  'unset network',
  'import networks',
  'drop networks',
  'mark reputation',
  'unmark reputation',
  'apply rules',
  'add rule list',
  'remove rule list',
  'add list entries',
  'remove list entries',
  'add model',
  'promote model',
  'roll back model',
  'set automatic models',
  'set public statistics',
  'exempt from lists',
  'unexempt from lists',
  'accept delisting',
  'refuse delisting',
  'confirm page',
  'clear page',
  'undecide page',
  'enable partner',
  'disable partner',
  'set contact',
  'unset contact',
  'set marketer',
  'remove marketer',
  'dismiss marketer proposal',
  'close sender alert',
  'take marketer proposal',
  'answer for a desk',
  'handle mail',
  'add consumer',
  'set consumer',
  'pause consumer',
  'resume consumer',
  'stop consumer',
  'enroll consumer',
  'accept enrollment',
  'refuse enrollment',
  'lift correction',
  'disable account',
  'enable account',
  'add account',
  'rename account',
  'erase account',
  'fill samples',
  'remove samples',
  'remove second step',
  'grant role',
  'confirm again',
  'add mail source',
  'remove mail source',
  'add mail server',
  'remove mail server',
  'add simulation',
  'end simulation',
  'remove simulation',
  'suppress',
  'unsuppress',
  'set limit',
  'shadow ban',
  'lift shadow ban',
  'release reports',
  'set health',
  'silence alarm',
  'note backup',
  'forget processes',
  'retry mail',
  'read letter',
  'drop reports',
  'export reports',
  'save search',
  'mass action',
  'decide campaign',
  'propose deletion',
  'confirm deletion',
  'withdraw deletion',
  'propose action',
  'confirm action',
  'withdraw action',
  'set contract',
  'end contract',
  'give original',
  'refuse original',
  'change secret',
] as const

export type AuditAction = (typeof auditActions)[number]

export async function insertAudit(tx: Db, entry: AuditEntry): Promise<void> {
  await tx.query(sql`
    insert into audit_log (id, at, reporter_id, action, detail) values (${uuidv7(entry.at)},
      ${entry.at}, ${entry.reporterId}, ${entry.action}, ${entry.detail})`)
}

/** Which entries to find; undefined fields match all. */
export type AuditQuery = {
  /** Null: those of the command line. */
  reporterId?: string | null | undefined
  action?: string | undefined
  /** A part of the detail. */
  text?: string | undefined
  since?: Date | undefined
  /** Exclusive. */
  until?: Date | undefined
}

/**
 * Returns a page of the log, newest first; `before` is the last id of the previous page. A part of
 * a detail may be rare, and then reading the whole table is faster than reading it by the index.
 */
export async function listAudit(
  db: Db,
  { before, limit }: { before: string | undefined; limit: number },
  { reporterId, action, text, since, until }: AuditQuery = {},
): Promise<(AuditEntry & { id: string })[]> {
  const from = since && uuidFloor(since)
  const end = until && uuidFloor(until)
  const matching = sql`
    select id, at, reporter_id as "reporterId", action, detail from audit_log
    where (${before}::uuid is null or id < ${before}::uuid)
      and (${from}::uuid is null or id >= ${from}::uuid)
      and (${end}::uuid is null or id < ${end}::uuid)
      and (${reporterId !== null} or reporter_id is null)
      and (${reporterId ?? null}::uuid is null or reporter_id = ${reporterId ?? null}::uuid)
      and (${action}::text is null or action = ${action}::text)
      and (${text}::text is null or position(lower(${text}::text) in lower(detail)) > 0)`
  const { rows } = await db.query<AuditEntry & { id: string }>(
    text === undefined
      ? sql`${matching} order by id desc limit ${limit}`
      : sql`
        with matching as materialized (${matching})
        select id, at, "reporterId", action, detail from matching order by id desc limit ${limit}`,
  )
  return rows
}

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
