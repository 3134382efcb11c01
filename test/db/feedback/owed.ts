import { ensureConsumers } from '../../../src/db/consumers.ts'
import type { FeedbackKey } from '../../../src/db/feedback-reports.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import type { ParserPool } from '../../../src/parsing/parser-pool.ts'
import type { TestApp } from '../../support/app.ts'

/** Queues feedback reports for an address, one for each mark. */
export async function owe(
  app: TestApp & { parser: ParserPool },
  address: string,
  marks: readonly string[],
): Promise<FeedbackKey[]> {
  const payloads = await app.reports(...marks)
  await runAnalyzeReport(payloads, app)
  const consumers = await ensureConsumers(app.pool, [{ address, source: 'network' }], new Date())
  await app.pool.query(
    `update feedback_reports set consumer_id = $2, address = $3 where report_id = any($1::uuid[])`,
    [payloads.map(({ reportId }) => reportId), consumers.get(address)?.id, address],
  )
  return payloads.map(({ reportId }) => ({ reportId, number: 1 }))
}

/** The states of feedback reports, in order. */
export async function statesOf(
  { rows }: Pick<TestApp, 'rows'>,
  keys: readonly FeedbackKey[],
): Promise<string[]> {
  const found = await rows(
    `select report_id as "reportId", number, state from feedback_reports
     where report_id = any($1::uuid[])`,
    [keys.map(({ reportId }) => reportId)],
  )
  const stateOf = new Map(found.map((row) => [`${row['reportId']} ${row['number']}`, row['state']]))
  return keys.map(({ reportId, number }) => String(stateOf.get(`${reportId} ${number}`)))
}
