import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { replaceScopes, type ConsumerScope } from '../../../src/db/consumer-scopes.ts'
import { ensureConsumers, keepHealth } from '../../../src/db/consumers.ts'
import { listFeedback } from '../../../src/db/feedback-reports.ts'
import { inTransaction } from '../../../src/db/pool.ts'
import { listSuppressed, suppress } from '../../../src/db/suppressions.ts'
import { markResolved, markWrong } from '../../../src/feedback/mark-answer.ts'
import { markNotOurs } from '../../../src/feedback/mark-not-ours.ts'
import { oweFeedback } from '../../../src/feedback/owe-feedback.ts'
import { stopConsumer } from '../../../src/feedback/stop-consumer.ts'
import { tellNextContact } from '../../../src/feedback/tell-next-contact.ts'
import { retractReport } from '../../../src/intake/retract-report.ts'
import { analyzeReports } from '../../../src/jobs/analyze-report.ts'
import { type Case, drawConsequences } from '../../../src/jobs/draw-consequences.ts'
import { createParserPool, type ParserPool } from '../../../src/parsing/parser-pool.ts'
import { openTestApp, type TestApp } from '../../support/app.ts'

const network = { cidr: '198.51.100.0/25', asn: 64497 }
const now = new Date()
const DAY_MS = 86_400_000

let app: TestApp
let parser: ParserPool
let made = 0

beforeAll(async () => {
  app = await openTestApp()
  parser = createParserPool(1)
})
afterAll(async () => {
  await parser.close()
  await app.close()
})
beforeEach(async () => {
  const tables = 'contact_corrections, consumer_scopes, suppressions, feedback_reports, consumers'
  await app.pool.query(`truncate ${tables}`)
  await contactsAre(
    'abuse@one.example',
    'abuse@two.example',
    'abuse@three.example',
    'abuse@four.example',
  )
})

async function contactsAre(...contacts: string[]): Promise<void> {
  await app.pool.query(`update networks set contacts = $2, abuse = $3 where cidr = $1`, [
    ...[network.cidr, contacts, contacts[0] ?? null],
  ])
}

/** A report of spam from the network, analyzed. */
async function reported(): Promise<string> {
  const [report = { reportId: '' }] = await app.reports(`told-${++made}`)
  await analyzeReports([report], { ...app, parser })
  return report.reportId
}

async function told(reportId: string) {
  const rows = await listFeedback(app.pool, [reportId])
  return rows.map(({ number, address, state }) => `${number} ${address} ${state}`)
}

async function enroll(address: string, scopes: ConsumerScope[], more = '') {
  const source = 'enrollment' as const
  const consumer = (await ensureConsumers(app.pool, [{ address, source }], now)).get(address)
  if (!consumer) throw new Error('no consumer')
  await app.pool.query(
    `update consumers set state = 'enrolled', enrolled_at = $2 ${more} where id = $1`,
    [consumer.id, now],
  )
  await replaceScopes(app.pool, consumer.id, scopes, now)
  return consumer
}

const inTx = <T>(work: Parameters<typeof inTransaction<T>>[1]) => inTransaction(app.pool, work)
const range = (value: string) => ({ kind: 'range' as const, value })

test('the first contact of the network is told', async () => {
  expect(await told(await reported())).toEqual(['1 abuse@one.example queued'])
})

test('a desk that enrolled for the block is told in place of the contact of the tables', async () => {
  await enroll('soc@desk.example', [range('198.51.100.0/26')])
  const reportId = await reported()
  expect(await told(reportId)).toEqual(['1 soc@desk.example queued'])
  const [event] = await app.rows('select detail from report_events where report_id = $1', [
    reportId,
  ])
  expect(event?.['detail']).toContain('enrolled for 198.51.100.0/26')
})

test('a block that does not hold the origin changes nothing, nor does a scope of who only was found', async () => {
  await enroll('soc@desk.example', [range('198.51.100.128/25')])
  const found = await enroll('other@desk.example', [range('198.51.100.0/24')])
  await app.pool.query(`update consumers set state = 'found' where id = $1`, [found.id])
  expect(await told(await reported())).toEqual(['1 abuse@one.example queued'])
})

test('of several that enrolled the closest is the desk, and all are told', async () => {
  await enroll('as@desk.example', [{ kind: 'as', value: '64497' }])
  await enroll('wide@desk.example', [range('198.51.100.0/24')])
  await enroll('close@desk.example', [range('198.51.100.16/28'), range('198.51.100.0/24')])
  const [first, ...rest] = await told(await reported())
  expect(first).toBe('1 close@desk.example queued')
  expect(rest.map((line) => line.split(' ')[1])).toEqual(['wide@desk.example', 'as@desk.example'])
})

