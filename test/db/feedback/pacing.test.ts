import { expect, test } from 'vitest'
import { findFeedback, type FeedbackKey, listFeedback } from '../../../src/db/feedback-reports.ts'
import { retractReport } from '../../../src/reports/change-report.ts'
import { runForwardReport } from '../../../src/feedback/forward-report.ts'
import { runPaceFeedback } from '../../../src/feedback/pace-feedback.ts'
import { runRedeemReport } from '../../../src/reports/redeem-report.ts'
import type { Mailer, OutgoingMail, SendResult } from '../../../src/net/mailer.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { owe, statesOf } from './owed.ts'
import { parser } from '../../support/parser.ts'

const app = {
  ...(await closeAfterTests(openTestApp({ FEEDBACK_HOURLY_MAX: '2' }))),
  parser,
}

type FarEnd = Mailer & { mails: OutgoingMail[] }

function fakeMailServer(answer: SendResult = { outcome: 'accepted', reply: '250 taken' }): FarEnd {
  const mails: OutgoingMail[] = []
  const send = (mail: OutgoingMail) => {
    mails.push(mail)
    return Promise.resolve(answer)
  }
  return { mails, send, close: () => Promise.resolve() }
}

async function forward(keys: readonly FeedbackKey[], far = fakeMailServer(), now?: Date) {
  const clock = now ? () => now : app.clock
  const outcomes = await runForwardReport(keys, { ...app, clock, mailer: far })
  return { outcomes, mails: far.mails }
}

async function change(address: string, what: string) {
  await app.pool.query(`update consumers set ${what} where address = $1`, [address])
}

/** Stores that the reports belong to one campaign. */
async function ofOneCampaign(keys: readonly FeedbackKey[]) {
  const { reportId } = keys[0] ?? { reportId: '' }
  const ids = keys.map((key) => key.reportId)
  await app.pool.query(
    `insert into counted_reports (id, shard, campaign_id, content)
     select id, shard_of(id), $2::uuid, ''::bytea from unnest($1::uuid[]) as id
     on conflict (id, shard) do update set campaign_id = excluded.campaign_id`,
    [ids, reportId],
  )
}

const wait = async (keys: readonly FeedbackKey[], dueAt: Date) => {
  await app.pool.query(
    `update feedback_reports set state = 'waiting', due_at = $2 where report_id = any($1::uuid[])`,
    [keys.map(({ reportId }) => reportId), dueAt],
  )
}
const hourLater = () => new Date(Date.now() + 3_600_000)
const pace = (now = hourLater()) => runPaceFeedback({ ...app, clock: () => now })
const queuedOf = async (keys: readonly FeedbackKey[]) => {
  const rows = await listFeedback(
    app.pool,
    keys.map(({ reportId }) => reportId),
  )
  return rows.filter(({ state }) => state === 'queued')
}

test('above the hourly limit reports wait, and are sent as one per campaign', async () => {
  const keys = await owe(app, 'abuse@limited.example', ['a1', 'a2', 'a3', 'a4', 'a5'])
  await ofOneCampaign(keys)
  const { mails, outcomes } = await forward(keys)
  expect(mails).toHaveLength(2)
  expect(outcomes).toEqual(keys.map(() => 'done'))
  expect((await statesOf(app, keys)).toSorted()).toEqual([
    ...['sent', 'sent', 'waiting', 'waiting', 'waiting'],
  ])
  expect(await pace(new Date())).toBe(0)
  expect(await pace()).toBe(1)
  expect(await pace()).toBe(0)
  const [sample] = await queuedOf(keys)
  expect(sample?.incidents).toBe(3)
  const later = await forward(sample ? [sample] : [], fakeMailServer(), hourLater())
  expect(String(later.mails[0]?.raw)).toMatch(/^Incidents: 3\r$/m)
  expect((await statesOf(app, keys)).toSorted()).toEqual([
    ...['merged', 'merged', 'sent', 'sent', 'sent'],
  ])
  const states = await app.rows(`select distinct state from reports where id = any($1::uuid[])`, [
    keys.map(({ reportId }) => reportId),
  ])
  expect(states).toEqual([{ state: 'forwarded' }])
})

