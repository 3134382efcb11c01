import pg from 'pg'
import { expect, test, vi } from 'vitest'
import { inTransaction } from '../../src/db/pool.ts'
import { runForwardReport } from '../../src/feedback/forward-report.ts'
import { createParserPool } from '../../src/parsing/parser-pool.ts'
import { runAnalyzeReport } from '../../src/reports/analyze-report.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { openTestApp } from '../support/app.ts'

const app = {
  ...(await closeAfterTests(openTestApp())),
  parser: await closeAfterTests(createParserPool(1)),
}
const mailer = {
  send: () => Promise.resolve({ outcome: 'accepted' as const, reply: '250 taken' }),
  close: () => Promise.resolve(),
}

/** Tables with rows that are found by their content, wherever the report is. */
const elsewhere = ['report_keys', 'campaign_keys', 'counters', 'reputations', 'campaign_days']

type Statement = { text: string; values: unknown[] }

/** Returns the statements that some work runs, each text once. */
async function statementsOf(work: () => Promise<unknown>): Promise<Statement[]> {
  const queries = vi.spyOn(pg.Client.prototype, 'query')
  await work()
  const given = queries.mock.calls.map(([query]) => query as Partial<Statement>)
  queries.mockRestore()
  const all = given.flatMap(({ text, values = [] }) => (text ? [[text, { text, values }]] : []))
  return [...new Map(all as [string, Statement][]).values()]
}

/** Returns the number of tasks into which Citus divides a statement; 0 if it does not see it. */
function tasksOf({ text, values }: Statement): Promise<number> {
  return inTransaction(app.pool, async (tx) => {
    const { rows } = await tx.query<Record<string, string>>(`explain (costs off) ${text}`, values)
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
    return Math.max(
      0,
      ...[...plan.matchAll(/Task Count: (\d+)/g)].map(([, count]) => Number(count)),
    )
  })
}

test('each statement about a batch of reports asks one node', async () => {
  // Of these marks the first is accepted alone, because a single submission does not wait.
  const marks = Array.from({ length: 9 }, (_, index) => `node-${index}`)
  let payloads: { reportId: string }[] = []
  const accepted = await statementsOf(async () => {
    payloads = (await app.reports(...marks)).slice(1)
  })
  const analyzed = await statementsOf(() => runAnalyzeReport(payloads, app))
  const forwarded = await statementsOf(() =>
    runForwardReport(
      payloads.map(({ reportId }) => ({ reportId, number: 1 })),
      { ...app, mailer },
    ),
  )
  const statements = [...accepted, ...analyzed, ...forwarded].filter(
    ({ text }) =>
      /^\s*(select|insert|update|delete|with)\b/i.test(text) &&
      !elsewhere.some((table) => new RegExp(`(from|into|update) ${table}(_\\d+)?\\b`).test(text)),
  )
  expect(statements.length).toBeGreaterThan(30)
  const divided = await Promise.all(
    statements.map(async (one) => ((await tasksOf(one)) > 1 ? [one.text] : [])),
  )
  expect(divided.flat()).toEqual([])
})
