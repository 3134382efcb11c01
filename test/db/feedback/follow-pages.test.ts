import { beforeEach, expect, test } from 'vitest'
import { insertPageNotices, markNoticeQueued } from '../../../src/db/page-notices.ts'
import { DAY_MS, HOUR_MS } from '../../../src/durations.ts'
import { findLaterOfPage, listFollowed } from '../../../src/feedback/did-it-stop.ts'
import { runFollowPages } from '../../../src/feedback/follow-pages.ts'
import { type DnsAnswer, uuidv7 } from '../../../src/world.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { addReports, newReport } from '../../support/rows.ts'

const app = await closeAfterTests(openTestApp())
const start = new Date()
const after = (hours: number) => new Date(start.getTime() + hours * HOUR_MS)
const consumerId = uuidv7(start)
const campaignId = uuidv7(start)
const none: DnsAnswer = { is: 'none' }
let answer: DnsAnswer
let asked: string[]

await app.pool.query(
  `insert into consumers (id, state, address, created_at)
   values ($1, 'found', 'abuse@registrar.example', $2)`,
  [consumerId, start],
)

beforeEach(async () => {
  answer = { is: 'found', records: ['192.0.2.1'] }
  asked = []
  for (const table of ['reports', 'feedback_reports', 'counted_reports', 'pages']) {
    await app.pool.query(`delete from ${table}`)
  }
})

/** Stores a page that was reported at some hours, and notified about the first report. */
async function addPage(host: string, hours: readonly number[], isShared = false) {
  const pageId = uuidv7(start)
  await app.pool.query(
    `insert into pages (id, key, url, host, scope, type, state, confirmed_by, confirmed_at, shared,
       through, first_seen, last_seen, reports)
     values ($1, $2, 'https://' || $2, $3, 'host', 'phishing', 'confirmed', 'person', $4, $5,
       '{}', $4, $6, $7)`,
    [pageId, `${host}/`, host, start, isShared, after(Math.max(...hours)), hours.length],
  )
  const reports = hours.map((hour) => newReport({ receivedAt: after(hour) }))
  const ids = await addReports(app.pool, reports)
  for (const [at, id] of ids.entries()) {
    await app.pool.query(
      `insert into page_reports (page_id, report_id, url, seen_at, campaign_id, reporter_id,
         is_vouched, is_proven, is_young, circle, recipient, is_accusing, is_supported, signs)
       values ($1, $2, 'x', $3, $4, $2, true, true, false, 0, '\\x0000000000000000', true, true,
         '{}')`,
      [pageId, id, after(hours[at] ?? 0), campaignId],
    )
  }
  await app.pool.query(
    `insert into feedback_reports (report_id, shard, number, consumer_id, told_as, state, address,
       created_at, finished_at)
     values ($1, shard_of($1), 1, $2, 'page', 'sent', 'abuse@registrar.example', $3, $4)`,
    [ids[0], consumerId, start, after(1)],
  )
  const contact = 'abuse@registrar.example'
  const role = 'registrar' as const
  const about = { pageId, contact, role, name: 'R', ips: [] }
  const notice = { ...about, state: 'spare' as const, isOverride: false, place: 0 }
  await insertPageNotices(app.pool, [notice], start)
  await markNoticeQueued(app.pool, notice, { reportId: ids[0] ?? '', number: 1 }, start)
  return ids[0] ?? ''
}

const follow = (hours: number) =>
  runFollowPages({
    ...app,
    clock: () => after(hours),
    dns: {
      resolve(name) {
        asked.push(name)
        return Promise.resolve(answer)
      },
    },
  })

const listed = async () => (await listFollowed(app.pool, consumerId, 10))[0]

test('the reports of a page are counted around a notice, and again when more came', async () => {
  await addPage('login.example', [0, 0.5, 3])
  await follow(20)
  expect(await listed()).toBeUndefined()
  await follow(30)
  expect(await listed()).toMatchObject({
    ...{ name: 'login.example', noticedAt: after(1), before: 2, after: 1, lastAt: after(3) },
    ...{ goneAt: null, answer: undefined },
  })
  await app.pool.query(`update page_reports set seen_at = $1 where seen_at = $2`, [
    after(200),
    after(3),
  ])
  await follow(210)
  expect(await listed()).toMatchObject({ lastAt: after(3) })
  await app.pool.query('update pages set last_seen = $1', [after(205)])
  await follow(211)
  expect(await listed()).toMatchObject({ lastAt: after(200), after: 0 })
})

test('a name is gone when it has no address twice, and not before', async () => {
  const reportId = await addPage('login.example', [0])
  await app.pool.query(
    `insert into counted_reports (id, shard, campaign_id, content)
     values ($1, shard_of($1), $2, '')`,
    [reportId, campaignId],
  )
  await app.pool.query(`update reports set state = 'kept'`)
  const gone = async () => (await listed())?.goneAt
  const story = (hours: number) => findLaterOfPage(app.pool, reportId, after(hours))
  answer = none
  await follow(30)
  await follow(35)
  expect(asked).toEqual(['login.example', 'login.example'])
  expect(await gone()).toBeNull()
  expect(await story(40)).toBeUndefined()
  answer = { is: 'unknown', why: 'timeout' }
  await follow(43)
  expect(await gone()).toBeNull()
  answer = none
  await follow(56)
  expect(await gone()).toEqual(after(30))
  expect(await story(60)).toEqual({ isQuiet: false, lastAt: start, goneAt: after(30) })
  expect(await story(8 * 24)).toMatchObject({ isQuiet: true })
  answer = { is: 'found', records: ['192.0.2.1'] }
  await follow(70)
  expect(await gone()).toBeNull()
})

test('nobody is asked about a name that may identify a recipient', async () => {
  const token = 'x7f3k9q2m8z4.evil.example'
  await addPage(token, [0])
  await addPage('192.0.2.7', [0])
  answer = none
  await follow(30)
  await follow(60)
  expect(asked).toEqual([])
  await app.pool.query('update pages set shared = true')
  await follow(60 + DAY_MS / HOUR_MS)
  expect(new Set(asked)).toEqual(new Set([token]))
})
