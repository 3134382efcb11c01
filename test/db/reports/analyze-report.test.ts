import { beforeEach, expect, test } from 'vitest'
import { retractReport } from '../../../src/reports/change-report.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { FilesUnderWay, type ParserPool } from '../../../src/parsing/parser-pool.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp, type TestApp } from '../../support/app.ts'
import { bounceMessage, spamMessage } from '../../support/messages.ts'
import { parser } from '../../support/parser.ts'
import { until } from '../../support/process.ts'

const app = await closeAfterTests(openTestApp())

beforeEach(() => app.pool.query(`update consumers set state = 'found'`))

function analyze(...payloads: { reportId: string; hasWaited?: boolean }[]) {
  return runAnalyzeReport(payloads, { ...app, parser })
}

function jobsOf({ reportId }: { reportId: string }) {
  return app.rows(
    `select data - 'reportId' as data from pgboss.job
     where name = 'forward-report' and data ->> 'reportId' = $1`,
    [reportId],
  )
}

async function stateOf({ reportId }: { reportId: string }) {
  const [report] = await app.rows('select state from reports where id = $1', [reportId])
  return report?.['state']
}

async function everything() {
  const tables = ['reports', 'analyses', 'report_events', 'feedback_reports', 'consumers']
  const rows = await Promise.all(
    tables.map((table) => app.rows(`select * from ${table} order by 1, 2`)),
  )
  return { rows, jobs: await app.rows(`select count(*) from pgboss.job`) }
}

async function one(mark: string, more: Parameters<TestApp['report']>[1] = {}) {
  return { reportId: (await app.report(spamMessage(mark), more)).id }
}

test('a report is analyzed, decided and queued for forwarding in one transaction', async () => {
  const payload = await one('whole')
  expect(await analyze(payload)).toEqual(['done'])
  expect(await stateOf(payload)).toBe('analyzed')
  expect(await jobsOf(payload)).toEqual([{ data: { number: 1 } }])
  const id = [payload.reportId]
  expect(
    await app.rows(
      `select host(origin_ip) as ip, network_cidr::text as cidr, verdict_class as verdict
       from analyses where id = $1`,
      id,
    ),
  ).toEqual([{ ip: '198.51.100.23', cidr: '198.51.100.0/25', verdict: 'spam' }])
  expect(
    await app.rows('select state, address from feedback_reports where report_id = $1', id),
  ).toEqual([{ state: 'queued', address: 'abuse@access-two.example' }])
  expect(await app.rows('select event from report_events where report_id = $1', id)).toEqual([
    { event: 'analyzed' },
  ])
})

test('a second run changes nothing, nor do two concurrent ones', async () => {
  const payloads = await app.reports('again-1', 'again-2', 'again-3')
  await Promise.all([analyze(...payloads), analyze(...payloads.toReversed())])
  for (const payload of payloads) expect(await jobsOf(payload)).toHaveLength(1)
  const before = await everything()
  expect(await analyze(...payloads)).toEqual(['done', 'done', 'done'])
  expect(await everything()).toEqual(before)
})

test('one unreadable report does not delay its batch', async () => {
  const [good, lost, alsoGood] = await app.reports('good', 'lost', 'also-good')
  if (!good || !lost || !alsoGood) throw new Error('A report is missing.')
  await app.pool.query('delete from raw_messages where id = $1', [lost.reportId])
  expect(await analyze(good, lost, alsoGood)).toEqual([
    'done',
    { retry: 'The raw message is missing.' },
    'done',
  ])
  const states = await Promise.all([good, lost, alsoGood].map(stateOf))
  expect(states).toEqual(['analyzed', 'received', 'analyzed'])
})

test('a report marked as failed is analyzed when its job is redriven', async () => {
  const payload = await one('redriven')
  await app.pool.query(`update reports set state = 'failed' where id = $1`, [payload.reportId])
  expect(await analyze(payload)).toEqual(['done'])
  expect(await stateOf(payload)).toBe('analyzed')
})

test('a retracted report is not changed, and a missing one is ignored', async () => {
  const payload = await one('retracted')
  await retractReport(app, payload.reportId, { isReporter: true })
  const unknown = { reportId: '01999999-0000-7000-8000-000000000000' }
  expect(await analyze(payload, unknown)).toEqual(['done', 'done'])
  expect(await stateOf(payload)).toBe('retracted')
  expect(await jobsOf(payload)).toEqual([])
})

