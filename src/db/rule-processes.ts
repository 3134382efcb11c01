import type { RuleHealth } from '../verdict/rules/rule-book.ts'
import type { Db } from './pool.ts'

/** A process that judges, the version of the rules that acts in it, and how they do. */
export type RuleProcess = {
  id: string
  /** As `work`. */
  name: string
  version: number
  /** Why a newer version does not act there. */
  fault: string | null
  health: readonly RuleHealth[]
  seenAt: Date
}

/** Writes down how a process does, and forgets those that were not heard of since. */
export async function keepRuleProcess(
  db: Db,
  process: RuleProcess,
  forgottenBefore: Date,
): Promise<void> {
  const { id, name, version, fault, health, seenAt } = process
  await db.query(
    `insert into rule_processes (id, name, version, fault, health, seen_at)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (id) do update set version = excluded.version, fault = excluded.fault,
       health = excluded.health, seen_at = excluded.seen_at`,
    [id, name, version, fault, JSON.stringify(health), seenAt],
  )
  await db.query(`delete from rule_processes where seen_at < $1`, [forgottenBefore])
}

/** Takes a process away that ends. */
export async function removeRuleProcess(db: Db, id: string): Promise<void> {
  await db.query(`delete from rule_processes where id = $1`, [id])
}

/** The processes that were heard of since then, by name. */
export async function listRuleProcesses(db: Db, since: Date): Promise<RuleProcess[]> {
  const { rows } = await db.query<RuleProcess>(
    `select id, name, version, fault, health, seen_at as "seenAt" from rule_processes
     where seen_at >= $1 order by name, id`,
    [since],
  )
  return rows
}
