import { expect, test } from 'vitest'
import { runAction } from '../../../src/actions.ts'
import { fillSamples, removeSamples, SAMPLE_DOMAIN } from '../../../src/reports/sample-actions.ts'
import { runFillSamples } from '../../../src/reports/fill-samples.ts'
import { spamMessage } from '../../support/messages.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { parser } from '../../support/parser.ts'

const app = await closeAfterTests(openTestApp({ MESSAGE_AGE_MAX: '168' }))
const tools = { ...app, parser, mailer: undefined }

test('no sample data among reports of other people, and none where mail is sent', async () => {
  const other = await closeAfterTests(openTestApp())
  await other.report(spamMessage('real'))
  expect(await runAction(fillSamples, {}, other, null)).toEqual({ unchanged: 'real' })
  const config = { ...app.config, smtpUrl: 'smtp://127.0.0.1:9' }
  const sending = { ...app, config }
  expect(await runAction(fillSamples, {}, sending, null)).toEqual({ unchanged: 'real' })
})

test('sample data is a month of reports, analyzed on their days, with held feedback', async () => {
  expect(await runAction(fillSamples, {}, app, null)).toMatchObject({ done: 'filling' })
  expect(await runAction(fillSamples, {}, app, null)).toEqual({ unchanged: 'present' })
  await runFillSamples({}, tools)
  const [reports] = await app.rows(
    `select count(*)::int as reports, count(distinct received_at::date)::int as days,
       bool_and(email like '%@' || $1) as are_marked,
       bool_and(reports.state <> 'received') as are_analyzed
     from reports join reporters on reporters.id = reporter_id`,
    [SAMPLE_DOMAIN],
  )
  expect(reports).toMatchObject({ are_marked: true, are_analyzed: true })
  expect(reports?.['reports']).toBeGreaterThan(200)
  expect(reports?.['days']).toBeGreaterThan(28)
  const [late] = await app.rows(
    `select count(*)::int as late from report_events
     join reports on reports.id = report_id and reports.shard = report_events.shard
     where at > received_at + interval '1 hour'`,
  )
  expect(late).toEqual({ late: 0 })
  const held = await app.rows(
    `select state, count(*) > 50 as many from feedback_reports group by state`,
  )
  expect(held).toEqual([{ state: 'held', many: true }])
  const classes = await app.rows(`select distinct verdict_class as class from analyses order by 1`)
  expect(classes.map((row) => row['class'])).toEqual(expect.arrayContaining(['phishing', 'spam']))

  await runFillSamples({}, tools)
  const again = await app.rows('select count(*)::int as reports from reports')
  expect(again).toEqual([{ reports: reports?.['reports'] }])
})

test('removing it erases the accounts that have it, and no other account', async () => {
  expect(await runAction(removeSamples, {}, app, null)).toMatchObject({ done: 'removing' })
  const states = await app.rows(
    `select email like '%@' || $1 as is_sample, state, count(*)::int from reporters
     group by 1, 2 order by 1`,
    [SAMPLE_DOMAIN],
  )
  expect(states).toEqual([
    { is_sample: false, state: 'active', count: 2 },
    { is_sample: true, state: 'erasing', count: 10 },
  ])
  const ways = await app.rows('select distinct how from erasures')
  expect(ways).toEqual([{ how: 'remove' }])
})
