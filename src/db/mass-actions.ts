import sql, { bulk } from 'sql-template-tag'
import type { Db } from './pool.ts'
import { changesAny, rowOf, rowsOf } from './rows.ts'

/**
 * What is done with many reports. `stopped`: an operator ended it early. `undoing`: what it changed
 * is being restored.
 */
type MassState = 'running' | 'stopped' | 'done' | 'undoing' | 'undone'

export type MassAction = {
  id: string
  /** Null when it was started at the command line. */
  reporterId: string | null
  kind: string
  /** Null if the reports were selected one by one. */
  query: string | null
  reason: string
  state: MassState
  perMinute: number
  startedAt: Date
  /** When it became final: it cannot be undone from then on. */
  settledAt: Date | null
  endedAt: Date | null
  /** Who undid it; null at the command line. */
  undoneBy: string | null
}

/**
 * What happened to a report. `notified`: it was restored, but a desk had been notified.
 * `overtaken`: a later decision stays. `gone`: it could not be restored, because it was deleted.
 */
const massOutcomes = ['changed', 'unchanged', 'undone', 'notified', 'overtaken', 'gone'] as const
export type MassOutcome = (typeof massOutcomes)[number]

export type MassCounts = Record<MassOutcome | 'waiting', number>

const columns = sql`id, reporter_id as "reporterId", kind, query, reason, state,
  per_minute as "perMinute", started_at as "startedAt",
  settled_at as "settledAt", ended_at as "endedAt",
  undone_by as "undoneBy"`

const ITEMS_AT_ONCE = 1_000

export async function insertMassAction(
  tx: Db,
  action: Omit<MassAction, 'state' | 'endedAt' | 'settledAt' | 'undoneBy'>,
  reportIds: readonly string[],
): Promise<void> {
  await tx.query(sql`
    insert into mass_actions (id, reporter_id, kind, query, reason, state, per_minute, started_at)
    values (${action.id}, ${action.reporterId}, ${action.kind}, ${action.query}, ${action.reason},
      'running', ${action.perMinute}, ${action.startedAt})`)
  for (let at = 0; at < reportIds.length; at += ITEMS_AT_ONCE) {
    const some = reportIds.slice(at, at + ITEMS_AT_ONCE)
    const values = bulk(some.map((reportId) => [action.id, reportId]))
    await tx.query(sql`insert into mass_action_items (action_id, report_id) values ${values}`)
  }
}

export function findMassAction(db: Db, id: string): Promise<MassAction | undefined> {
  return rowOf(db)`select ${columns} from mass_actions where id = ${id}`
}

/** Returns an action, and lets no other transaction change it until this one ends. */
export function holdMassAction(tx: Db, id: string): Promise<MassAction | undefined> {
  return rowOf(tx)`
    update mass_actions set state = state where id = ${id} returning ${columns}`
}

/** Returns the latest actions, newest first. */
export function listMassActions(db: Db, limit: number): Promise<MassAction[]> {
  return rowsOf(db)`select ${columns} from mass_actions order by id desc limit ${limit}`
}

export async function countMassItems(db: Db, id: string): Promise<MassCounts> {
  const { rows } = await db.query<{ outcome: keyof MassCounts; count: number }>(sql`
    select coalesce(outcome, 'waiting') as outcome, count(*)::integer as count
    from mass_action_items where action_id = ${id} group by 1`)
  const none = [...massOutcomes, 'waiting' as const].map((outcome) => [outcome, 0])
  const counts = Object.fromEntries(none) as MassCounts
  for (const { outcome, count } of rows) counts[outcome] = count
  return counts
}

/** Returns the next reports that an action has not reached yet, by their ids. */
export async function listMassItems(tx: Db, id: string, limit: number): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(sql`
    select report_id as id from mass_action_items
    where action_id = ${id} and outcome is null order by report_id limit ${limit}`)
  return rows.map((row) => row.id)
}

/**
 * Returns the reports that an action changed last, each with the other changes made because of it.
 */
export async function listChangedItems(
  tx: Db,
  id: string,
  limit: number,
): Promise<ReadonlyMap<string, string | null>> {
  const { rows } = await tx.query<{ id: string; subject: string | null }>(sql`
    select report_id as id, subject from mass_action_items
    where action_id = ${id} and outcome = 'changed' order by report_id desc limit ${limit}`)
  return new Map(rows.map((row) => [row.id, row.subject]))
}

/** Stores the outcomes of reports, and other changes that an action made because of them. */
export async function markMassItems(
  tx: Db,
  id: string,
  outcomes: ReadonlyMap<string, MassOutcome>,
  subjects: ReadonlyMap<string, string> = new Map(),
): Promise<void> {
  await tx.query(sql`
    update mass_action_items set outcome = given.outcome,
      subject = coalesce(given.subject, mass_action_items.subject)
    from unnest(${[...outcomes.keys()]}::uuid[], ${[...outcomes.values()]}::text[],
      ${[...outcomes.keys()].map((one) => subjects.get(one) ?? null)}::text[])
      as given (id, outcome, subject)
    where action_id = ${id} and report_id = given.id`)
}

type MassMove = {
  from: readonly MassState[]
  to: MassState
  endedAt: Date | null
  undoneBy?: string | null
}

/** Moves an action from one of the states `from` to `to`; false if it is in another state. */
export function markMassAction(
  tx: Db,
  id: string,
  { from, to, endedAt, undoneBy = null }: MassMove,
): Promise<boolean> {
  return changesAny(tx)`
    update mass_actions set state = ${to}, ended_at = ${endedAt},
      undone_by = coalesce(${undoneBy}::uuid, undone_by)
    where id = ${id} and state = any(${from}::text[])`
}
