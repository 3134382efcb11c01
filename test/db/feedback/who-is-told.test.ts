import { beforeEach, expect, test } from 'vitest'
import { phrase } from '../../../src/phrase.ts'
import { keepHealth } from '../../../src/db/consumers.ts'
import { suppress } from '../../../src/db/suppressions.ts'
import { stopFeedback } from '../../../src/feedback/change-consumer.ts'
import { type Case, drawConsequences } from '../../../src/feedback/draw-consequences.ts'
import { openNotifyingApp } from './notifying-app.ts'

const now = new Date()
const DAY_MS = 86_400_000
const range = (value: string) => ({ kind: 'range' as const, value })

const at = await openNotifyingApp()
const app = at.app

beforeEach(() => at.renew())

test('the first contact of the network is notified', async () => {
  expect(await at.told(await at.reported())).toEqual(['1 abuse@one.example queued'])
})

test('a desk enrolled for the block is notified instead of the tables’ contact', async () => {
  await at.enroll('soc@desk.example', range('198.51.100.0/26'))
  const reportId = await at.reported()
  expect(await at.told(reportId)).toEqual(['1 soc@desk.example queued'])
  const [event] = await app.rows('select phrases from report_events where report_id = $1', [
    reportId,
  ])
  expect(event?.['phrases']).toContainEqual(phrase('desk-enrolled', { scope: '198.51.100.0/26' }))
})

test('an enrollment for a neighboring block, or one only found, changes nothing', async () => {
  await at.enroll('soc@desk.example', range('198.51.100.128/25'))
  const found = await at.enroll('other@desk.example', range('198.51.100.0/24'))
  await app.pool.query(`update consumers set state = 'found' where id = $1`, [found.id])
  expect(await at.told(await at.reported())).toEqual(['1 abuse@one.example queued'])
})

test('of several enrolled consumers the closest is the desk, and all are notified', async () => {
  await at.enroll('as@desk.example', { kind: 'as', value: '64497' })
  await at.enroll('wide@desk.example', range('198.51.100.0/24'))
  await at.enroll('close@desk.example', range('198.51.100.16/28'), range('198.51.100.0/24'))
  const [first, ...rest] = await at.told(await at.reported())
  expect(first).toBe('1 close@desk.example queued')
  expect(rest.map((line) => line.split(' ')[1])).toEqual(['wide@desk.example', 'as@desk.example'])
})

test('a desk that refuses spam gets nothing; if it bounces, the tables are used', async () => {
  const desk = await at.enroll('soc@desk.example', range('198.51.100.0/24'))
  await at.change(desk, `takes = '{phishing}'`)
  expect(await at.told(await at.reported())).toEqual([])
  await app.pool.query(`update consumers set takes = null where id = $1`, [desk.id])
  const record = { softBounces: 0, bouncesSince: null, lastBouncedAt: now }
  const healthUntil = new Date(Date.now() + DAY_MS)
  await keepHealth(app.pool, desk.id, { ...record, health: 'dead', healthUntil })
  expect(await at.told(await at.reported())).toEqual(['1 abuse@one.example queued'])
})

test('a desk that enrolled and then stopped is not bypassed by the tables', async () => {
  const desk = await at.enroll('soc@desk.example', range('198.51.100.0/24'))
  await at.inTx((tx) => stopFeedback(tx, desk.id, 'stop', now))
  expect(await at.told(await at.reported())).toEqual([])
})

test('a pause applies until its end, and keeps the enrollment', async () => {
  const desk = await at.enroll('soc@desk.example', range('198.51.100.0/24'))
  await app.pool.query(`update consumers set state = 'paused', paused_until = $2 where id = $1`, [
    ...[desk.id, new Date(Date.now() + DAY_MS)],
  ])
  expect(await at.told(await at.reported())).toEqual([])
  await app.pool.query(`update consumers set paused_until = $2 where id = $1`, [
    ...[desk.id, new Date(Date.now() - 1)],
  ])
  expect(await at.told(await at.reported())).toEqual(['1 soc@desk.example queued'])
})

test('an address suppressed for bounces is replaced, one that complained is not', async () => {
  const suppression = { status: null, detail: 'a test', since: now, until: null }
  await suppress(app.pool, { ...suppression, address: 'abuse@one.example', reason: 'hard-bounce' })
  expect(await at.told(await at.reported())).toEqual(['1 abuse@two.example queued'])
  await suppress(app.pool, { ...suppression, address: 'abuse@two.example', reason: 'complaint' })
  expect(await at.told(await at.reported())).toEqual([])
})

test('a consumer that wants digests waits without a job', async () => {
  const desk = await at.enroll('soc@desk.example', range('198.51.100.0/24'))
  await at.change(desk, `pace = 'digest'`)
  const reportId = await at.reported()
  expect(await at.told(reportId)).toEqual(['1 soc@desk.example waiting'])
  const jobs = await app.rows(
    `select 1 from pgboss.job where name = 'forward-report' and data ->> 'reportId' = $1`,
    [reportId],
  )
  expect(jobs).toEqual([])
})

const complaint: Case = {
  reporterId: '',
  verdict: { class: 'undecided', score: 1, symbols: [] },
  complaint: {
    kind: 'spam',
    manner: 'plain',
    isRelayed: false,
    score: 1,
    scoreMin: 1,
    isConfirmed: false,
  },
  isLearned: false,
  messageKind: 'message',
  origin: { ip: '198.51.100.23', confidence: 0.9 },
  originConfidenceMin: 0.7,
  askable: [],
  network: undefined,
  registry: 'off',
  forwardTo: 'any',
  requestedRecipients: [],
  disowned: new Set(),
  verifiedDomains: ['mail.shop.example', 'shop.example'],
}

test('a consumer enrolled for an authenticated domain is notified in addition', async () => {
  await at.enroll('brand@shop.example', { kind: 'domain', value: 'shop.example' })
  await at.enroll('brand@other.example', { kind: 'domain', value: 'other.example' })
  const one = { ...complaint, reporterId: app.ann }
  const [drawn] = await drawConsequences(app.pool, [one], app, now)
  expect(drawn?.consequence.action).toBe('keep')
  expect(drawn?.notified).toMatchObject([
    { consumer: { address: 'brand@shop.example' }, recipientRole: 'domain' },
  ])
})

test('an address named by a message becomes a consumer of its own kind', async () => {
  const named = {
    source: 'cfbl',
    format: 'xarf',
    keepsTokens: false,
    why: phrase('author-takes-complaints'),
  } as const
  const one = { ...complaint, reporterId: app.ann }
  const requestedRecipients = [{ ...named, address: 'fbl@shop.example' }]
  const [drawn] = await drawConsequences(app.pool, [{ ...one, requestedRecipients }], app, now)
  expect(drawn?.notified).toMatchObject([
    {
      consumer: { address: 'fbl@shop.example', source: 'cfbl', format: 'xarf' },
      recipientRole: 'cfbl',
    },
  ])
  expect(drawn?.why).toContainEqual(named.why)
})

test('a batch needs one query', async () => {
  await at.enroll('soc@desk.example', range('198.51.100.0/24'))
  const cases = Array.from({ length: 40 }, () => ({ ...complaint, reporterId: app.ann }))
  let asked = 0
  const counting = new Proxy(app.pool, {
    get(target, name) {
      if (name === 'query') asked++
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  await drawConsequences(counting, cases, app, now)
  expect(asked).toBeLessThanOrEqual(4)
})
