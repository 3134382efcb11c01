import pg from 'pg'
import { afterAll, expect, test, vi } from 'vitest'
import { countReporterDays } from '../../src/counting/campaign-counts.ts'
import { insertUnsubscribe } from '../../src/db/advices.ts'
import { insertAnswer } from '../../src/db/feedback-answers.ts'
import { listFeedback } from '../../src/db/feedback-reports.ts'
import { insertMassRecords } from '../../src/db/mass-records.ts'
import {
  groupedToStore,
  isDistributed,
  isId,
  isOneOfIds,
  nameShards,
  prepared,
} from '../../src/db/prepared.ts'
import { insertEvents, listEvents } from '../../src/db/report-events.ts'
import { listReporterDays } from '../../src/db/reporter-days.ts'
import { listRawMessages, listReportsByIds } from '../../src/db/reports.ts'
import { upsertTerms } from '../../src/db/search.ts'
import { runFindContact } from '../../src/feedback/find-contact.ts'
import { runForwardReport } from '../../src/feedback/forward-report.ts'
import { runAdviseReporter } from '../../src/letters/advise-reporter.ts'
import { runDeliverWebhook } from '../../src/people/deliver-webhooks.ts'
import { runAnalyzeReport } from '../../src/reports/analyze-report.ts'
import { runRedeemReport } from '../../src/reports/redeem-report.ts'
import { shardOf, uuidv7 } from '../../src/world.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { openTestApp } from '../support/app.ts'
import { spamMessage } from '../support/messages.ts'
import { parser } from '../support/parser.ts'

// For all tests of this file: as on a distributed database. The next files share the module.
const wasDistributed = isDistributed()
nameShards(true)
afterAll(() => nameShards(wasDistributed))

const app = {
  ...(await closeAfterTests(openTestApp())),
  parser,
}
const mailer = {
  send: () => Promise.resolve({ outcome: 'accepted' as const, reply: '250 taken' }),
  close: () => Promise.resolve(),
}

/** Text that is long enough for a campaign. */
const letter = Array.from({ length: 120 }, (_, n) => `word${(n * 7919) % 1009}`).join(' ')

/** Accepts reports, each batch half a second after the last one, and returns their ids by batch. */
async function acceptBatches(batches: number, size: number): Promise<string[][]> {
  const accepted: string[][] = []
  const startMs = Date.now()
  vi.useFakeTimers({ toFake: ['Date'] })
  for (let batch = 0; batch < batches; batch++) {
    vi.setSystemTime(startMs + batch * 500)
    const marks = Array.from({ length: size }, (_, index) => `shard-${Math.random()}-${index}`)
    const raws = marks.map((mark) => Buffer.concat([spamMessage(mark), Buffer.from(letter)]))
    const together = await Promise.all(raws.map((raw) => app.report(raw)))
    accepted.push(together.map(({ id }) => id))
  }
  vi.useRealTimers()
  return accepted
}

test('the database computes the shard of an id as the program does', async () => {
  const ids = Array.from({ length: 64 }, () => crypto.randomUUID())
  const rows = await app.rows(
    'select id, shard_of(id) as shard from unnest($1::uuid[]) as id order by id',
    [ids],
  )
  expect(rows).toEqual(ids.toSorted().map((id) => ({ id, shard: shardOf(id) })))
})

test('reports of half a second are in one shard, and the next ones in the next', async () => {
  const batches = await acceptBatches(16, 8)
  for (const ids of batches) {
    expect(new Set(ids.map(shardOf)).size).toBe(1)
    expect(new Set(ids).size).toBe(8)
  }
  expect(new Set(batches.map(([first = '']) => shardOf(first))).size).toBe(16)
})

