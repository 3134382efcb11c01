import sql from 'sql-template-tag'
import type { RuleHealth } from '../verdict/rules/rule-book.ts'
import type { Db } from './pool.ts'
import { changesAny, excluded, rowOf, rowsOf } from './rows.ts'

/** A version of the rules, without its text. */
export type RuleSetLine = {
  version: number
  note: string
  appliedAt: Date
  /** Null when applied at the command line. */
  appliedBy: string | null
}

/** A version of the rules; `content` is null when the built-in rules apply. */
export type RuleSet = RuleSetLine & { content: string | null }

const columns = sql`version, note, applied_at as "appliedAt", applied_by as "appliedBy"`

/** Stores a version. False when it exists already, because of a concurrent change. */
export function insertRuleSet(tx: Db, set: RuleSet): Promise<boolean> {
  return changesAny(tx)`
    insert into rule_sets (version, content, note, applied_at, applied_by)
    values (${set.version}, ${set.content}, ${set.note}, ${set.appliedAt}, ${set.appliedBy})
    on conflict (version) do nothing`
}

/** Returns the newest version, which is the active one; 0 before the first. */
export async function newestRuleVersion(db: Db): Promise<number> {
  const { rows } = await db.query<{ version: number | null }>(sql`
    select max(version) as version from rule_sets`)
  return rows[0]?.version ?? 0
}

export function findRuleSet(db: Db, version: number): Promise<RuleSet | undefined> {
  return rowOf(db)`
    select ${columns}, content from rule_sets where version = ${version}`
}

/**
 * Returns a page of the versions, newest first; `before` is the last version of the previous page.
 */
export function listRuleSets(
  db: Db,
  page: { before: number | undefined; limit: number },
): Promise<RuleSetLine[]> {
  return rowsOf(db)`
    select ${columns} from rule_sets where ${page.before}::integer is null
      or version < ${page.before}::integer
    order by version desc limit ${page.limit}`
}

/** A process that judges messages, with its active version of the rules and their health. */
export type RuleProcess = {
  id: string
  /** For example `work`. */
  name: string
  version: number
  /** The model that it uses; null without one. */
  modelVersion: number | null
  /** Why a newer version is not active in this process. */
  fault: string | null
  health: readonly RuleHealth[]
  seenAt: Date
}

/** Stores the status of a process, and deletes processes last seen before `forgottenBefore`. */
export async function keepRuleProcess(
  db: Db,
  process: RuleProcess,
  forgottenBefore: Date,
): Promise<void> {
  const { id, name, version, modelVersion, fault, health, seenAt } = process
  await db.query(sql`
    with forgotten as (
      delete from rule_processes where seen_at < ${forgottenBefore} and id <> ${id})
    insert into rule_processes (id, name, version, model_version, fault, health, seen_at)
    values (${id}, ${name}, ${version}, ${modelVersion}, ${fault}, ${JSON.stringify(health)},
      ${seenAt})
    on conflict (id) do update set ${excluded`version, model_version, fault, health, seen_at`}`)
}

/** Deletes the status of a process. Call it when the process ends. */
export async function removeRuleProcess(db: Db, id: string): Promise<void> {
  await db.query(sql`delete from rule_processes where id = ${id}`)
}

export function listRuleProcesses(db: Db, since: Date): Promise<RuleProcess[]> {
  return rowsOf(db)`
    select id, name, version, model_version as "modelVersion", fault, health,
      seen_at as "seenAt" from rule_processes
    where seen_at >= ${since} order by name, id`
}