test('a temporary refusal returns its place in the hour', async () => {
  const keys = await owe(app, 'abuse@gives-back.example', ['b1', 'b2', 'b3', 'b4'])
  await forward(
    keys.slice(0, 2),
    fakeMailServer({ outcome: 'later', replyCode: 451, reason: '451 busy' }),
  )
  const { mails } = await forward(keys.slice(2))
  expect(mails).toHaveLength(2)
})

test('an enrolled consumer has only its own limit', async () => {
  const keys = await owe(app, 'abuse@enrolled.example', ['c1', 'c2', 'c3', 'c4'])
  await change('abuse@enrolled.example', `state = 'enrolled', enrolled_at = now()`)
  expect((await forward(keys.slice(0, 3))).mails).toHaveLength(3)
  await change('abuse@enrolled.example', 'hourly_max = 1')
  expect((await forward(keys.slice(3))).mails).toHaveLength(1)
})

test('a pause holds queued and waiting feedback until it ends', async () => {
  const keys = await owe(app, 'abuse@paused.example', ['d1'])
  const until = new Date(Date.now() + 2 * 3_600_000)
  await change('abuse@paused.example', `state = 'paused', paused_until = '${until.toISOString()}'`)
  expect((await forward(keys)).mails).toEqual([])
  expect(await findFeedback(app.pool, keys[0] ?? { reportId: '', number: 1 })).toMatchObject({
    state: 'waiting',
    dueAt: until,
  })
  expect(await pace(hourLater())).toBe(0)
  expect(await pace(until)).toBe(1)
})

test.for([
  ['stopped', `state = 'stopped'`],
  ['dead', `health = 'dead', health_until = now() + interval '1 day'`],
] as const)('a consumer that is %s is not sent the queued feedback', async ([name, what]) => {
  const keys = await owe(app, `abuse@${name}.example`, [`e-${name}`])
  await change(`abuse@${name}.example`, what)
  expect((await forward(keys)).mails).toEqual([])
  expect(await statesOf(app, keys)).toEqual(['withdrawn'])
})

test('a digest is one mail with its own Message-ID, retracted report by report', async () => {
  const keys = await owe(app, 'abuse@digest.example', ['f1', 'f2', 'f3'])
  await change('abuse@digest.example', `pace = 'digest'`)
  await wait(keys, new Date())
  expect(await pace()).toBe(1)
  const [head = { reportId: '', number: 1 }, ...more] = await queuedOf(keys)
  expect(more).toEqual([])
  const { mails } = await forward([head])
  const text = String(mails[0]?.raw)
  expect(text).toContain(`Message-ID: <${head.reportId}.1.digest@`)
  for (const { reportId } of keys) expect(text).toContain(`Message-ID: <${reportId}.1@`)
  expect((await statesOf(app, keys)).toSorted()).toEqual(['merged', 'merged', 'sent'])

  for (const { reportId } of keys) {
    await retractReport(app, reportId, { isReporter: true })
    await runRedeemReport([{ reportId }], app)
    await runRedeemReport([{ reportId }], app)
  }
  const redeemed = await app.rows(
    `select state from feedback_reports where kind = 'redeemed' and report_id = any($1::uuid[])`,
    [keys.map(({ reportId }) => reportId)],
  )
  expect(redeemed).toEqual(keys.map(() => ({ state: 'waiting' })))
})

