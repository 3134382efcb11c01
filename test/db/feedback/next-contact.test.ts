import { beforeEach, expect, test } from 'vitest'
import { countAnswer, ensureConsumers } from '../../../src/db/consumers.ts'
import { listFeedback } from '../../../src/db/feedback-reports.ts'
import { listSuppressed, suppress } from '../../../src/db/suppressions.ts'
import { markNotOurs, markResolved } from '../../../src/feedback/take-answer.ts'
import { queueFeedback } from '../../../src/feedback/queue-feedback.ts'
import { stopFeedback } from '../../../src/feedback/change-consumer.ts'
import { notifyNextContact } from '../../../src/feedback/next-contact.ts'
import { retractReport } from '../../../src/reports/change-report.ts'
import { network, openNotifyingApp } from './notifying-app.ts'

const now = new Date()
const DAY_MS = 86_400_000
const range = (value: string) => ({ kind: 'range' as const, value })

const at = await openNotifyingApp()
const app = at.app

beforeEach(() => at.renew())

test('stopping withdraws waiting feedback, suppresses the address and adds events', async () => {
  const reportId = await at.reported()
  const [feedback] = await listFeedback(app.pool, [reportId])
  await at.inTx((tx) => stopFeedback(tx, feedback?.consumerId ?? '', 'stop', now))
  expect(await at.told(reportId)).toEqual(['1 abuse@one.example withdrawn'])
  const suppressed = await listSuppressed(app.pool, ['Abuse@one.example'], now)
  expect(suppressed.get('abuse@one.example')?.reason).toBe('stop')
  const events = await app.rows(
    'select event from report_events where report_id = $1 order by at',
    [reportId],
  )
  expect(events).toContainEqual({ event: 'withdrawn' })
  expect(await at.told(await at.reported())).toEqual([])
  expect(await at.inTx((tx) => stopFeedback(tx, app.ann, 'stop', now))).toBe(false)
})

test('a consumer is notified of a report once, whatever is repeated', async () => {
  const reportId = await at.reported()
  const consumers = await ensureConsumers(
    app.pool,
    ['abuse@one.example', 'abuse@two.example'].map((address) => ({ address, source: 'network' })),
    now,
  )
  const owed = [...consumers.values()].map((consumer) => ({ reportId, consumer }))
  await at.inTx((tx) => queueFeedback(tx, owed, app, now))
  await at.inTx((tx) => queueFeedback(tx, owed, app, now))
  expect(await at.told(reportId)).toEqual([
    '1 abuse@one.example queued',
    '2 abuse@two.example queued',
  ])
  const redeemed = owed.map((one) => ({ ...one, kind: 'redeemed' as const }))
  const [third] = await at.inTx((tx) => queueFeedback(tx, redeemed, app, now))
  expect(third).toMatchObject({ number: 3, kind: 'redeemed' })
})

test('after a bounce the next contact is notified, at most three in total', async () => {
  const reportId = await at.reported()
  const next = (number: number) =>
    at.inTx((tx) => notifyNextContact(tx, { reportId, number }, app, now))
  expect(await next(1)).toEqual({ notified: 'abuse@two.example' })
  expect(await next(1)).toEqual({ noContact: 'another-notified' })
  expect(await next(2)).toEqual({ notified: 'abuse@three.example' })
  expect(await next(3)).toEqual({ noContact: 'enough-notified' })
  expect(await at.told(reportId)).toHaveLength(3)
})

test('no further contact is notified after a stop or a retraction', async () => {
  const [one, two, three] = [await at.reported(), await at.reported(), await at.reported()]
  const next = (reportId: string) =>
    at.inTx((tx) => notifyNextContact(tx, { reportId, number: 1 }, app, now))
  const suppression = { status: null, detail: 'a test', since: now, until: null }
  await suppress(app.pool, { ...suppression, address: 'abuse@two.example', reason: 'hard-bounce' })
  expect(await next(one)).toEqual({ notified: 'abuse@three.example' })
  await retractReport(app, two, { isReporter: true })
  expect(await next(two)).toEqual({ noContact: 'report-was-retracted' })
  const [feedback] = await listFeedback(app.pool, [three])
  await at.inTx((tx) => stopFeedback(tx, feedback?.consumerId ?? '', 'stop', now))
  expect(await next(three)).toEqual({ noContact: 'desk-stopped' })
})

test('"not ours" applies to block and address, and the next contact is notified', async () => {
  const reportId = await at.reported()
  const answer = await at.inTx((tx) => markNotOurs(tx, { reportId, number: 1 }, app, now))
  expect(answer).toEqual({ notified: 'abuse@two.example' })
  const kept = await app.rows('select cidr::text, address, until from contact_corrections')
  expect(kept).toEqual([
    {
      cidr: network.cidr,
      address: 'abuse@one.example',
      until: new Date(now.getTime() + 180 * DAY_MS),
    },
  ])
  expect(await at.told(await at.reported())).toEqual(['1 abuse@two.example queued'])
  await app.pool.query('update contact_corrections set until = $1', [now])
  expect(await at.told(await at.reported())).toEqual(['1 abuse@one.example queued'])
})

test('an enrolled desk that says so gets no reports about that block either', async () => {
  await at.enroll('soc@desk.example', range('198.51.100.0/24'))
  const reportId = await at.reported()
  expect(await at.inTx((tx) => markNotOurs(tx, { reportId, number: 1 }, app, now))).toEqual({
    notified: 'abuse@one.example',
  })
  expect(await at.told(await at.reported())).toEqual(['1 abuse@one.example queued'])
})

test('if the only contact says so, the registries are queried', async () => {
  await at.contactsAre('abuse@one.example')
  const reportId = await at.reported()
  const answer = await at.inTx((tx) => markNotOurs(tx, { reportId, number: 1 }, app, now))
  expect(answer).toEqual({ asking: true })
  const jobs = await app.rows(
    `select 1 from pgboss.job where name = 'find-contact' and data ->> 'reportId' = $1`,
    [reportId],
  )
  expect(jobs).toHaveLength(1)
})

test('answers are counted for the consumer who gave them', async () => {
  const reportId = await at.reported()
  const [feedback] = await listFeedback(app.pool, [reportId])
  if (!feedback) throw new Error('no feedback')
  for (let count = 0; count < 2; count++) {
    await countAnswer(app.pool, feedback.consumerId, 'wrong')
  }
  await markResolved(app.pool, feedback, now)
  const [counts] = await app.rows(
    'select wrong_answers as wrong, resolved_answers as resolved from consumers',
  )
  expect(counts).toEqual({ wrong: 2, resolved: 1 })
})
