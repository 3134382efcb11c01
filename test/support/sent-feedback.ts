import type { App } from '../../src/app.ts'
import { findFeedback, insertFeedbackMessages } from '../../src/db/feedback-reports.ts'
import { pack } from '../../src/db/rows.ts'
import { createPreview } from '../../src/feedback/compose-feedback.ts'
import { runAnalyzeReport } from '../../src/reports/analyze-report.ts'
import type { ParserPool } from '../../src/parsing/parser-pool.ts'
import { testJudge } from './judge.ts'

/** The feedback report that was sent to the abuse desk of a report's network. */
export type SentFeedback = { reportId: string; number: number }

/**
 * Analyzes a report whose network has an abuse desk, and marks its feedback report as sent
 * `hoursAgo` hours ago.
 */
export async function createSentFeedback(
  app: App,
  parser: ParserPool,
  reportId: string,
  hoursAgo = 1,
): Promise<SentFeedback> {
  const judge = testJudge(app.pool, app.clock)
  await runAnalyzeReport([{ reportId }], { ...app, parser, judge, rdap: undefined })
  return leave(app, { reportId, number: 1 }, hoursAgo)
}

/** Stores the mail of a feedback report, as the sending job does. */
export async function keepCopy(app: App, parser: ParserPool, key: SentFeedback): Promise<void> {
  const feedback = await findFeedback(app.pool, key)
  const raw = feedback && (await createPreview(app, () => parser)(feedback))
  if (!raw) throw new Error('The feedback report could not be composed.')
  await insertFeedbackMessages(app.pool, [{ ...key, ...(await pack(raw)) }])
}

/** Marks a feedback report as sent `hoursAgo` hours ago. */
async function leave(app: App, told: SentFeedback, hoursAgo = 1): Promise<SentFeedback> {
  const { reportId, number } = told
  const messageId = `<${reportId}.${number}@${app.config.returnPathDomain}>`
  const { rowCount } = await app.pool.query(
    `update feedback_reports set state = 'sent', message_id = $3, finished_at = $4
     where report_id = $1 and number = $2`,
    [reportId, number, messageId, new Date(app.clock().getTime() - hoursAgo * 3_600_000)],
  )
  if (rowCount !== 1) throw new Error('No one was notified of the report.')
  await app.pool.query(`update reports set state = 'forwarded' where id = $1`, [reportId])
  return told
}
