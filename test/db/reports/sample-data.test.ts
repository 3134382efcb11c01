import { expect, test } from 'vitest'
import { tally } from '../../../src/activity/tally.ts'
import { readActivity } from '../../../src/activity/read-activity.ts'
import { families } from '../../../src/activity/families.ts'
import { DAY_MS } from '../../../src/durations.ts'
import { activityGroups } from '../../../src/web/admin/activity-charts.ts'
import { runAction } from '../../../src/actions.ts'
import { WHOLE_PART } from '../../../src/counting/evidence.ts'
import { foldParts } from '../../../src/counting/fold-evidence.ts'
import { allShards } from '../../../src/counting/keys.ts'
import { rollUp } from '../../../src/counting/roll-up.ts'
import { REPORTS } from '../../../src/db/counter-rows.ts'
import { runEraseAccount } from '../../../src/reports/erase-account.ts'
import { runFillSamples } from '../../../src/reports/fill-samples.ts'
import { runRedeemReport } from '../../../src/reports/redeem-report.ts'
import { fillSamples, removeSamples } from '../../../src/reports/sample-actions.ts'
import { SAMPLE_DOMAIN } from '../../../src/reports/queues.ts'
import { sampleCampaigns } from '../../../src/reports/sample-mail.ts'
import { spamMessage } from '../../support/messages.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { parser } from '../../support/parser.ts'

const app = await closeAfterTests(openTestApp({ MESSAGE_AGE_MAX: '168' }))
const tools = { ...app, parser, mailer: undefined }
const before = await rowsOfTables()

test('no sample data among many other reports, and none where mail is sent', async () => {
  const other = await closeAfterTests(openTestApp())
  for (let n = 0; n < 21; n++) await other.report(spamMessage(`real ${n}`))
  expect(await runAction(fillSamples, {}, other, null)).toEqual({ unchanged: 'real' })
  const config = { ...app.config, smtpUrl: 'smtp://127.0.0.1:9' }
  const sending = { ...app, config }
  expect(await runAction(fillSamples, {}, sending, null)).toEqual({ unchanged: 'real' })
})

test('whoever tries the site may report some messages before adding sample data', async () => {
  const tried = await closeAfterTests(openTestApp())
  await tried.report(spamMessage('own'))
  expect(await runAction(fillSamples, {}, tried, null)).toMatchObject({ done: 'filling' })
})

