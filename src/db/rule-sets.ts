import type { RuleHealth } from '../verdict/rules/rule-book.ts'
import type { Db } from './pool.ts'

/** A version of the rules, without its text. */
export type RuleSetLine = {
  version: number
  note: string
  appliedAt: Date
  /** Null: it was applied at the command line. */
  appliedBy: string | null
}

/** A version of the rules; the content is null where the program's own rules are to act. */
export type RuleSet = RuleSetLine & { content: string | null }

const columns = `version, note, applied_at as "appliedAt", applied_by as "appliedBy"`
const CHANNEL = 'signalpost_rules'

/**
 * Keeps a version, and tells all processes once the transaction is committed. False when there is
 * such a version already: somebody else was first.
 */
export async function insertRuleSet(tx: Db, set: RuleSet): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into rule_sets (version, content, note, applied_at, applied_by)
     values ($1, $2, $3, $4, $5) on conflict (version) do nothing`,
    [set.version, set.content, set.note, set.appliedAt, set.appliedBy],
  )
  if (rowCount !== 1) return false
  await tx.query(`select pg_notify($1, $2)`, [CHANNEL, String(set.version)])
  return true
}

/** The newest version, which acts; 0 before the first. */
export async function newestRuleVersion(db: Db): Promise<number> {
  const { rows } = await db.query<{ version: number | null }>(
    `select max(version) as version from rule_sets`,
  )
  return rows[0]?.version ?? 0
}

/** One version with its text. */
export async function findRuleSet(db: Db, version: number): Promise<RuleSet | undefined> {
  const { rows } = await db.query<RuleSet>(
    `select ${columns}, content from rule_sets where version = $1`,
    [version],
  )
  return rows[0]
}

/** A page of the versions, newest first; `before` is the last version of the page before. */
export async function listRuleSets(
  db: Db,
  page: { before: number | undefined; limit: number },
): Promise<RuleSetLine[]> {
  const { rows } = await db.query<RuleSetLine>(
    `select ${columns} from rule_sets where $1::integer is null or version < $1
     order by version desc limit $2`,
    [page.before ?? null, page.limit],
  )
  return rows
}

/** Makes a connection hear of new versions, by `notification` events without further words. */
export async function hearOfRuleSets(connection: Db): Promise<void> {
  await connection.query(`listen ${CHANNEL}`)
}

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