test.for<[string, () => Promise<{ reportId: string }>, string]>([
  ['no spam', () => one('ham', { kind: 'not-spam' }), 'said-not-spam'],
  [
    'of an unknown network',
    async () => ({ reportId: (await app.report(spamMessage('far', { ip: '8.8.8.8' }))).id }),
    'network-unknown',
  ],
  [
    'written by a mail system',
    async () => ({ reportId: (await app.report(bounceMessage('x@y.example'))).id }),
    'automatic-mail',
  ],
])('a report that is %s is kept, and no one is notified', async ([, make, why]) => {
  const payload = await make()
  expect(await analyze(payload)).toEqual(['done'])
  expect(await stateOf(payload)).toBe('kept')
  expect(await jobsOf(payload)).toEqual([])
  const [event] = await app.rows('select phrases from report_events where report_id = $1', [
    payload.reportId,
  ])
  expect(event?.['phrases']).toContainEqual({ code: why })
})

test('a paused desk is not notified', async () => {
  await analyze(await one('makes-the-desk-known'))
  await app.pool.query(`update consumers set state = 'paused'`)
  const payload = await one('paused')
  await analyze(payload)
  expect(await stateOf(payload)).toBe('kept')
})

test('with FORWARD_TO=enrolled only enrolled desks are notified', async () => {
  const picky = { ...app, parser, config: { ...app.config, forwardTo: 'enrolled' as const } }
  const first = await one('not-enrolled')
  await runAnalyzeReport([first], picky)
  expect(await stateOf(first)).toBe('kept')
  await app.pool.query(`update consumers set state = 'enrolled'`)
  const second = await one('enrolled')
  await runAnalyzeReport([second], picky)
  expect(await stateOf(second)).toBe('analyzed')
})

test('a report about a network outside of FORWARD_SCOPE is kept, and counts', async () => {
  const forwardScope = { countries: ['ZW'], asns: [], blocks: [] as string[] }
  const payload = await one('abroad')
  await runAnalyzeReport([payload], { ...app, parser, config: { ...app.config, forwardScope } })
  expect(await stateOf(payload)).toBe('kept')
  const rowsOf = (table: string, column: string) =>
    app.rows(`select * from ${table} where ${column} = $1`, [payload.reportId])
  expect(await rowsOf('feedback_reports', 'report_id')).toEqual([])
  expect(await rowsOf('counted_reports', 'id')).toHaveLength(1)
  const [event] = await rowsOf('report_events', 'report_id')
  expect(event?.['phrases']).toContainEqual({ code: expect.stringMatching(/scope/) as string })
})

test('a message that is slow to parse delays none of its batch', async () => {
  const [slow, quick] = [await one('slow-to-read'), await one('quick-to-read')]
  const gate = Promise.withResolvers<undefined>()
  const slowly: ParserPool = {
    ...parser,
    async analyze(packed, options, { onSlow } = {}) {
      const digest = await parser.analyze(packed, options)
      if (!digest.subject?.includes('slow-to-read')) return digest
      onSlow?.()
      await gate.promise
      return digest
    },
  }
  const outcomes = runAnalyzeReport([slow, quick], { ...app, parser: slowly })
  try {
    await until('the quick one', async () => (await stateOf(quick)) === 'analyzed' || undefined)
    expect(await stateOf(slow)).toBe('received')
  } finally {
    gate.resolve(undefined)
  }
  expect(await outcomes).toEqual(['done', 'done'])
  expect(await stateOf(slow)).toBe('analyzed')
})

test('a report whose files take long is postponed once, and delays none of its batch', async () => {
  const [late, quick] = [await one('late-files'), await one('no-files')]
  const waiting: ParserPool = {
    ...parser,
    async analyze(packed, options, order = {}) {
      const digest = await parser.analyze(packed, options)
      const isLate = digest.subject?.includes('late-files') === true
      if (isLate && order.isRepeatable === true) throw new FilesUnderWay()
      return digest
    },
  }
  const tools = { ...app, parser: waiting }
  const again = { ...late, hasWaited: true }
  const postponedTo = expect.any(Date) as Date
  expect(await runAnalyzeReport([late, quick], tools)).toEqual([
    { postponedTo, payload: again },
    'done',
  ])
  expect([await stateOf(late), await stateOf(quick)]).toEqual(['received', 'analyzed'])
  expect(await runAnalyzeReport([again], tools)).toEqual(['done'])
  expect(await stateOf(late)).toBe('analyzed')
})
