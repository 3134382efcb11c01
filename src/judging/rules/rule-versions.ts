import { insertAudit } from '../../db/audit-log.ts'
import { inTransaction, type Db, type Pool } from '../../db/pool.ts'
import { findRuleSet, insertRuleSet, newestRuleVersion } from '../../db/rule-sets.ts'
import type { FactDefinition } from '../../verdict/facts/fact.ts'
import { changesInWords, compareRules } from '../../verdict/rules/compare-rules.ts'
import { compileRules } from '../../verdict/rules/compile-rules.ts'
import type { Rule, RuleFault } from '../../verdict/rules/rule.ts'
import { shippedRules } from './shipped-rules.ts'

/** A version of the rules with its text: the program's own where nothing else was kept. */
export type RuleVersion = { version: number; content: string; isShipped: boolean }

/** Who applies rules, when, and what is said of it. */
export type RuleDeed = { at: Date; reporterId: string | null; note: string }

/** What became of rules that were to be applied. */
export type Applied =
  | { version: number; changes: string }
  | { faults: RuleFault[] }
  /** Somebody else applied others meanwhile; this is their version. */
  | { overtakenBy: number }

/** The longest note that is kept. */
export const RULE_NOTE_CHARS_MAX = 300

/** The version that acts. */
export async function actingRules(db: Db): Promise<RuleVersion> {
  const version = await newestRuleVersion(db)
  return (await findRules(db, version)) ?? { version, content: shippedRules(), isShipped: true }
}

/** A version by its number; 0 is the program's own rules. */
export async function findRules(db: Db, version: number): Promise<RuleVersion | undefined> {
  if (version === 0) return { version, content: shippedRules(), isShipped: true }
  const set = await findRuleSet(db, version)
  if (!set) return undefined
  return { version, content: set.content ?? shippedRules(), isShipped: set.content === null }
}

/**
 * Makes rules the acting ones, as a new version after `base`, from which they were made. Only
 * a file without fault is taken. Null stands for the program's own, also those of later releases.
 */
export async function applyRules(
  { pool, definitions }: { pool: Pool; definitions: readonly FactDefinition[] },
  content: string | null,
  base: number,
  deed: RuleDeed,
): Promise<Applied> {
  const compiled = compileRules(content ?? shippedRules(), definitions)
  if ('faults' in compiled) return compiled
  return inTransaction(pool, async (tx) => {
    const acting = await actingRules(tx)
    if (acting.version !== base) return { overtakenBy: acting.version }
    const version = base + 1
    const note = deed.note.trim().slice(0, RULE_NOTE_CHARS_MAX)
    const isFirst = await insertRuleSet(tx, {
      version,
      content,
      note,
      appliedAt: deed.at,
      appliedBy: deed.reporterId,
    })
    if (!isFirst) return { overtakenBy: version }
    const changes = changesInWords(compareRules(rulesOf(acting, definitions), compiled.rules.rules))
    const detail = `version ${version}: ${changes}${note === '' ? '' : `; ${note}`}`
    const { at, reporterId } = deed
    await insertAudit(tx, { at, reporterId, action: 'apply rules', detail })
    return { version, changes }
  })
}

/** Goes back to a version, by a new one with its rules; undefined when there is no such version. */
export async function rollBackRules(
  app: { pool: Pool; definitions: readonly FactDefinition[] },
  version: number,
  deed: Omit<RuleDeed, 'note'>,
): Promise<Applied | undefined> {
  const former = await findRules(app.pool, version)
  if (!former) return undefined
  const base = await newestRuleVersion(app.pool)
  const note = version === 0 ? "Back to the program's own rules." : `Back to version ${version}.`
  const content = former.isShipped ? null : former.content
  return applyRules(app, content, base, { ...deed, note })
}

/** The rules of a version; none where this program cannot compile them. */
export function rulesOf(
  { content }: RuleVersion,
  definitions: readonly FactDefinition[],
): readonly Rule[] {
  const compiled = compileRules(content, definitions)
  return 'rules' in compiled ? compiled.rules.rules : []
}
