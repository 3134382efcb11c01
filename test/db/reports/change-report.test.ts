import { beforeEach, expect, test } from 'vitest'
import { phrase } from '../../../src/phrase.ts'
import { pieceTypes } from '../../../src/pieces/shingles/piece-types.ts'
import { shingleHash } from '../../../src/pieces/shingles/hash.ts'
import { halvesOf } from '../../../src/counting/keys.ts'
import { createCounterReader } from '../../../src/counting/reader.ts'
import type { Pool } from '../../../src/db/pool.ts'
import type { ReportKind } from '../../../src/db/reports.ts'
import { retractReport } from '../../../src/reports/change-report.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { runForwardReport } from '../../../src/feedback/forward-report.ts'
import { runRedeemReport } from '../../../src/reports/redeem-report.ts'
import type { Mailer, OutgoingMail } from '../../../src/net/mailer.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp, type TestApp } from '../../support/app.ts'
import { rollUpAll } from '../../support/counter-rows.ts'
import { foldAll } from '../../support/evidence.ts'
import { spamMessage } from '../../support/messages.ts'
import { parser } from '../../support/parser.ts'

const app = await closeAfterTests(openTestApp())

beforeEach(async () => {
  const counted =
    'counters, counter_members, counter_deltas, counter_gates, counted_reports, reports_to_count'
  const evidence = 'reputation_evidence, reported_evidence, reputations'
  await app.pool.query(`truncate ${counted}, ${evidence}`)
})

const say = (mark: string, kind: ReportKind) => app.report(spamMessage(mark), { kind })
const analyze = (reportId: string) => runAnalyzeReport([{ reportId }], { ...app, parser })
const redeem = (reportId: string) => runRedeemReport([{ reportId }], app)

/** A mail server that accepts everything. */
function fakeMailServer(before: () => Promise<unknown> = () => Promise.resolve()) {
  const mails: OutgoingMail[] = []
  const mailer: Mailer = {
    async send(mail) {
      await before()
      mails.push(mail)
      return { outcome: 'accepted', reply: '250 taken' }
    },
    close: () => Promise.resolve(),
  }
  return { mails, mailer }
}

/** Sends everything queued for a report. */
async function forward(reportId: string, { mailer }: { mailer: Mailer } = fakeMailServer()) {
  const rows = await app.rows(
    `select number from feedback_reports where report_id = $1 and state = 'queued'`,
    [reportId],
  )
  const keys = rows.map(({ number }) => ({ reportId, number: Number(number) }))
  return runForwardReport(keys, { ...app, parser, mailer })
}

async function stands(reportId: string) {
  const [report] = await app.rows('select kind, state from reports where id = $1', [reportId])
  const feedback = await app.rows(
    `select kind || ' ' || state as told from feedback_reports where report_id = $1
     order by number`,
    [reportId],
  )
  return { ...report, told: feedback.map(({ told }) => told) }
}

async function eventsOf(reportId: string) {
  const rows = await app.rows(
    'select event, phrases from report_events where report_id = $1 order by at, id',
    [reportId],
  )
  return rows.map(({ event, phrases }) => [event, phrases])
}

/** Returns the counts of the author of all messages, and the evidence about their link. */
async function counted() {
  await rollUpAll(app.pool, new Date())
  await foldAll(app.pool, new Date())
  const reader = createCounterReader(app, { keysMax: 10, freshMs: 0 })
  const author = shingleHash(pieceTypes['author-address'].number, 'offers@shop.example')
  const key = halvesOf(author)
  const [windows] = await reader.readWindows([(BigInt(key.hi) << 32n) | BigInt(key.lo)])
  const { spam = 0, ham = 0, complaint = 0, redeemed = 0 } = windows?.reports?.twoWeeks ?? {}
  const evidence = await app.rows(
    `select coalesce(sum(good) > 0.01, false) as good, coalesce(sum(bad) > 0.01, false) as bad
     from reputations`,
  )
  return { spam, ham, complaint, redeemed, ...evidence[0] }
}

test('a changed report keeps its id, waits for its analysis again and has an event', async () => {
  const first = await say('keeps-id', 'spam')
  expect(first.is).toBe('new')
  await analyze(first.id)
  expect(await say('keeps-id', 'not-spam')).toEqual({ id: first.id, is: 'changed' })
  expect(await say('keeps-id', 'not-spam')).toEqual({ id: first.id, is: 'repeated' })
  expect(await stands(first.id)).toEqual({
    ...{ kind: 'not-spam', state: 'received' },
    told: ['complaint withdrawn'],
  })
  await analyze(first.id)
  expect(await stands(first.id)).toMatchObject({ kind: 'not-spam', state: 'kept' })
  expect((await eventsOf(first.id)).map(([event]) => event)).toEqual([
    ...['analyzed', 'changed', 'analyzed'],
  ])
  expect((await eventsOf(first.id))[1]?.[1]).toEqual([
    phrase('kind-changed', { kind: 'wanted' }),
    phrase('unsent-withdrawn'),
  ])
})

test.for<[ReportKind, ReportKind, object]>([
  ['spam', 'not-spam', { ham: 1, spam: 0, complaint: 0, redeemed: 1 }],
  ['phishing', 'not-spam', { ham: 1, spam: 0, complaint: 0, redeemed: 1 }],
  ['not-spam', 'spam', { ham: 0, spam: 1, complaint: 1, redeemed: 0 }],
  ['not-spam', 'phishing', { ham: 0, spam: 1, complaint: 1, redeemed: 0 }],
  ['spam', 'phishing', { ham: 0, spam: 1, complaint: 1, redeemed: 0 }],
  ['phishing', 'spam', { ham: 0, spam: 1, complaint: 1, redeemed: 0 }],
])('%s, then %s: counted as the last kind alone', async ([from, to, counts]) => {
  const mark = `${from}-${to}`
  const { id } = await say(mark, from)
  await analyze(id)
  await say(mark, to)
  await Promise.all([analyze(id), analyze(id)])
  await analyze(id)
  const isPraise = to === 'not-spam'
  expect(await counted()).toEqual({ ...counts, good: isPraise, bad: !isPraise })
})

