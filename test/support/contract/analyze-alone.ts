import type { App } from '../../../src/app.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { createParserPool } from '../../../src/parsing/parser-pool.ts'
import { testJudge } from '../judge.ts'

/** Analyzes one report, as the work process would. */
export async function analyzeAlone(app: App, reportId: string): Promise<void> {
  const parser = createParserPool(1)
  try {
    const judge = testJudge(app.pool, app.clock)
    await runAnalyzeReport([{ reportId }], { ...app, parser, judge, rdap: undefined })
  } finally {
    await parser.close()
  }
}
