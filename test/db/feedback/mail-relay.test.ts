import { beforeEach, expect, test } from 'vitest'
import { findMailRelay, listMailTotals } from '../../../src/db/mail-relay.ts'
import { inTransaction } from '../../../src/db/pool.ts'
import { listBacklogs } from '../../../src/db/jobs.ts'
import { listSuppressed } from '../../../src/db/suppressions.ts'
import { runForwardReport } from '../../../src/feedback/forward-report.ts'
import { forwardReport } from '../../../src/feedback/queues.ts'
import { openForwarding } from '../../../src/feedback/select-sendable.ts'
import { queueLetter, runSendLetter } from '../../../src/letters/send-letter.ts'
import { createLogger } from '../../../src/log.ts'
import type { SendResult } from '../../../src/net/mailer.ts'
import { send } from '../../../src/queue/boss.ts'
import { workQueue } from '../../../src/queue/work.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { owe, statesOf } from './owed.ts'
import { parser } from '../../support/parser.ts'

const app = {
  ...(await closeAfterTests(openTestApp())),
  parser,
}

beforeEach(async () => {
  await app.pool.query(
    `update mail_relay set refused_since = null, refused_at = null, reply = null, failures = 0,
       next_try_at = null, accepted_at = null`,
  )
})

const accepted: SendResult = { outcome: 'accepted', reply: '250 taken' }
const denied: SendResult = {
  outcome: 'later',
  replyCode: 554,
  reason: '554 5.7.1 Relay access denied',
  fault: 'relay',
}
const away: SendResult = {
  outcome: 'later',
  replyCode: undefined,
  reason: 'connect ECONNREFUSED',
  fault: 'session',
}
const unknown: SendResult = {
  outcome: 'rejected',
  replyCode: 550,
  reply: '550 5.1.1 User unknown',
  about: 'gone',
}

/** Opens a process whose mail server answers as `far.answer`, and whose clock the test moves. */
function openProcess() {
  const far = { answer: denied, sent: 0, now: Date.now() }
  const needs = {
    ...app,
    clock: () => new Date(far.now),
    mailer: {
      send: () => {
        far.sent++
        return Promise.resolve(far.answer)
      },
      close: () => Promise.resolve(),
    },
  }
  const forwarding = openForwarding(needs)
  return {
    far,
    forward: (keys: Parameters<typeof runForwardReport>[0]) =>
      runForwardReport(keys, needs, forwarding),
    letters: (payloads: Parameters<typeof runSendLetter>[0]) =>
      runSendLetter(payloads, needs, forwarding.relay),
  }
}

async function oweLetterTo(to: string): Promise<string> {
  const said = { kind: 'account', subject: 'Sign up', text: 'Hello.', language: 'en' } as const
  return inTransaction(app.pool, (tx) =>
    queueLetter(tx, { ...said, to, autoSubmitted: 'generated' }, app, app.clock()),
  )
}

const letterState = async (id: string) =>
  (await app.rows('select state, reply from letters where id = $1', [id]))[0]

const failures = () => app.rows('select failures from mail_relay')

test.each([denied, away])('a refusal that concerns us pauses all mail: %j', async (answer) => {
  const mark = answer === denied ? 'denied' : 'away'
  const keys = await owe(app, `abuse@${mark}.example`, [`${mark}1`, `${mark}2`, `${mark}3`])
  const letterId = await oweLetterTo(`person@${mark}.example`)
  const { far, forward, letters } = openProcess()
  far.answer = answer
  const outcomes = await forward(keys)
  for (const outcome of outcomes) expect(outcome).toMatchObject({ postponedTo: expect.any(Date) })
  const tried = far.sent
  expect(await letters([{ letterId }])).toMatchObject([{ postponedTo: expect.any(Date) }])
  expect(far.sent).toBe(tried)
  expect(await statesOf(app, keys)).toEqual(['queued', 'queued', 'queued'])
  expect((await listSuppressed(app.pool, [`abuse@${mark}.example`], new Date())).size).toBe(0)
  const relay = await findMailRelay(app.pool)
  expect(relay.reply).toBe('reason' in answer ? answer.reason : '')
  expect(await failures()).toEqual([{ failures: 1 }])
  expect(relay.nextTryAt?.getTime()).toBeGreaterThan(far.now)

  far.now += 10_000
  expect(await letters([{ letterId }])).toMatchObject([{ postponedTo: expect.any(Date) }])
  expect(far.sent).toBe(tried + 1)
  expect(await failures()).toEqual([{ failures: 2 }])

  far.now += 30_000
  far.answer = accepted
  const waiting = (await forward(keys)).flatMap((one, index) => (one === 'done' ? [] : [index]))
  expect(await findMailRelay(app.pool)).toMatchObject({ refusedSince: null, nextTryAt: null })
  far.now += 10_000
  await forward(waiting.flatMap((index) => keys[index] ?? []))
  expect(await letters([{ letterId }])).toEqual(['done'])
  expect(await statesOf(app, keys)).toEqual(['sent', 'sent', 'sent'])
  expect(await letterState(letterId)).toMatchObject({ state: 'sent' })
})

