import { beforeEach, expect, test } from 'vitest'
import { type FeedbackKey, findFeedback, listFeedback } from '../../../src/db/feedback-reports.ts'
import { inTransaction } from '../../../src/db/pool.ts'
import { changeConsumer, stopFeedback } from '../../../src/feedback/change-consumer.ts'
import { recordAnswer } from '../../../src/feedback/take-answer.ts'
import { runForwardReport } from '../../../src/feedback/forward-report.ts'
import { keepBounce } from '../../../src/feedback/keep-inbound.ts'
import { runPaceFeedback } from '../../../src/feedback/pace-feedback.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { owe, statesOf } from './owed.ts'
import { parser } from '../../support/parser.ts'

const hourLater = () => new Date(Date.now() + 3_600_000)
const nothing = { reportId: '', number: 1 }

const app = {
  ...(await closeAfterTests(openTestApp())),
  parser,
}
await app.pool.query(`update networks set contacts = $1, abuse = 'abuse@first.example'`, [
  ['abuse@first.example', 'abuse@second.example'],
])

beforeEach(() => change('abuse@first.example', `pace = 'at-once'`))

async function change(address: string, what: string) {
  await app.pool.query(`update consumers set ${what} where address = $1`, [address])
}

/**
 * Creates feedback reports that are merged into one mail; returns the head, whose mail is sent, and
 * the others.
 */
async function oneMail(address: string, marks: readonly string[], pace = 'campaign') {
  const keys = await owe(app, address, marks)
  await change(address, `pace = '${pace}'`)
  const ids = keys.map(({ reportId }) => reportId)
  await app.pool.query(
    `insert into counted_reports (id, shard, campaign_id, content)
     select id, shard_of(id), $2::uuid, ''::bytea from unnest($1::uuid[]) as id
     on conflict (id, shard) do update set campaign_id = excluded.campaign_id`,
    [ids, ids[0]],
  )
  await app.pool.query(
    `update feedback_reports set state = 'waiting', due_at = now() where report_id = any($1)`,
    [ids],
  )
  await runPaceFeedback({ ...app, clock: hourLater })
  const rows = (await listFeedback(app.pool, ids)).filter(({ number }) => number === 1)
  const head = rows.find(({ state }) => state === 'queued') ?? nothing
  const others = keys.filter(({ reportId }) => reportId !== head.reportId)
  return { keys, head: { reportId: head.reportId, number: 1 }, others }
}

const mailer = {
  send: () => Promise.resolve({ outcome: 'accepted' as const, reply: '250 taken' }),
  close: () => Promise.resolve(),
}
const forward = (key: FeedbackKey) => runForwardReport([key], { ...app, mailer })

async function eventsOf(keys: readonly FeedbackKey[], event: string) {
  const rows = await app.rows(
    `select distinct report_id from report_events where event = $2 and report_id = any($1::uuid[])`,
    [keys.map(({ reportId }) => reportId), event],
  )
  return rows.length
}

async function toldOf({ reportId }: FeedbackKey) {
  return (await listFeedback(app.pool, [reportId])).map(({ address }) => address)
}

test('a stop also withdraws the reports that another mail represents', async () => {
  const { keys, head } = await oneMail('abuse@stops.example', ['a1', 'a2', 'a3'])
  const consumerId = (await findFeedback(app.pool, head))?.consumerId ?? ''
  await inTransaction(app.pool, (tx) => stopFeedback(tx, consumerId, 'stop', new Date()))
  expect(await statesOf(app, keys)).toEqual(['withdrawn', 'withdrawn', 'withdrawn'])
  expect(await eventsOf(keys, 'withdrawn')).toBe(3)
})

test('if a sample cannot be sent, the next contact gets the whole campaign', async () => {
  const { keys, head } = await oneMail('abuse@first.example', ['b1', 'b2', 'b3'])
  await change('abuse@first.example', `health = 'dead', health_until = now() + interval '1 day'`)
  await forward(head)
  expect(await statesOf(app, keys)).toEqual(['withdrawn', 'withdrawn', 'withdrawn'])
  for (const key of keys) expect(await toldOf(key)).toContain('abuse@second.example')
  await change('abuse@first.example', `health = 'healthy', health_until = null`)
})

