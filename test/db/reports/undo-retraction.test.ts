import { beforeEach, expect, test } from 'vitest'
import { inTransaction } from '../../../src/db/pool.ts'
import { findAccount } from '../../../src/db/reporters.ts'
import { runForwardReport } from '../../../src/feedback/forward-report.ts'
import type { Mailer } from '../../../src/net/mailer.ts'
import { phrase } from '../../../src/phrase.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { retractReport } from '../../../src/reports/change-report.ts'
import { beginErasure, runEraseAccount } from '../../../src/reports/erase-account.ts'
import { runRedeemReport } from '../../../src/reports/redeem-report.ts'
import {
  endLateUndos,
  restorableUntil,
  restoreOwnReport,
  takeReportBack,
} from '../../../src/reports/undo-retraction.ts'
import { listReportsByIds } from '../../../src/db/reports.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { rollUpAll } from '../../support/counter-rows.ts'
import { foldAll } from '../../support/evidence.ts'
import { spamMessage } from '../../support/messages.ts'
import { parser } from '../../support/parser.ts'

const app = await closeAfterTests(openTestApp())
const MINUTE_MS = 60_000
const after = (minutes: number) => ({
  ...app,
  clock: () => new Date(Date.now() + minutes * MINUTE_MS),
})

beforeEach(async () => {
  await app.pool.query(
    `truncate counters, counter_members, counter_deltas, counter_gates, counted_reports,
       reports_to_count, reputation_evidence, reported_evidence, reputations,
       mass_action_records`,
  )
})

const mailer: Mailer = {
  send: () => Promise.resolve({ outcome: 'accepted', reply: '250 taken' }),
  close: () => Promise.resolve(),
}

async function analyzed(mark: string): Promise<string> {
  const { id } = await app.report(spamMessage(mark))
  await runAnalyzeReport([{ reportId: id }], { ...app, parser })
  return id
}

async function forward(reportId: string) {
  await runForwardReport([{ reportId, number: 1 }], { ...app, parser, mailer })
}

const redeem = (reportId: string, on = app) => runRedeemReport([{ reportId }], on)

const told = async (id: string) =>
  (
    await app.rows(
      `select kind || ' ' || state as told from feedback_reports
       where report_id = $1 order by number`,
      [id],
    )
  ).map((row) => row['told'])

/** Everything that a report takes part in. */
async function everything(id: string) {
  await rollUpAll(app.pool, new Date())
  await foldAll(app.pool, new Date())
  const rows = (query: string) => app.rows(query, [id])
  return {
    reports: await rows('select id, state, kind, shadow from reports where id = $1'),
    analyses: await rows(
      'select id, judgment, facts, content, network_cidr from analyses where id = $1',
    ),
    counted: await rows('select id, campaign_id, content from counted_reports where id = $1'),
    days: await rows(
      `select campaign_id, day, reports from campaign_days
       where campaign_id = (select campaign_id from counted_reports where id = $1)`,
    ),
    evidence: await rows('select id, content from reported_evidence where id = $1'),
    feedback: await rows(`select report_id, number, kind, state, due_at
       from feedback_reports where report_id = $1`),
    bad: await app.rows('select count(*) from reputations where bad > 0.01'),
    karma: await app.rows('select reporter_id, retractions from karmas where retractions > 0'),
    records: await app.rows('select report_id from mass_action_records'),
  }
}

test.for([
  ['whose feedback is queued', () => Promise.resolve()],
  ['whose desk was notified', forward],
] as const)('a report %s is as before after its restoration', async ([whose, prepare]) => {
  const id = await analyzed(`restored-${whose}`)
  await prepare(id)
  const before = await everything(id)
  expect(before).toMatchObject({ counted: [{}], evidence: [{}], feedback: [{}] })
  expect(await takeReportBack(app, id)).toBe(true)
  expect(await takeReportBack(app, id)).toBe(false)
  await redeem(id)
  expect(await everything(id)).toMatchObject({ counted: [], records: [{}] })
  expect(await restoreOwnReport(after(59), id)).toBe(true)
  await redeem(id)
  expect(await everything(id)).toEqual(before)
  const events = await app.rows(
    'select event, phrases from report_events where report_id = $1 order by at, id',
    [id],
  )
  expect(events.at(-1)).toEqual({ event: 'changed', phrases: [phrase('restored-by-reporter')] })
})

