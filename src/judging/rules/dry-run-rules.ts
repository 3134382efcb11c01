import { setImmediate as breathe } from 'node:timers/promises'
import { listJudgedFacts } from '../../db/judged-facts.ts'
import type { Db } from '../../db/pool.ts'
import type { FactDefinition, Facts } from '../../verdict/facts/fact.ts'
import { compileRules } from '../../verdict/rules/compile-rules.ts'
import { DryRun, type DryRunResult, type Judge } from '../../verdict/rules/dry-run.ts'
import type { RuleFault } from '../../verdict/rules/rule.ts'
import { systemElapsed } from '../../world.ts'
import { actingRules } from './rule-versions.ts'

/** What rules are about and lead to, as this program has it. */
export type RuleKnowledge = {
  definitions: readonly FactDefinition[]
  unpackFacts: (packed: Buffer) => Facts
  judge: Judge
}

const BATCH = 200
const BREATH = 10

/**
 * Tries rules on the newest reports beside those that act: what would have been judged otherwise,
 * by what was known of each then. Nothing is written. `tell` hears of the reports looked at so far.
 */
export async function dryRunRules(
  db: Db,
  content: string,
  knowledge: RuleKnowledge,
  options: { last: number; tell?: (reports: number) => void; isOver?: () => boolean },
): Promise<{ result: DryRunResult } | { faults: RuleFault[] }> {
  const { definitions, unpackFacts, judge } = knowledge
  const timing = { elapsed: systemElapsed }
  const candidate = compileRules(content, definitions, timing)
  if ('faults' in candidate) return candidate
  const acting = compileRules((await actingRules(db)).content, definitions)
  if ('faults' in acting) {
    const [fault] = acting.faults
    const reason = `The rules that act cannot be run by this program: ${fault?.reason ?? ''}`
    return { faults: [{ line: 1, reason }] }
  }
  const run = new DryRun(acting.rules, candidate.rules, judge)
  let before: string | undefined
  for (let looked = 0; looked < options.last && options.isOver?.() !== true;) {
    const limit = Math.min(BATCH, options.last - looked)
    const rows = await listJudgedFacts(db, { before, limit })
    for (const [at, { id, facts, probability }] of rows.entries()) {
      // The process may have requests to answer meanwhile.
      if (at % BREATH === BREATH - 1) await breathe()
      run.look(id, unpackFacts(facts), probability ?? undefined)
    }
    looked += rows.length
    options.tell?.(looked)
    before = rows.at(-1)?.id
    if (rows.length < limit) break
  }
  return { result: run.result() }
}