test('while other mail is accepted, one refusal pauses nothing', async () => {
  const keys = await owe(app, 'abuse@other.example', ['other1', 'other2'])
  const { far, forward } = openProcess()
  far.answer = accepted
  await forward(keys.slice(0, 1))
  far.answer = denied
  expect(await forward(keys.slice(1))).toMatchObject([
    { postponedTo: expect.any(Date), payload: { refusedSince: new Date(far.now).toISOString() } },
  ])
  const relay = await findMailRelay(app.pool)
  expect(relay.refusedSince).not.toBeNull()
  expect(relay.nextTryAt).toBeNull()
})

test('a mail refused for a day while others are accepted ends as refused', async () => {
  const keys = await owe(app, 'abuse@never.example', ['never1', 'never2'])
  const { far, forward } = openProcess()
  far.answer = accepted
  await forward(keys.slice(0, 1))
  far.answer = denied
  const [, key = { reportId: '', number: 1 }] = keys
  const dayAgo = new Date(far.now - 25 * 3_600_000).toISOString()
  expect(await forward([{ ...key, refusedSince: dayAgo }])).toEqual(['done'])
  expect(await statesOf(app, keys)).toEqual(['sent', 'refused'])
  expect((await listSuppressed(app.pool, ['abuse@never.example'], new Date())).size).toBe(0)
})

test('a refusal that concerns the recipient suppresses the address', async () => {
  const keys = await owe(app, 'abuse@gone.example', ['gone1'])
  const letterId = await oweLetterTo('person@gone.example')
  const fullId = await oweLetterTo('person@full.example')
  const before = await listMailTotals(app.pool)
  const { far, forward, letters } = openProcess()
  far.answer = unknown
  expect(await forward(keys)).toEqual(['done'])
  expect(await letters([{ letterId }])).toEqual(['done'])
  far.answer = { ...unknown, reply: '552 5.2.2 Mailbox full', about: 'unreachable' }
  expect(await letters([{ letterId: fullId }])).toEqual(['done'])
  expect(await statesOf(app, keys)).toEqual(['refused'])
  expect(await letterState(letterId)).toEqual({ state: 'refused', reply: '550 5.1.1 User unknown' })
  const addresses = ['abuse@gone.example', 'person@gone.example', 'person@full.example']
  const suppressed = await listSuppressed(app.pool, addresses, new Date())
  expect(addresses.map((address) => suppressed.get(address)?.reason)).toEqual([
    'hard-bounce',
    'hard-bounce',
    'soft-bounces',
  ])
  const totalOf = (rows: typeof before, kind: string) =>
    rows.find((one) => one.kind === kind && one.outcome === 'refused')?.total ?? 0
  const after = await listMailTotals(app.pool)
  expect(totalOf(after, 'feedback') - totalOf(before, 'feedback')).toBe(1)
  expect(totalOf(after, 'letter') - totalOf(before, 'letter')).toBe(2)
  expect(await findMailRelay(app.pool)).toMatchObject({ refusedSince: null })
})

test('a postponed job keeps the age of the first one', async () => {
  const queue = { ...forwardReport, name: 'postponed', batchSize: 1, concurrency: 1 }
  await app.boss.createQueue(queue.name)
  await send(app.boss, queue, [{ reportId: crypto.randomUUID(), number: 1 }], app.pool)
  await app.pool.query(
    `update pgboss.job set created_on = now() - interval '3 hours' where name = 'postponed'`,
  )
  const log = await createLogger('silent', 'test')
  let runs = 0
  const ran = Promise.withResolvers<undefined>()
  const worker = await workQueue({ ...app, log }, queue, (jobs) => {
    runs++
    if (runs === 2) ran.resolve(undefined)
    const postponedTo = new Date(Date.now() + (runs === 1 ? 0 : 3_600_000))
    return Promise.resolve(jobs.map((payload) => ({ postponedTo, payload })))
  })
  await ran.promise
  await worker.close()
  const [backlog] = await listBacklogs(app.pool, ['postponed'], new Date())
  expect(backlog).toMatchObject({ ready: 0, deferred: 1 })
  expect(backlog?.oldestJobSeconds).toBeGreaterThanOrEqual(3 * 3_600)
})
