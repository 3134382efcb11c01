import { expect, test } from 'vitest'
import { phrase } from '../../../src/phrase.ts'
import { retractReport } from '../../../src/reports/change-report.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { runRedeemReport } from '../../../src/reports/redeem-report.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { spamMessage } from '../../support/messages.ts'
import { parser } from '../../support/parser.ts'

const app = await closeAfterTests(openTestApp({ MESSAGE_AGE_MAX: '168' }))

const effects = [
  'counter_deltas',
  'reports_to_count',
  'counted_reports',
  'reported_evidence',
  'reputation_evidence',
  'campaigns',
  'feedback_reports',
  'consumers',
  'letters',
]

/** Returns the number of rows that each effect of a report has left. */
async function traces() {
  const counts = await Promise.all(
    effects.map((table) => app.rows(`select count(*)::integer as count from ${table}`)),
  )
  return Object.fromEntries(effects.map((table, at) => [table, counts[at]?.[0]?.['count']]))
}

async function reported(mark: string, at: string, kind?: 'phishing' | 'not-spam') {
  const raw = spamMessage(mark).toString().replace('Mon, 16 Nov 2026 10:00:00 +0000', at)
  const { id } = await app.report(Buffer.from(raw), kind && { kind })
  await runAnalyzeReport([{ reportId: id }], { ...app, parser })
  const [row] = await app.rows(
    `select reports.state, jsonb_agg(report_events.phrases) as story
     from reports join report_events on report_events.report_id = reports.id
       and report_events.shard = reports.shard
     where reports.id = $1 group by 1`,
    [id],
  )
  return { id, ...row }
}

const old = 'Fri, 1 Feb 2002 09:00:00 +0000'

test('a message handed over long ago is kept, has a reason, and changes nothing', async () => {
  const before = await traces()
  for (const kind of [undefined, 'phishing', 'not-spam'] as const) {
    const report = await reported(`old-${kind}`, old, kind)
    expect(report).toMatchObject({ state: 'kept' })
    expect(report).toHaveProperty('story', [
      [
        expect.anything(),
        phrase('too-old', { day: '2002-02-01', hours: 168 }),
        phrase('no-effect'),
      ],
    ])
    expect(await traces()).toEqual(before)
    await retractReport(app, report.id, { isReporter: true })
    await runRedeemReport([{ reportId: report.id }], app)
    expect(await traces()).toEqual(before)
  }
})

test('a current message is forwarded and counted', async () => {
  const before = await traces()
  const report = await reported('new', new Date().toUTCString())
  expect(report).toMatchObject({ state: 'analyzed' })
  const after = await traces()
  for (const table of ['counted_reports', 'reported_evidence', 'feedback_reports']) {
    expect(after[table], table).toBeGreaterThan(Number(before[table]))
  }
})