test('the desk learns of a retraction after the hour, and then it is final', async () => {
  const id = await analyzed('final')
  await forward(id)
  await takeReportBack(app, id)
  await redeem(id)
  await endLateUndos(after(59))
  expect(await told(id)).toEqual(['complaint sent'])
  const [report] = await listReportsByIds(app.pool, [id])
  expect(report && (await restorableUntil(app.pool, report, new Date()))).toBeInstanceOf(Date)
  await endLateUndos(after(61))
  await endLateUndos(after(62))
  await redeem(id, after(62))
  expect(await told(id)).toEqual(['complaint sent', 'redeemed queued'])
  expect(await restoreOwnReport(after(61), id)).toBe(false)
  expect(report && (await restorableUntil(app.pool, report, new Date()))).toBeUndefined()
  expect((await everything(id)).karma).toMatchObject([{ reporter_id: app.ann }])
})

test('an hour later a report stays retracted, even if the job is late', async () => {
  const id = await analyzed('late')
  await takeReportBack(app, id)
  expect(await restoreOwnReport(after(61), id)).toBe(false)
  expect(await everything(id)).toMatchObject({ reports: [{ state: 'retracted' }] })
})

test('of two tabs, one restores the report, and the counts change once', async () => {
  const id = await analyzed('two-tabs')
  const before = await everything(id)
  for (let round = 0; round < 5; round++) {
    expect((await Promise.all([1, 2].map(() => takeReportBack(app, id)))).toSorted()).toEqual([
      ...[false, true],
    ])
    const [one, two] = await Promise.all([
      ...[restoreOwnReport(app, id), restoreOwnReport(app, id)],
      redeem(id),
    ])
    expect([one, two].toSorted()).toEqual([false, true])
    expect(await everything(id)).toEqual(before)
  }
})

test('a restoration at the end of the hour is complete, or has no effect', async () => {
  const id = await analyzed('deadline')
  await forward(id)
  const before = await everything(id)
  for (let round = 0; round < 5; round++) {
    await takeReportBack(app, id)
    const [isRestored] = await Promise.all([
      ...[restoreOwnReport(app, id), endLateUndos(after(61)), redeem(id)],
    ])
    if (isRestored) expect(await everything(id)).toEqual(before)
    else {
      expect(await told(id)).toEqual(['complaint sent', 'redeemed queued'])
      return
    }
  }
})

test('what was reported again, or retracted by an administrator, is not restored', async () => {
  const id = await analyzed('again')
  await takeReportBack(app, id)
  await app.report(spamMessage('again'))
  expect(await restoreOwnReport(app, id)).toBe(false)
  await retractReport(app, id, { isReporter: false, administratorId: app.bob })
  expect(await restoreOwnReport(app, id)).toBe(false)
  expect(await everything(id)).toMatchObject({ reports: [{ state: 'retracted' }] })
})

test('each of two retractions, with another report between them, counts', async () => {
  const id = await analyzed('twice')
  const [{ retractions: had } = { retractions: 0 }] = (await everything(id)).karma as {
    retractions: number
  }[]
  await takeReportBack(app, id)
  await redeem(id)
  await app.report(spamMessage('twice'))
  await runAnalyzeReport([{ reportId: id }], { ...app, parser })
  const before = await everything(id)
  await takeReportBack(app, id)
  await redeem(id)
  expect(await restoreOwnReport(app, id)).toBe(true)
  expect(await everything(id)).toEqual({
    ...before,
    ...{ records: [], karma: [{ reporter_id: app.ann, retractions: 1 + (had ?? 0) }] },
  })
})

test('the desk still gets its correction when the account is erased within the hour', async () => {
  const id = await analyzed('erased')
  await forward(id)
  await takeReportBack(app, id)
  await redeem(id)
  const ann = await inTransaction(app.pool, (tx) => findAccount(tx, app.ann))
  if (!ann) throw new Error('The account of the test is missing.')
  const begun = await beginErasure(app, ann, 'remove')
  if (typeof begun === 'string') throw new Error(begun)
  await runEraseAccount({ erasureId: begun.id }, app)
  expect(await told(id)).toEqual(['complaint sent', 'redeemed queued'])
})
