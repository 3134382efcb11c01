import { beforeEach, expect, test } from 'vitest'
import { removeRelay } from '../../../src/db/reporter-relays.ts'
import { holdReporters } from '../../../src/db/reporters.ts'
import { findReport } from '../../../src/db/reports.ts'
import { inTransaction } from '../../../src/db/pool.ts'
import { listReportsByIds } from '../../../src/db/reports.ts'
import { answerQuestion, forgetRelay, setRelays } from '../../../src/reports/set-relays.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import type { ParserPool } from '../../../src/parsing/parser-pool.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { relayedMessage } from '../../support/messages.ts'
import { parser } from '../../support/parser.ts'

const HOUR_MS = 3_600_000

// No origin reaches this confidence, so the reporter is asked about every report.
const app = await closeAfterTests(openTestApp({ ORIGIN_CONFIDENCE_MIN: '1' }))

beforeEach(() => app.pool.query('delete from reporter_relays'))

const relay = '192.0.2.10/32'

async function report(mark: string): Promise<string> {
  return (await app.report(relayedMessage(mark))).id
}

function analyze(reportId: string, by: ParserPool = parser) {
  return runAnalyzeReport([{ reportId }], { ...app, parser: by })
}

/** Returns a parser that calls `happens` once, just after it has read the first message. */
function onceAfterReading(happens: () => Promise<unknown>): ParserPool {
  let isDone = false
  return {
    ...parser,
    async analyze(packed, options) {
      const digest = await parser.analyze(packed, options)
      if (!isDone) await happens()
      isDone = true
      return digest
    },
  }
}

function tell(how: 'set' | 'refused', cidr = relay, now = new Date()) {
  return setRelays({ ...app, clock: () => now }, app.ann, [{ cidr, name: null, how }])
}

/**
 * Returns the state of a report, the number of its analysis jobs, and how many of them start later.
 */
async function stands(id: string): Promise<unknown[]> {
  const [report] = await listReportsByIds(app.pool, [id])
  const [jobs] = await app.rows(
    `select count(*)::int as all, (count(*) filter (where start_after > now()))::int as later
     from pgboss.job where name = 'analyze-report' and data ->> 'reportId' = $1`,
    [id],
  )
  return [report?.state, jobs?.['all'], jobs?.['later']]
}

test.for([
  ['a relay is named', () => tell('set', '192.0.2.0/24')],
  ['a relay is refused', () => tell('refused')],
  ['a relay is forgotten', () => forgetRelay(app, app.ann, relay)],
] as const)('if %s while a report is analyzed, it is analyzed again', async ([name, happens]) => {
  if (name !== 'a relay is named') await tell('set')
  const id = await report(name)
  expect(await analyze(id, onceAfterReading(happens))).toEqual(['done'])
  expect(await stands(id)).toEqual(['received', 2, 0])
  await analyze(id)
  expect(await stands(id)).toEqual(['kept', 2, 0])
})

test('repeated statements during an analysis repeat it once an hour', async () => {
  const id = await report('restless')
  await analyze(
    id,
    onceAfterReading(() => tell('set')),
  )
  await analyze(
    id,
    onceAfterReading(() => tell('refused')),
  )
  expect(await stands(id)).toEqual(['received', 3, 1])
})

test('statements that change nothing or concern others delay no report', async () => {
  await tell('set')
  const id = await report('unmoved')
  const happens = async () => {
    await tell('set')
    await tell('refused', '203.0.113.0/24')
    await setRelays(app, app.bob, [{ cidr: relay, name: null, how: 'set' }])
  }
  await analyze(id, onceAfterReading(happens))
  expect(await stands(id)).toEqual(['kept', 1, 0])
})

test('statements that are being written while a report is stored are waited for', async () => {
  const id = await report('at-once')
  let keeping: Promise<unknown> = Promise.resolve()
  await inTransaction(app.pool, async (tx) => {
    await holdReporters(tx, [app.ann], 'change')
    keeping = analyze(id)
    await waitUntilSomebodyWaits()
    await tx.query(
      `insert into reporter_relays (reporter_id, cidr, how, evidence, since)
       values ($1, $2, 'set', 0, now())`,
      [app.ann, relay],
    )
  })
  await keeping
  expect(await stands(id)).toEqual(['received', 2, 0])
  await inTransaction(app.pool, (tx) => removeRelay(tx, app.ann, relay))
})

async function waitUntilSomebodyWaits(): Promise<void> {
  for (;;) {
    const rows = await app.rows(
      `select pid from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    )
    if (rows.length > 0) return
  }
}

test('only reports with a question about a machine are analyzed again for it', async () => {
  const id = await report('unrelated')
  await analyze(id)
  for (const how of ['set', 'refused', 'set'] as const) await tell(how, '203.0.113.0/24')
  expect(await stands(id)).toEqual(['kept', 1, 0])
  await tell('refused', '192.0.2.0/24')
  expect(await stands(id)).toEqual(['received', 2, 0])
  await analyze(id)
})

test('a changed statement causes at most one more analysis, an hour later', async () => {
  const id = await report('often')
  await analyze(id)
  const start = Date.now()
  await tell('set', relay, new Date(start))
  await analyze(id)
  for (const how of ['refused', 'set', 'refused', 'set'] as const) {
    await tell(how, '192.0.2.0/24', new Date(start + 1_000))
  }
  expect(await stands(id)).toEqual(['received', 3, 1])
  await analyze(id)
  await tell('refused', '192.0.2.0/24', new Date(start + 2 * HOUR_MS))
  expect(await stands(id)).toEqual(['received', 4, 1])
})

test('an answer to a report’s own question takes effect at once', async () => {
  const id = await report('next-question')
  await analyze(id)
  for (const [times, ip] of ['192.0.2.10', '198.51.100.23'].entries()) {
    const asked = await findReport(app.pool, id)
    const given = { ip, isMine: true }
    expect(asked && (await answerQuestion(app, asked, given))).toBe('done')
    expect(await stands(id)).toEqual(['received', times + 2, 0])
    await analyze(id)
  }
})
