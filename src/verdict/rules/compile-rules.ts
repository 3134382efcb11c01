import type { FactDefinition } from '../facts/fact.ts'
import { createConditionCompiler } from './condition.ts'
import { readRuleFile } from './rule-file.ts'
import { RuleBook, type OnCutOff, type RuleWithCondition } from './rule-book.ts'
import type { Elapsed } from './rule-costs.ts'
import { ruleBounds, type RuleFault } from './rule.ts'

/** A set of rules that may act, or all that is wrong with the file. */
export type Compiled = { rules: RuleBook } | { faults: RuleFault[] }

/**
 * Makes rules of a file: of the whole file or of nothing. Never throws, whatever the text is. With
 * an `elapsed` (milliseconds, monotonic) the rules watch their own cost, and `onCutOff` hears of
 * those that cost too much.
 */
export function compileRules(
  text: string,
  definitions: readonly FactDefinition[],
  timing: { elapsed?: Elapsed; onCutOff?: OnCutOff } = {},
): Compiled {
  const { conditions, faults } = readRuleFile(text)
  const compile = createConditionCompiler(definitions)
  const all = [...faults]
  const rules = conditions.flatMap(({ when, symbol, rule, placeOf }): RuleWithCondition[] => {
    const condition = compile(when)
    if ('holds' in condition) return rule ? [{ ...rule, facts: condition.facts, condition }] : []
    for (const { offset, reason } of condition.faults) {
      all.push({ ...placeOf(offset), ...(symbol !== undefined && { symbol }), reason })
    }
    return []
  })
  if (all.length === 0) return { rules: new RuleBook(rules, definitions, timing) }
  return { faults: inOrder(all) }
}

function inOrder(faults: readonly RuleFault[]): RuleFault[] {
  const { faultsMax } = ruleBounds
  const sorted = faults.toSorted((a, b) => a.line - b.line || (a.column ?? 0) - (b.column ?? 0))
  if (sorted.length <= faultsMax) return sorted
  const rest = sorted[faultsMax]
  const more = { line: rest?.line ?? 1, reason: `And ${sorted.length - faultsMax} more faults.` }
  return [...sorted.slice(0, faultsMax), more]
}
