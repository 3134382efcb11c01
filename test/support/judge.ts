import { readFileSync } from 'node:fs'
import path from 'node:path'
import { createCounterReader } from '../../src/counters/reader.ts'
import type { Pool } from '../../src/db/pool.ts'
import { createJudge, type Judge } from '../../src/judging/judge.ts'
import { createReputationReader } from '../../src/judging/reputation-reader.ts'
import { factDefinitions } from '../../src/verdict/facts/fact-list.ts'
import { compileRules } from '../../src/verdict/rules/compile-rules.ts'
import type { RuleBook } from '../../src/verdict/rules/rule-book.ts'
import type { Clock } from '../../src/world.ts'

const shipped = path.join(import.meta.dirname, '../../src/verdict/rules/shipped-rules.yaml')

/** The rules that act where none were applied. */
export function shippedRules(): RuleBook {
  const compiled = compileRules(readFileSync(shipped, 'utf8'), factDefinitions)
  if ('faults' in compiled) throw new Error(JSON.stringify(compiled.faults))
  return compiled.rules
}

/** A judge with the shipped rules and no model, which remembers nothing from case to case. */
export function testJudge(pool: Pool, clock: Clock): Judge {
  const rules = shippedRules()
  const nothingKept = { keysMax: 0, freshMs: 0 }
  return createJudge({
    counters: createCounterReader({ pool, clock }, nothingKept),
    reputations: createReputationReader({ pool, clock }, nothingKept),
    rules: { current: () => rules },
    model: { current: () => undefined },
    clock,
  })
}
