import { beforeEach, expect, test } from 'vitest'
import { findReportedOrigin } from '../../../src/db/reported-origins.ts'
import { HOUR_MS, MINUTE_MS } from '../../../src/durations.ts'
import { findLaterReports, listFollowed, readEndings } from '../../../src/feedback/did-it-stop.ts'
import { runFollowOrigins } from '../../../src/feedback/follow-origins.ts'
import { uuidv7 } from '../../../src/world.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { addReports, newReport } from '../../support/rows.ts'

const app = await closeAfterTests(openTestApp())

/** The first report of most tests: a partition for it exists. */
const start = new Date()
const after = (hours: number) => new Date(start.getTime() + hours * HOUR_MS)
const consumerId = uuidv7(start)
const people = Array.from({ length: 3 }, () => uuidv7(start))

await app.pool.query(
  `insert into consumers (id, state, address, created_at)
   values ($1, 'found', 'abuse@network.example', $2)`,
  [consumerId, start],
)

beforeEach(async () => {
  const tables = ['reports', 'analyses', 'feedback_reports', 'reported_origins']
  for (const table of [...tables, 'reported_origins_progress', 'feedback_answers']) {
    await app.pool.query(`delete from ${table}`)
  }
})

type Given = {
  hours: number
  ip?: string
  /** Minutes until the network was notified; undefined if it was not. */
  noticed?: number
  mergedInto?: string
  change?: string
  confidence?: number
  report?: Parameters<typeof newReport>[0]
}

/** Stores one analyzed report, and returns its id. */
async function add({
  hours,
  ip = '192.0.2.1',
  confidence = 0.9,
  ...given
}: Given): Promise<string> {
  const receivedAt = after(hours)
  const reporterId = people[Math.floor(hours) % people.length] ?? ''
  const [id = ''] = await addReports(app.pool, [
    newReport({ receivedAt, reporterId, ...given.report }),
  ])
  await app.pool.query(
    `insert into analyses (id, shard, analyzed_at, origin_ip, origin_confidence, network_asn,
       network_name, network_country, verdict_class, verdict_score, judgment, facts, encoding,
       content)
     values ($1, shard_of($1), $2, $3, $4, 64500, 'Net', 'FR', 'spam', 0, '{}', '', 'identity',
       '')`,
    [id, receivedAt, ip, confidence],
  )
  await app.pool.query(`update reports set state = 'kept' where id = $1`, [id])
  if (given.noticed !== undefined || given.mergedInto !== undefined) {
    const at =
      given.noticed === undefined
        ? null
        : new Date(receivedAt.getTime() + given.noticed * MINUTE_MS)
    await app.pool.query(
      `insert into feedback_reports (report_id, shard, number, consumer_id, state, address,
         created_at, finished_at, merged_into, merged_number)
       values ($1, shard_of($1), 1, $2, $3, 'abuse@network.example', $4, $5, $6, $7)`,
      [id, consumerId, at ? 'sent' : 'merged', receivedAt, at, given.mergedInto, at ? null : 1],
    )
  }
  if (given.change !== undefined) {
    await app.pool.query(`update reports set ${given.change} where id = $1`, [id])
  }
  return id
}

const at = (hours: number) => ({ ...app, clock: () => after(hours) })
const follow = (hours: number) => runFollowOrigins(at(hours))
const found = (ip = '192.0.2.1') => findReportedOrigin(app.pool, ip)

test('the reports of an origin are followed from the day before its first notice', async () => {
  await add({ hours: 0 })
  const first = await add({ hours: 2, noticed: 30 })
  await add({ hours: 3, mergedInto: first })
  await add({ hours: 7, noticed: 1 })
  await follow(40)
  expect(await found()).toMatchObject({
    ...{ networkAsn: 64_500, networkName: 'Net', networkCountry: 'FR', people: 3 },
    ...{ noticedAt: after(2.5), reportId: first, consumerId, before: 2, after: 2 },
    ...{ lastAt: after(7), shadowLastAt: null },
  })
  expect((await found())?.counts).toEqual([1, 1, 1, 1])
})

test('a report that was merged is notified by the mail about the other one', async () => {
  const head = await add({ hours: 1, ip: '192.0.2.9', noticed: 60 })
  const merged = await add({ hours: 0, mergedInto: head })
  await follow(40)
  expect(await found()).toMatchObject({ noticedAt: after(2), reportId: merged })
})

