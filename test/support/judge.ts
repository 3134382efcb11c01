import { createCounterReader } from '../../src/counting/reader.ts'
import type { Pool } from '../../src/db/pool.ts'
import { createJudge, type Judge } from '../../src/judging/judge.ts'
import { createReputationReader } from '../../src/counting/reputation-reader.ts'
import { runAnalyzeReport } from '../../src/reports/analyze-report.ts'
import type { Clock } from '../../src/world.ts'
import { shippedRules } from './shipped-rules.ts'

/** Creates a judge with the shipped rules and no model. Its caches keep nothing between cases. */
export function testJudge(pool: Pool, clock: Clock): Judge {
  const rules = shippedRules()
  const nothingKept = { keysMax: 1, freshMs: 0 }
  const counters = createCounterReader({ pool, clock }, nothingKept)
  return createJudge({
    counters,
    reputations: createReputationReader({ pool, clock, counters }, nothingKept),
    rules: { current: () => rules },
    model: { current: () => undefined },
    clock,
  })
}

type AnalysisApp = Parameters<typeof runAnalyzeReport>[1]

/** Analyzes reports with the test judge, without queries to registries. */
export function analyzeReports(
  app: Omit<AnalysisApp, 'judge' | 'rdap'>,
  ids: readonly string[],
): ReturnType<typeof runAnalyzeReport> {
  const judge = testJudge(app.pool, app.clock)
  const payloads = ids.map((reportId) => ({ reportId }))
  return runAnalyzeReport(payloads, { ...app, judge, rdap: undefined })
}