test('if a campaign’s sample is retracted, another report represents the rest', async () => {
  const keys = await owe(app, 'abuse@sample.example', ['g1', 'g2', 'g3'])
  await ofOneCampaign(keys)
  await wait(keys, new Date())
  await pace()
  const [head = { reportId: '', number: 1 }] = await queuedOf(keys)
  await retractReport(app, head.reportId, { isReporter: true })
  expect((await statesOf(app, keys)).toSorted()).toEqual(['waiting', 'waiting', 'withdrawn'])
  await pace()
  expect(await queuedOf(keys)).toMatchObject([{ incidents: 2 }])
})

test('a retracted report of a campaign is no longer counted', async () => {
  const keys = await owe(app, 'abuse@one-less.example', ['h1', 'h2', 'h3'])
  await ofOneCampaign(keys)
  await wait(keys, new Date())
  await pace()
  const [head] = await queuedOf(keys)
  const member = keys.find(({ reportId }) => reportId !== head?.reportId)
  await retractReport(app, member?.reportId ?? '', { isReporter: true })
  expect(await queuedOf(keys)).toMatchObject([{ incidents: 2 }])
})

test('a sent sample is retracted when its whole campaign is retracted', async () => {
  const keys = await owe(app, 'abuse@stands.example', ['s1', 's2', 's3'])
  await ofOneCampaign(keys)
  await wait(keys, new Date())
  await pace()
  const [head = { reportId: '', number: 1 }] = await queuedOf(keys)
  await forward([head])
  const others = keys.filter(({ reportId }) => reportId !== head.reportId)
  const redeemed = () =>
    app.rows(
      `select report_id as "reportId" from feedback_reports
       where kind = 'redeemed' and report_id = any($1::uuid[])`,
      [keys.map(({ reportId }) => reportId)],
    )
  for (const { reportId } of [head, ...others.slice(0, 1)]) {
    await retractReport(app, reportId, { isReporter: true })
    await runRedeemReport([{ reportId }], app)
    expect(await redeemed()).toEqual([])
  }
  for (const { reportId } of others.slice(1)) {
    await retractReport(app, reportId, { isReporter: true })
    await runRedeemReport([{ reportId }], app)
    await runRedeemReport([{ reportId }], app)
  }
  expect(await redeemed()).toEqual([{ reportId: head.reportId }])
})

test('two processes pace one consumer once', async () => {
  const keys = await owe(app, 'abuse@twice.example', ['i1', 'i2', 'i3', 'i4'])
  await wait(keys, new Date())
  const queued = await Promise.all([pace(), pace(), pace()])
  expect(queued.reduce((sum, one) => sum + one, 0)).toBe(4)
})

test('a retraction is sent once to recipients of the complaint, and to no others', async () => {
  const [told, untold] = await owe(app, 'abuse@redeemed.example', ['j1', 'j2'])
  if (!told || !untold) throw new Error('two were made')
  await forward([told])
  for (const { reportId } of [told, untold]) {
    await retractReport(app, reportId, { isReporter: true })
    await runRedeemReport([{ reportId }], app)
    await runRedeemReport([{ reportId }], app)
  }
  const { mails } = await forward([{ ...told, number: 2 }])
  expect(String(mails[0]?.raw)).toMatch(/^Feedback-Type: not-spam\r$/m)
  expect((await listFeedback(app.pool, [told.reportId, untold.reportId])).length).toBe(3)
})

test('feedback sent while it was being retracted is retracted too', async () => {
  const [key = { reportId: '', number: 1 }] = await owe(app, 'abuse@late.example', ['k1'])
  const far = fakeMailServer()
  const late: FarEnd = {
    ...far,
    async send(mail) {
      await retractReport(app, key.reportId, { isReporter: true })
      await runRedeemReport([key], app)
      return far.send(mail)
    },
  }
  await forward([key], late)
  const jobs = await app.rows(
    `select state from pgboss.job where name = 'redeem-report' and data->>'reportId' = $1`,
    [key.reportId],
  )
  expect(jobs).toHaveLength(1)
  expect(await statesOf(app, [key, { ...key, number: 2 }])).toEqual(['sent', 'queued'])
})