test('each report is added once, when it is a day old', async () => {
  await add({ hours: 0, noticed: 1 })
  await add({ hours: 10 })
  await follow(30)
  await follow(30)
  expect(await found()).toMatchObject({ counts: [1], lastAt: after(0) })
  await follow(40)
  await follow(41)
  expect(await found()).toMatchObject({ counts: [1, 1], lastAt: after(10), after: 1 })
})

test('what is no complaint about a sure origin does not count', async () => {
  await add({ hours: 0, noticed: 1 })
  await add({ hours: 1, report: { kind: 'not-spam' } })
  await add({ hours: 2, change: `state = 'retracted'` })
  await add({ hours: 3, change: `channel = 'learn'` })
  await add({ hours: 4, confidence: 0.1 })
  await follow(40)
  expect(await found()).toMatchObject({ counts: [1], lastAt: after(0) })
})

test('reports without effect are seen by their reporters only', async () => {
  await add({ hours: 0, noticed: 1 })
  await add({ hours: 5, change: `shadow = 'dropped'` })
  await add({ hours: 6, ip: '192.0.2.2', change: `shadow = 'dropped'` })
  await follow(300)
  expect(await found()).toMatchObject({ counts: [1], lastAt: after(0), shadowLastAt: after(5) })
  const seen = (ip: string, hours: number, isShadowed: boolean) =>
    findLaterReports(app.pool, { ip, receivedAt: after(hours), isShadowed })
  expect(await seen('192.0.2.1', 0, false)).toEqual({ is: 'none', lastAt: after(0) })
  expect(await seen('192.0.2.1', 5, true)).toEqual({ is: 'none', lastAt: after(5) })
  expect(await seen('192.0.2.2', 6, true)).toEqual({ is: 'none', lastAt: after(6) })
  expect(await seen('192.0.2.2', 6, false)).toBeUndefined()
})

test('a reporter reads of later reports, and of silence after a week', async () => {
  await add({ hours: 0, noticed: 1 })
  await add({ hours: 30 })
  const seen = () =>
    findLaterReports(app.pool, { ip: '192.0.2.1', receivedAt: after(0), isShadowed: false })
  expect(await seen()).toBeUndefined()
  await follow(30)
  expect(await seen()).toBeUndefined()
  await follow(60)
  expect(await seen()).toEqual({ is: 'more', lastAt: after(30) })
  await follow(30 + 24 + 7 * 24)
  expect(await seen()).toEqual({ is: 'none', lastAt: after(30) })
})

test('the endings of a consumer are summed up when they can be told', async () => {
  const origins = { '192.0.2.1': [0, 1, 2], '192.0.2.2': [0, 2, 6], '192.0.2.3': [0, 2, 10] }
  for (const [ip, hours] of Object.entries(origins)) {
    for (const one of hours) await add({ hours: one, ip, ...(one === 0 ? { noticed: 0 } : {}) })
  }
  const few = await add({ hours: 0, ip: '192.0.2.4', noticed: 0 })
  await app.pool.query(
    `insert into feedback_answers (report_id, shard, number, answer, how, at)
     values ($1, shard_of($1), 1, 'resolved', 'link', $2),
       ($1, shard_of($1), 2, 'wrong', 'link', $2)`,
    [few, after(1)],
  )
  const summed = async (hours: number) =>
    (await readEndings(at(hours), [consumerId])).get(consumerId)

  // Two of three are silent for a week; the third one was last reported at 10 hours.
  await follow(24 + 168 + 7)
  expect(await summed(24 * 15)).toEqual({ cases: 3, stopped: 2, medianHours: 6 })
  expect(await summed(24 * 13)).toBeUndefined()
  const listed = await listFollowed(app.pool, consumerId, 10)
  expect(Object.fromEntries(listed.map(({ name, ending }) => [name, ending]))).toEqual({
    '192.0.2.1': 'stopped',
    '192.0.2.2': 'stopped',
    '192.0.2.3': 'open',
    '192.0.2.4': 'few',
  })
  expect(listed.find(({ reportId }) => reportId === few)).toMatchObject({ answer: 'resolved' })

  await follow(24 * 30)
  expect(await summed(24 * 30)).toEqual({ cases: 3, stopped: 3, medianHours: 6 })
})