test('an enrolled desk that takes no spam, bounces or is suppressed lets the tables speak or be silent', async () => {
  const desk = await enroll(
    'soc@desk.example',
    [range('198.51.100.0/24')],
    `, takes = '{phishing}'`,
  )
  expect(await told(await reported())).toEqual([])
  await app.pool.query(`update consumers set takes = null where id = $1`, [desk.id])
  const record = { softBounces: 0, bouncesSince: null, lastBouncedAt: now }
  const healthUntil = new Date(Date.now() + DAY_MS)
  await keepHealth(app.pool, desk.id, { ...record, health: 'dead', healthUntil })
  expect(await told(await reported())).toEqual(['1 abuse@one.example queued'])
})

test('a desk that enrolled and then stopped is not gone round by the tables', async () => {
  const desk = await enroll('soc@desk.example', [range('198.51.100.0/24')])
  await inTx((tx) => stopConsumer(tx, desk.id, { why: 'It asked.' }, now))
  expect(await told(await reported())).toEqual([])
})

test('a pause holds until its end, and leaves who enrolled enrolled', async () => {
  const desk = await enroll('soc@desk.example', [range('198.51.100.0/24')])
  await app.pool.query(`update consumers set state = 'paused', paused_until = $2 where id = $1`, [
    ...[desk.id, new Date(Date.now() + DAY_MS)],
  ])
  expect(await told(await reported())).toEqual([])
  await app.pool.query(`update consumers set paused_until = $2 where id = $1`, [
    ...[desk.id, new Date(Date.now() - 1)],
  ])
  expect(await told(await reported())).toEqual(['1 soc@desk.example queued'])
})

test('an address that is suppressed for bounces gives way, one that complained does not', async () => {
  const suppression = { status: null, detail: 'a test', since: now, until: null }
  await suppress(app.pool, { ...suppression, address: 'abuse@one.example', reason: 'hard-bounce' })
  expect(await told(await reported())).toEqual(['1 abuse@two.example queued'])
  await suppress(app.pool, { ...suppression, address: 'abuse@two.example', reason: 'complaint' })
  expect(await told(await reported())).toEqual([])
})

test('stopping calls back what waits, suppresses the address and says so in the stories', async () => {
  const reportId = await reported()
  const [feedback] = await listFeedback(app.pool, [reportId])
  await inTx((tx) => stopConsumer(tx, feedback?.consumerId ?? '', { why: 'It asked.' }, now))
  expect(await told(reportId)).toEqual(['1 abuse@one.example withdrawn'])
  const suppressed = await listSuppressed(app.pool, ['Abuse@one.example'], now)
  expect(suppressed.get('abuse@one.example')?.reason).toBe('stop')
  const events = await app.rows(
    'select event from report_events where report_id = $1 order by at',
    [reportId],
  )
  expect(events).toContainEqual({ event: 'withdrawn' })
  expect(await told(await reported())).toEqual([])
  expect(await inTx((tx) => stopConsumer(tx, app.ann, { why: 'Nobody.' }, now))).toBe(false)
})

test('the same consumer is told once of a report, whatever runs again', async () => {
  const reportId = await reported()
  const consumers = await ensureConsumers(
    app.pool,
    ['abuse@one.example', 'abuse@two.example'].map((address) => ({ address, source: 'network' })),
    now,
  )
  const owed = [...consumers.values()].map((consumer) => ({ reportId, consumer }))
  await inTx((tx) => oweFeedback(tx, owed, app, now))
  await inTx((tx) => oweFeedback(tx, owed, app, now))
  expect(await told(reportId)).toEqual(['1 abuse@one.example queued', '2 abuse@two.example queued'])
  const redeemed = owed.map((one) => ({ ...one, kind: 'redeemed' as const }))
  const [third] = await inTx((tx) => oweFeedback(tx, redeemed, app, now))
  expect(third).toMatchObject({ number: 3, kind: 'redeemed' })
})

test('a consumer that wants digests waits without a job', async () => {
  await enroll('soc@desk.example', [range('198.51.100.0/24')], `, pace = 'digest'`)
  const reportId = await reported()
  expect(await told(reportId)).toEqual(['1 soc@desk.example waiting'])
  const jobs = await app.rows(
    `select 1 from pgboss.job where name = 'forward-report' and data ->> 'reportId' = $1`,
    [reportId],
  )
  expect(jobs).toEqual([])
})

test('after a bounce the next contact is told, and at most three are', async () => {
  const reportId = await reported()
  const next = (number: number) => inTx((tx) => tellNextContact(tx, { reportId, number }, app, now))
  expect(await next(1)).toEqual({ told: 'abuse@two.example' })
  expect(await next(1)).toEqual({ nobody: 'Another was told already.' })
  expect(await next(2)).toEqual({ told: 'abuse@three.example' })
  expect(await next(3)).toEqual({ nobody: 'Enough contacts were tried.' })
  expect(await told(reportId)).toHaveLength(3)
})

