import { expect, test } from 'vitest'
import { DAY_MS } from '../../../src/durations.ts'
import { runFollowOrigins } from '../../../src/feedback/follow-origins.ts'
import { uuidv7 } from '../../../src/world.ts'
import { signedInBrowser } from './browser.ts'
import { startNotifyingSite } from './notifying-site.ts'

const { site, ann, rows, told } = await startNotifyingSite()
const admin = await site.addPerson('admin@desk.example', { role: 'viewer' })
const follow = (days: number) =>
  runFollowOrigins({ ...site.app, clock: () => new Date(Date.now() + days * DAY_MS) })

test('a reporter and an operator read whether reports ended after a notice', async () => {
  const { reportId } = await told()
  const [feedback] = await rows('select consumer_id from feedback_reports where report_id = $1', [
    reportId,
  ])
  const reporter = await signedInBrowser(site.url, ann)
  const desk = await signedInBrowser(site.url, admin)
  const story = async () => (await reporter.get(`/reports/${reportId}`)).text()
  const consumer = async () =>
    (await desk.get(`/admin/consumers/${String(feedback?.['consumer_id'])}`)).text()

  expect(await story()).not.toContain('Since then')
  expect(await consumer()).toContain('had enough reports to tell')
  await follow(2)
  expect(await story()).not.toContain('Since then')
  expect(await consumer()).toContain('too few to tell')
  await follow(9)
  expect(await story()).toContain('no more reports about mail from the same machine since')

  // As if there had been three reports in different hours, and the notice weeks ago.
  const noticedAt = new Date(Date.now() - 20 * DAY_MS)
  await rows(
    `update reported_origins set noticed_at = $1, last_at = $2, silent_at = $3, before = 1, after = 2`,
    [noticedAt, new Date(noticedAt.getTime() + DAY_MS / 4), new Date(Date.now() - DAY_MS)],
  )
  const page = await consumer()
  expect(page).toContain('1 address or page with enough reports')
  expect(page).toContain('Reports have stopped for 1 of them.')
  expect(page).toContain('the last report came at most 6 hours after the notice')
  expect(await (await desk.get('/admin/consumers')).text()).toContain('6\u00a0h (1 of 1)')
})

test('a later report is told, too', async () => {
  const { reportId } = await told()
  await follow(11)
  await rows(`update reported_origins set last_at = $1`, [new Date(Date.now() + 9 * DAY_MS)])
  const reporter = await signedInBrowser(site.url, ann)
  const page = await (await reporter.get(`/reports/${reportId}`)).text()
  expect(page).toContain('more reports about mail from the same machine, the last one on')
})

test('a reporter reads that the name of the page is gone', async () => {
  const { reportId } = await told()
  const pageId = uuidv7(new Date())
  const [longAgo, campaignId] = [new Date(Date.now() - 20 * DAY_MS), uuidv7(new Date())]
  await rows(
    `insert into pages (id, key, url, host, scope, type, state, confirmed_by, confirmed_at, shared,
       through, first_seen, last_seen, reports)
     values ($1, 'x', 'https://x', 'login.example', 'host', 'phishing', 'confirmed', 'person', $2,
       true, '{}', $2, $2, 1)`,
    [pageId, longAgo],
  )
  await rows(
    `insert into page_endings (page_id, contact, consumer_id, report_id, noticed_at, last_at,
       before, after, changed_at) values ($1, 'a', $1, $1, $2, $2, 0, 0, $2)`,
    [pageId, longAgo],
  )
  await rows(`insert into page_hosts values ($1, $2, $2, 2)`, [pageId, longAgo])
  await rows(
    `insert into page_reports (page_id, report_id, url, seen_at, campaign_id, reporter_id,
       is_vouched, is_proven, is_young, circle, recipient, is_accusing, is_supported, signs)
     values ($1, $2, 'x', $4, $3, $2, true, true, false, 0, '\\x0000000000000000', true, true,
       '{}')`,
    [pageId, reportId, campaignId, longAgo],
  )
  await rows('delete from counted_reports where id = $1', [reportId])
  await rows(
    `insert into counted_reports (id, shard, campaign_id, content)
     values ($1, shard_of($1), $2, '')`,
    [reportId, campaignId],
  )
  const reporter = await signedInBrowser(site.url, ann)
  const page = await (await reporter.get(`/reports/${reportId}`)).text()
  expect(page).toContain('no more reports that lead to the same page since')
  expect(page).toContain('the name of the page no longer leads anywhere')
})