test('all rows of a report are in its shard, and are found there', async () => {
  const ids = (await acceptBatches(6, 3)).flat()
  const queries = vi.spyOn(pg.Client.prototype, 'query')
  const payloads = ids.map((reportId) => ({ reportId }))
  const outcomes = await runAnalyzeReport(payloads, app)
  expect(outcomes).toEqual(ids.map(() => 'done'))
  const texts = queries.mock.calls.map(([query]) => (query as { text?: string }).text ?? '')
  queries.mockRestore()
  const transactions = texts.filter((text) => /^\s*update reports set state/.test(text))
  const shards = new Set(ids.map(shardOf))
  // Each transaction marks what is analyzed, and asks for one shard.
  expect(transactions).toHaveLength(shards.size)
  for (const text of transactions) expect(text).toMatch(/ and shard in \(\$\d+\)/)

  await runForwardReport(
    ids.map((reportId) => ({ reportId, number: 1 })),
    { ...app, mailer },
  )
  const at = new Date()
  for (const reportId of ids) {
    const said = { said: null, mailId: null }
    const answer = { reportId, number: 1, answer: 'resolved', how: 'link', at, ...said } as const
    expect(await insertAnswer(app.pool, answer)).toBe(true)
    const asked = { reportId, reporterId: app.ann, host: 'shop.example', askedAt: at }
    expect(await insertUnsubscribe(app.pool, asked)).toBe(true)
  }
  await upsertTerms(
    app.pool,
    ids.map((id) => ({ id, terms: ['kind:spam'] })),
  )
  const parts = ids.map((reportId) => ({ reportId, feedback: [], evidence: undefined }))
  await insertMassRecords(app.pool, uuidv7(at), parts, at)
  expect(await listReportsByIds(app.pool, ids)).toHaveLength(ids.length)
  expect(await listRawMessages(app.pool, ids)).toHaveLength(ids.length)
  const feedback = await listFeedback(app.pool, ids)
  expect(feedback.map(({ state }) => state)).toEqual(ids.map(() => 'sent'))
  for (const id of ids) {
    expect((await listEvents(app.pool, id)).map(({ event }) => event)).toEqual(['analyzed', 'sent'])
  }

  const tables = await app.rows(
    `select table_name as name, attname as id from table_placements
       join pg_index on indrelid = table_name::regclass and indisprimary
       join pg_attribute on attrelid = indrelid and attnum = indkey[0]
         and atttypid = 'uuid'::regtype
     where distribution_key = 'shard' order by 1`,
  )
  expect(tables.length).toBeGreaterThanOrEqual(12)
  for (const { name, id } of tables) {
    const [count] = await app.rows(
      `select count(*) > 0 as "hasRows", count(*) filter (where shard <> shard_of(${String(id)}))
         as misplaced from ${String(name)}`,
    )
    expect([name, count]).toEqual([name, { hasRows: true, misplaced: 0 }])
  }
})

test('a condition on ids names their shards, in few statements', () => {
  const id = (digit: string) => crypto.randomUUID().slice(0, -1) + digit
  const condition = (ids: string[]) => isOneOfIds('reports.id', ids)
  expect(condition([id('a'), id('a')]).sql).toMatch(/and reports\.shard in \(\?\)$/)
  expect(condition([id('a'), id('f')]).values.slice(-2)).toEqual([10, 15])
  expect(condition(['3', 'c', '1'].map(id)).values.slice(-4)).toEqual([1, 3, 12, 12])
  expect(condition([]).sql).not.toContain('shard')
  const one = isId('report_id', id('B'))
  expect([one.sql, one.values.at(-1)]).toEqual(['report_id = ? and shard in (?)', 11])
  const digits = [...'0123456789abcdef']
  const names = digits.map((_, index) => {
    const ids = digits.slice(0, index + 1).map(id)
    return prepared`select from reports where ${condition(ids)}`.name
  })
  expect(new Set(names).size).toBe(5)
})

test('rows to store are divided by shard, each once and in their order', () => {
  const ids = ['a1', 'b2', 'c1', 'd2', 'e1']
  expect(groupedToStore(ids, (id) => id)).toEqual([
    ['a1', 'c1', 'e1'],
    ['b2', 'd2'],
  ])
  expect(groupedToStore([], String)).toEqual([])
})

/** Has the jobs of a report run that is not in the database, or of its feedback report. */
async function runWithoutRows(seconds: number) {
  const since = new Date(app.clock().getTime() - seconds * 1_000)
  const reportId = uuidv7(since)
  const waitsSince = since.toISOString()
  const forwarded = { reportId, number: 1, postponedSince: waitsSince }
  return [
    ...(await runAnalyzeReport([{ reportId }], app)),
    ...(await runRedeemReport([{ reportId, waitsSince }], app)),
    ...(await runForwardReport([forwarded], { ...app, mailer })),
    ...(await runDeliverWebhook([{ webhookId: uuidv7(since), deliveryId: uuidv7(since) }], {
      ...app,
      postWebhook: () => Promise.reject(new Error('There is nothing to deliver.')),
    })),
  ]
}

test('a job waits for rows that a lost node does not show yet, but not for long', async () => {
  const [analysis, ...others] = await runWithoutRows(30)
  expect(analysis).toHaveProperty('outage')
  for (const outcome of others) expect(outcome).toHaveProperty('postponedTo')
  expect(await runWithoutRows(60)).toEqual(['done', 'done', 'done', 'done'])
})