test('the next contact is nobody who bounces, who stopped, nor of a report that was taken back', async () => {
  const [one, two, three] = [await reported(), await reported(), await reported()]
  const next = (reportId: string) =>
    inTx((tx) => tellNextContact(tx, { reportId, number: 1 }, app, now))
  const suppression = { status: null, detail: 'a test', since: now, until: null }
  await suppress(app.pool, { ...suppression, address: 'abuse@two.example', reason: 'hard-bounce' })
  expect(await next(one)).toEqual({ told: 'abuse@three.example' })
  await retractReport(app, two, { isReporter: true })
  expect(await next(two)).toEqual({ nobody: 'The report was taken back.' })
  const [feedback] = await listFeedback(app.pool, [three])
  await inTx((tx) => stopConsumer(tx, feedback?.consumerId ?? '', { why: 'It asked.' }, now))
  expect(await next(three)).toEqual({ nobody: 'The abuse desk asked us to stop.' })
})

test('"not ours" holds for the block and the address, and the next contact is told', async () => {
  const reportId = await reported()
  const answer = await inTx((tx) => markNotOurs(tx, { reportId, number: 1 }, app, now))
  expect(answer).toEqual({ told: 'abuse@two.example' })
  const kept = await app.rows('select cidr::text, address, until from contact_corrections')
  expect(kept).toEqual([
    {
      cidr: network.cidr,
      address: 'abuse@one.example',
      until: new Date(now.getTime() + 180 * DAY_MS),
    },
  ])
  expect(await told(await reported())).toEqual(['1 abuse@two.example queued'])
  await app.pool.query('update contact_corrections set until = $1', [now])
  expect(await told(await reported())).toEqual(['1 abuse@one.example queued'])
})

test('an enrolled desk that says so is not told of that block either', async () => {
  await enroll('soc@desk.example', [range('198.51.100.0/24')])
  const reportId = await reported()
  expect(await inTx((tx) => markNotOurs(tx, { reportId, number: 1 }, app, now))).toEqual({
    told: 'abuse@one.example',
  })
  expect(await told(await reported())).toEqual(['1 abuse@one.example queued'])
})

test('when the only contact says so, the registries are asked', async () => {
  await contactsAre('abuse@one.example')
  const reportId = await reported()
  const answer = await inTx((tx) => markNotOurs(tx, { reportId, number: 1 }, app, now))
  expect(answer).toEqual({ asking: true })
  const jobs = await app.rows(
    `select 1 from pgboss.job where name = 'find-contact' and data ->> 'reportId' = $1`,
    [reportId],
  )
  expect(jobs).toHaveLength(1)
})

test('answers are counted on who gave them', async () => {
  const reportId = await reported()
  const key = { reportId, number: 1 }
  await markWrong(app.pool, key)
  await markWrong(app.pool, key)
  await markResolved(app.pool, key)
  await markWrong(app.pool, { reportId, number: 9 })
  const [counts] = await app.rows(
    'select wrong_answers as wrong, resolved_answers as resolved from consumers',
  )
  expect(counts).toEqual({ wrong: 2, resolved: 1 })
})

const complaint: Case = {
  reporterId: '',
  verdict: { class: 'undecided', score: 1, symbols: [] },
  reportedAs: 'spam',
  isLearned: false,
  messageKind: 'message',
  origin: { ip: '198.51.100.23', confidence: 0.9 },
  originConfidenceMin: 0.7,
  askable: [],
  network: undefined,
  registry: 'off',
  forwardTo: 'any',
  alsoTell: [],
  disowned: new Set(),
  verifiedDomains: ['mail.shop.example', 'shop.example'],
}

test('who enrolled for a domain that stands behind a message is told besides', async () => {
  await enroll('brand@shop.example', [{ kind: 'domain', value: 'shop.example' }])
  await enroll('brand@other.example', [{ kind: 'domain', value: 'other.example' }])
  const one = { ...complaint, reporterId: app.ann }
  const [drawn] = await drawConsequences(app.pool, [one], app, now)
  expect(drawn?.consequence.action).toBe('keep')
  expect(drawn?.told).toMatchObject([
    { consumer: { address: 'brand@shop.example' }, toldAs: 'domain' },
  ])
})

test('an address that a message names becomes a consumer of its own kind', async () => {
  const named = {
    source: 'cfbl',
    format: 'xarf',
    keepsTokens: false,
    why: 'It asks for it.',
  } as const
  const one = { ...complaint, reporterId: app.ann }
  const alsoTell = [{ ...named, address: 'fbl@shop.example' }]
  const [drawn] = await drawConsequences(app.pool, [{ ...one, alsoTell }], app, now)
  expect(drawn?.told).toMatchObject([
    { consumer: { address: 'fbl@shop.example', source: 'cfbl', format: 'xarf' }, toldAs: 'cfbl' },
  ])
  expect(drawn?.why).toContain('It asks for it.')
})

test('a batch is asked of the database as a whole', async () => {
  await enroll('soc@desk.example', [range('198.51.100.0/24')])
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