test('notified desks learn that it is not spam, and later that it is after all', async () => {
  const { id } = await say('there-and-back', 'spam')
  await analyze(id)
  await forward(id)
  await say('there-and-back', 'not-spam')
  await analyze(id)
  const far = fakeMailServer()
  await forward(id, far)
  expect(far.mails[0]?.raw.toString('latin1')).toMatch(/^Feedback-Type: not-spam\r$/m)
  expect(await stands(id)).toMatchObject({
    state: 'kept',
    told: ['complaint sent', 'redeemed sent'],
  })
  await say('there-and-back', 'spam')
  await analyze(id)
  await forward(id)
  expect(await stands(id)).toMatchObject({
    state: 'forwarded',
    told: ['complaint sent', 'redeemed sent', 'complaint sent'],
  })
})

test('a desk notified of spam is not notified again of phishing', async () => {
  const { id } = await say('worse', 'spam')
  await analyze(id)
  await forward(id)
  await say('worse', 'phishing')
  await analyze(id)
  expect(await stands(id)).toEqual({
    kind: 'phishing',
    state: 'forwarded',
    told: ['complaint sent'],
  })
})

test('a correction that was not sent is withdrawn with its reason', async () => {
  const { id } = await say('hesitant', 'spam')
  await analyze(id)
  await forward(id)
  await say('hesitant', 'not-spam')
  await analyze(id)
  await say('hesitant', 'spam')
  await analyze(id)
  expect(await stands(id)).toMatchObject({
    state: 'forwarded',
    told: ['complaint sent', 'redeemed withdrawn'],
  })
})

test('a report changed while its complaint is being sent is corrected', async () => {
  const { id } = await say('leaving', 'spam')
  await analyze(id)
  await forward(
    id,
    fakeMailServer(async () => {
      await say('leaving', 'not-spam')
      await analyze(id)
    }),
  )
  expect(await stands(id)).toMatchObject({ told: ['complaint sent', 'redeemed queued'] })
})

test('a report changed during its analysis is judged as its new kind', async () => {
  const { id } = await say('overtaken', 'spam')
  const judge: TestApp['judge'] = async (cases) => {
    await say('overtaken', 'not-spam')
    return app.judge(cases)
  }
  await runAnalyzeReport([{ reportId: id }], { ...app, judge, parser })
  expect(await stands(id)).toEqual({ kind: 'not-spam', state: 'received', told: [] })
  await analyze(id)
  expect(await counted()).toMatchObject({ ham: 1, spam: 0, complaint: 0 })
})

test('a report retracted by its reporter may be reported again', async () => {
  const { id } = await say('again', 'spam')
  await analyze(id)
  await retractReport(app, id, { isReporter: true })
  expect(await say('again', 'spam')).toEqual({ id, is: 'changed' })
  await analyze(id)
  await redeem(id)
  expect(await counted()).toEqual({
    ...{ spam: 1, ham: 0, complaint: 1, redeemed: 0 },
    ...{ good: false, bad: true },
  })
})

test('a report retracted by an administrator stays retracted', async () => {
  const { id } = await say('overruled', 'spam')
  await analyze(id)
  await retractReport(app, id, { isReporter: false, administratorId: app.bob })
  expect(await say('overruled', 'phishing')).toEqual({ id, is: 'repeated' })
  expect(await stands(id)).toMatchObject({ kind: 'spam', state: 'retracted' })
})

/** Returns a pool in which statements fail if `isFatal` returns true for them. */
function failing(pool: Pool, isFatal: (text: string) => boolean): Pool {
  const connect = async () => {
    const client = await pool.connect()
    return new Proxy(client, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name)
        if (typeof value !== 'function') return value
        if (name !== 'query') return value.bind(target) as unknown
        return (query: string | { text: string }, ...more: unknown[]): unknown => {
          const text = (typeof query === 'string' ? query : query.text).trimStart()
          if (isFatal(text)) return Promise.reject(new Error('The process ends here.'))
          return Reflect.apply(value, target, [query, ...more])
        }
      },
    })
  }
  return Object.assign(Object.create(pool) as Pool, { connect, query: pool.query.bind(pool) })
}

test('after changes, analyses and crashes in any order, the last choice counts once', async () => {
  const kinds = ['spam', 'not-spam', 'phishing', 'not-spam', 'spam', 'not-spam'] as const
  const { id } = await say('storm', 'spam')
  let writes = 0
  // The last statement of a transaction fails two times out of three.
  const pool = failing(
    app.pool,
    (text) => text.includes('into reported_evidence') && ++writes % 3 > 0,
  )
  for (const kind of kinds) {
    await Promise.allSettled([
      say('storm', kind),
      runAnalyzeReport([{ reportId: id }], { ...app, pool, parser }),
      runAnalyzeReport([{ reportId: id }], { ...app, pool, parser }),
    ])
  }
  expect(writes).toBeGreaterThan(0)
  await Promise.all([analyze(id), analyze(id)])
  expect(await stands(id)).toMatchObject({ kind: 'not-spam', state: 'kept' })
  expect(await counted()).toMatchObject({ ham: 1, spam: 0, complaint: 0, good: true, bad: false })
})