/**
 * Returns a pool whose first statement with some words finds nothing, as if the rows became visible
 * between two statements.
 */
function poolWithout(words: string): typeof app.pool {
  let isFirst = true
  const query = (statement: pg.QueryConfig) => {
    if (!isFirst || !statement.text.includes(words)) return app.pool.query(statement)
    isFirst = false
    return Promise.resolve({ rows: [] })
  }
  return new Proxy(app.pool, {
    get: (of, key) => (key === 'query' ? query : Reflect.get(of, key)),
  })
}

test('the message of a report is read again if it is not visible yet', async () => {
  const { id: reportId } = await app.report(spamMessage('apart'))
  const pool = poolWithout('from raw_messages')
  expect(await runAnalyzeReport([{ reportId }], { ...app, pool })).toEqual(['done'])
})

test('a feedback report waits for its consumer', async () => {
  const { id: reportId } = await app.report(spamMessage('unknown'))
  await runAnalyzeReport([{ reportId }], app)
  const pool = poolWithout('from consumers')
  const forwarding = runForwardReport([{ reportId, number: 1 }], { ...app, pool, mailer })
  await expect(forwarding).rejects.toThrow('not visible yet')
  expect(await runForwardReport([{ reportId, number: 1 }], { ...app, mailer })).toEqual(['done'])
})

test('a job waits for an analysis that is not visible yet, but not for long', async () => {
  const { id: reportId } = await app.report(spamMessage('early'))
  // As after a day in the queue.
  const queued = { ...app, clock: () => new Date(Date.now() + 86_400_000) }
  const late = { ...app, clock: () => new Date(Date.now() + 86_460_000) }
  for (const state of ['received', 'failed']) {
    await app.pool.query('update reports set state = $2 where id = $1', [reportId, state])
    for (const [run, since] of [
      [runFindContact, 'firstAskedAt'],
      [runAdviseReporter, 'waitsSince'],
    ] as const) {
      const payload = { reportId, [since]: queued.clock().toISOString() }
      const waits = {
        postponedTo: expect.any(Date),
        payload: { reportId, [since]: expect.any(String) },
      }
      expect(await run([{ reportId }], queued)).toEqual([waits])
      expect(await run([payload], late)).toEqual(['done'])
    }
  }
})

test('a job waits for a change of its row that is not visible yet, but not for long', async () => {
  const { id: reportId } = await app.report(spamMessage('changed'))
  await runAnalyzeReport([{ reportId }], app)
  const late = { ...app, clock: () => new Date(Date.now() + 60_000) }
  const now = app.clock().toISOString()
  // The report is to wait for another contact.
  expect(await runFindContact([{ reportId }], app)).toEqual([
    { postponedTo: expect.any(Date), payload: { reportId, firstAskedAt: expect.any(String) } },
  ])
  expect(await runFindContact([{ reportId, firstAskedAt: now }], late)).toEqual(['done'])
  const send = vi.spyOn(mailer, 'send')
  const feedback = { reportId, number: 1 }
  const forward = (payload: Parameters<typeof runForwardReport>[0][number], at = app) =>
    runForwardReport([payload], { ...at, mailer })
  for (const state of ['waiting', 'shadowed', 'held', 'refused']) {
    await app.pool.query('update feedback_reports set state = $2 where report_id = $1', [
      reportId,
      state,
    ])
    expect(await forward(feedback)).toEqual([
      {
        postponedTo: expect.any(Date),
        payload: { ...feedback, postponedSince: expect.any(String) },
      },
    ])
    expect(await forward({ ...feedback, postponedSince: now }, late)).toEqual(['done'])
  }
  expect(send).not.toHaveBeenCalled()
})

test('news of a change is taken when the change is visible', async () => {
  const { id } = await app.report(spamMessage('noted'))
  await insertEvents(app.pool, [{ reportId: id, at: app.clock(), event: 'analyzed', phrases: [] }])
  // Its transaction has committed its part on the coordinator, and now waits for a node.
  expect(await countReporterDays(app.pool, app.clock)).toBe(0)
  await app.pool.query(`update reports set state = 'kept' where id = $1`, [id])
  expect(await countReporterDays(app.pool, () => new Date(Date.now() + 60_000))).toBe(1)
  const day = new Date().toISOString().slice(0, 10)
  expect(await listReporterDays(app.pool, app.ann, day)).toMatchObject([{ kept: 1 }])
})
