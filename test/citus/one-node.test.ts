import pg from 'pg'
import { expect, test, vi } from 'vitest'
import { rollUp } from '../../src/counting/roll-up.ts'
import { inTransaction } from '../../src/db/pool.ts'
import { runForwardReport } from '../../src/feedback/forward-report.ts'
import { createParserPool } from '../../src/parsing/parser-pool.ts'
import { runAnalyzeReport } from '../../src/reports/analyze-report.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { openTestApp } from '../support/app.ts'
import { type Increment, appendDeltas } from '../support/increments.ts'

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

/** Returns the statements about rows that some work runs, each text once. */
async function statementsOf(work: () => Promise<unknown>): Promise<Statement[]> {
  const queries = vi.spyOn(pg.Client.prototype, 'query')
  await work()
  const given = queries.mock.calls.map(([query]) => query as Partial<Statement>)
  queries.mockRestore()
  const all = given.flatMap(({ text, values = [] }) => {
    return text && /^\s*(select|insert|update|delete|with)\b/i.test(text)
      ? [[text, { text, values }]]
      : []
  })
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

/** Returns the texts of statements that ask more than one node. */
async function dividedOf(statements: readonly Statement[]): Promise<string[]> {
  const divided: string[] = []
  for (const one of statements) if ((await tasksOf(one)) > 1) divided.push(one.text)
  return divided
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
      !elsewhere.some((table) => new RegExp(`(from|into|update) ${table}(_\\d+)?\\b`).test(text)),
  )
  expect(statements.length).toBeGreaterThan(30)
  expect(await dividedOf(statements)).toEqual([])
})

test('each statement of a roll-up of one shard asks one node', async () => {
  const now = new Date()
  const increments = Array.from({ length: 200 }, (_, number): Increment => {
    const shingle = (7n << 60n) + (number < 100 ? 5n : BigInt(number))
    return { prefix: 'reports', shingle, unique: BigInt(number), spam: 1, at: now }
  })
  // The second one updates the rows of the first, and reads chunks of members.
  const statements = await statementsOf(async () => {
    for (let time = 0; time < 2; time++) {
      await inTransaction(app.pool, (tx) => appendDeltas(tx, increments, now))
      expect(await rollUp(app.pool, [7], now)).toMatchObject({ entries: 200 })
    }
  })
  expect(statements.map(({ text }) => text).join('\n')).toMatch(/join counter_members/)
  expect(await dividedOf(statements)).toEqual([])
})