test('if a sample bounces, the next contact gets the whole campaign', async () => {
  const { keys, head } = await oneMail('abuse@first.example', ['c1', 'c2', 'c3'])
  await forward(head)
  const feedback = await findFeedback(app.pool, head)
  const match = { by: 'recipient' as const, isSigned: true, ...head, letterId: null, feedback }
  const result = {
    ...{ recipient: 'abuse@first.example', action: 'failed' as const, status: '5.1.1' },
    ...{ hard: true, reason: 'userunknown' as const },
  }
  const bounce = () =>
    inTransaction(app.pool, (tx) => keepBounce(tx, match, [result as never], app, new Date()))
  await bounce()
  expect(await bounce()).toEqual([{ code: 'inbound-bounce-known' }])
  expect(await eventsOf(keys, 'bounced')).toBe(3)
  for (const key of keys) {
    expect(await toldOf(key)).toEqual(['abuse@first.example', 'abuse@second.example'])
  }
  await app.pool.query('delete from suppressions')
  await change('abuse@first.example', `health = 'healthy', health_until = null`)
})

test('"not ours" for a sample counts for its block, and notifies the next contact', async () => {
  const { keys, head, others } = await oneMail('abuse@first.example', ['d1', 'd2', 'd3'])
  await forward(head)
  const [far = nothing] = others
  await app.pool.query(`update analyses set network_cidr = '192.0.2.0/24' where id = $1`, [
    far.reportId,
  ])
  await inTransaction(app.pool, (tx) => recordAnswer(tx, head, 'not-ours', 'link', app, new Date()))
  expect(await eventsOf(keys, 'desk-not-ours')).toBe(2)
  for (const key of keys) {
    expect((await toldOf(key)).includes('abuse@second.example')).toBe(key !== far)
  }
  await app.pool.query('delete from contact_corrections')
})

test('each part of a digest is answered separately', async () => {
  const { keys, head, others } = await oneMail('abuse@daily.example', ['e1', 'e2'], 'digest')
  const [other = nothing] = others
  const answer = (key: FeedbackKey) =>
    inTransaction(app.pool, (tx) => recordAnswer(tx, key, 'resolved', 'link', app, new Date()))
  expect(await answer(other)).toBe('unknown')
  await forward(head)
  expect(await statesOf(app, [head, other])).toEqual(['sent', 'merged'])
  expect(await answer(head)).toBe('taken')
  expect(await eventsOf(keys, 'desk-resolved')).toBe(1)
  expect(await answer(other)).toBe('taken')
  expect(await eventsOf(keys, 'desk-resolved')).toBe(2)
})

test('a pause that ends early or becomes shorter delays nothing', async () => {
  const [key = nothing] = await owe(app, 'abuse@early.example', ['f1'])
  const { consumerId = '' } = (await findFeedback(app.pool, key)) ?? {}
  const now = new Date()
  const days = (count: number) => new Date(now.getTime() + count * 86_400_000)
  const make = (what: Parameters<typeof changeConsumer>[2]) =>
    inTransaction(app.pool, (tx) => changeConsumer(tx, consumerId, what, now))
  await make({ do: 'pause', until: days(30) })
  await forward(key)
  expect((await findFeedback(app.pool, key))?.dueAt).toEqual(days(30))
  await make({ do: 'pause', until: days(2) })
  expect((await findFeedback(app.pool, key))?.dueAt).toEqual(days(2))
  await make({ do: 'resume' })
  expect((await findFeedback(app.pool, key))?.dueAt).toEqual(now)
})

test('queued feedback is withdrawn once only enrolled desks are notified', async () => {
  const [key = nothing] = await owe(app, 'abuse@stranger.example', ['g1'])
  const config = { ...app.config, forwardTo: 'enrolled' as const }
  await runForwardReport([key], { ...app, config, mailer })
  expect(await statesOf(app, [key])).toEqual(['withdrawn'])
})