test('sample data is a month of reports, analyzed on their days, with held feedback', async () => {
  expect(await runAction(fillSamples, {}, app, null)).toMatchObject({ done: 'filling' })
  expect(await runAction(fillSamples, {}, app, null)).toEqual({ unchanged: 'present' })
  const [logged] = await app.rows(`select action, detail from audit_log order by id desc limit 1`)
  expect(logged).toEqual({ action: 'fill samples', detail: '10 accounts' })
  // What other tests of this process counted.
  tally.take()
  await runFillSamples({}, tools)
  const counted = Object.keys(tally.take().counts)
  const ofNow = counted.filter((name) => /^(?:desks|mail|reports|networks)\//.test(name))
  expect(ofNow, 'None of it happened now.').toEqual([])
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
  expect(await rowsOfTables()).not.toMatchObject({ campaigns: 0, consumers: 0 })
  const [grouped] = await app.rows('select count(*)::int as campaigns from campaigns')
  expect(grouped?.['campaigns']).toBeGreaterThanOrEqual(sampleCampaigns.length)
  const asked = await app.rows(
    `select state, count(*)::int as requests, bool_and(listed_until > now()) as are_listed
     from delisting_requests join listings using (list, name) group by 1 order by 1`,
  )
  expect(asked).toEqual([
    { state: 'accepted', requests: 1, are_listed: false },
    { state: 'open', requests: 10, are_listed: true },
    { state: 'refused', requests: 1, are_listed: true },
  ])
  const classes = await app.rows(`select distinct verdict_class as class from analyses order by 1`)
  expect(classes.map((row) => row['class'])).toEqual(expect.arrayContaining(['phishing', 'spam']))

  await runFillSamples({}, tools)
  const again = await app.rows('select count(*)::int as reports from reports')
  expect(again).toEqual([{ reports: reports?.['reports'] }])
})

test('graphs show the sample reports on their days, and none of sent mail', async () => {
  const now = app.clock()
  const from = new Date(Math.floor(now.getTime() / DAY_MS - 29) * DAY_MS)
  const span = { from, to: new Date(from.getTime() + 30 * DAY_MS), level: 4, stepMs: DAY_MS }
  const { slots, ids } = await readActivity(app.pool, families, span, now)
  const [stored] = await app.rows(
    `select count(*)::int as reports from reports
    where received_at >= $1`,
    [from],
  )
  const eventsOf = (start: string) =>
    slots.map((slot) =>
      [...ids]
        .filter(([name]) => name.startsWith(start))
        .reduce((sum, [, id]) => {
          const point = slot?.rates.get(id)
          return sum + (point ? point.mean * point.count : 0)
        }, 0),
    )
  for (const start of ['reports/channel/', 'reports/kind/', 'reports/verdict/', 'networks/']) {
    const days = eventsOf(start)
    const all = days.reduce((sum, day) => sum + day, 0)
    // The last batch may not be counted yet: its ten minutes have not ended.
    expect([start, Math.abs(all - Number(stored?.['reports'])) < 12]).toEqual([start, true])
    expect(days.filter((day) => day > 0).length).toBeGreaterThan(25)
  }
  const shown = activityGroups.flatMap(({ charts }) => charts.map(({ series }) => series))
  const empty = shown.filter((series) => ![...ids.keys()].some((name) => name.startsWith(series)))
  // Everything is held: nothing was sent, came back or was answered.
  expect(empty).toEqual([
    ...['reports/time', 'mail/answered/'],
    ...['desks/sent/', 'desks/bounced/', 'desks/refused/', 'desks/answered/'],
  ])
  const ofMail = [...ids.keys()].filter((name) => /^mail\/(feedback|letter)\//.test(name))
  expect(ofMail.toSorted()).toEqual(['mail/feedback/held', 'mail/letter/held'])
})

/** The numbers of rows of the tables that reports, campaigns, abuse desks and graphs are in. */
async function rowsOfTables(): Promise<Record<string, unknown>> {
  const tables = await app.rows(
    `select relname::text as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`,
  )
  const numbers = tables.map(async ({ name }) => {
    const [found] = await app.rows(`select count(*)::int as rows from ${String(name)}`)
    return [String(name), found?.['rows']] as const
  })
  return Object.fromEntries(await Promise.all(numbers))
}

/** What an erasure may leave: its own traces, counters that are 0, names of series, news. */
const remaining = [
  'activity_series',
  'audit_log',
  'erasures',
  'counters',
  'counter_deltas',
  'report_news',
]

test('removing it erases the accounts that have it, and everything that they left', async () => {
  // What a person decided about the samples.
  await app.rows(
    `insert into list_exemptions (name, reason, created_at) values ('watches.example', 'x', now())`,
  )
  await app.rows(
    `insert into pages (id, key, url, host, scope, type, state, decision, confirmed_by,
       confirmed_at, through, shared, first_seen, last_seen, reports)
     values (gen_random_uuid(), 'bank-login.example/in', 'https://bank-login.example/in',
       'bank-login.example', 'host', 'phishing', 'confirmed', 'phishing', 'person', now(), '{}',
       false, now(), now(), 0)`,
  )
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
  const left = await app.rows(`select family from activity_slots where family like 'samples/%'`)
  expect(left).toEqual([])
  const erasures = (await app.rows('select id from erasures')).map(({ id }) => String(id))
  for (let minute = 2; minute < 20; minute += 2) {
    const now = new Date(Date.now() + minute * 60_000)
    const then = { ...app, clock: () => now }
    for (const erasureId of erasures) await runEraseAccount({ erasureId }, then)
    const retracted = await app.rows(`select id from reports where state = 'retracted'`)
    await runRedeemReport(
      retracted.map(({ id }) => ({ reportId: String(id) })),
      then,
    )
    await rollUp(app.pool, [...allShards, REPORTS], now)
    await foldParts(app.pool, [WHOLE_PART], now)
  }
  const after = await rowsOfTables()
  const changed = Object.keys(after).filter((name) => after[name] !== before[name])
  expect(changed.filter((name) => !remaining.includes(name))).toEqual([])
})
