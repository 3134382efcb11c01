import { expect, test } from 'vitest'
import { ensureConsumers } from '../../src/db/consumers.ts'
import {
  findFeedback,
  findFeedbackMessage,
  insertFeedback,
  insertFeedbackMessages,
  listFeedback,
  listOutbox,
  markBounced,
  markFeedback,
  type FeedbackKey,
  type FeedbackOutcome,
} from '../../src/db/feedback-reports.ts'
import { withdrawFeedback } from '../../src/db/feedback-waiting.ts'
import { uuidv7 } from '../../src/world.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { freshDatabase } from '../support/database.ts'

const found = (addresses: readonly string[]) =>
  addresses.map((address) => ({ address, source: 'network' as const }))
const createdAt = new Date()
const later = new Date(createdAt.getTime() + 1_000)
const addresses = ['abuse@one.example', 'abuse@two.example']

const database = await closeAfterTests(freshDatabase())
const consumers = await ensureConsumers(database.pool, found(addresses), createdAt)
const consumerIds = addresses.flatMap((address) => consumers.get(address)?.id ?? [])

/** Queues a feedback report about a new report, to the first consumers. */
async function queued(consumers = 1): Promise<FeedbackKey[]> {
  const reportId = uuidv7(createdAt)
  const rows = consumerIds.slice(0, consumers).map((consumerId, index) => ({
    reportId,
    number: index + 1,
    consumerId,
    address: addresses[index] ?? '',
    createdAt,
  }))
  await insertFeedback(database.pool, rows)
  return rows.map(({ number }) => ({ reportId, number }))
}

function outcome(key: FeedbackKey, state: FeedbackOutcome['state']): FeedbackOutcome {
  const { reportId, number } = key
  return { reportId, number, state, at: later, messageId: `<${reportId}@x.example>`, reply: null }
}

async function stateOf(key: FeedbackKey) {
  return (await findFeedback(database.pool, key))?.state
}

test('a new feedback report is queued, with the current address of its consumer', async () => {
  const [key = { reportId: '', number: 0 }] = await queued()
  expect(await findFeedback(database.pool, key)).toMatchObject({
    ...key,
    consumerId: consumerIds[0],
    state: 'queued',
    address: 'abuse@one.example',
    createdAt,
    finishedAt: null,
    messageId: null,
    reply: null,
    bouncedAt: null,
    bounceStatus: null,
    bounceReason: null,
  })
})

test('of two concurrent feedback reports with one number, one fails', async () => {
  const [key = { reportId: '', number: 0 }] = await queued()
  const again = {
    ...key,
    consumerId: consumerIds[0] ?? '',
    address: 'x@y.example',
    createdAt: new Date(),
  }
  await expect(insertFeedback(database.pool, [again])).rejects.toMatchObject({ code: '23505' })
})

test('each ends with its own outcome, in one statement', async () => {
  const [a, b, c] = (await Promise.all([queued(), queued(), queued()])).flat()
  if (!a || !b || !c) throw new Error('three were made')
  const outcomes = [
    { ...outcome(a, 'sent'), reply: `250 2.0.0 Ok: "queued" as 'x'; {"state": "held"}` },
    outcome(b, 'held'),
    { ...outcome(c, 'refused'), reply: '550 No' },
  ]
  const marked = await markFeedback(database.pool, outcomes)
  expect(new Set(marked.map(({ reportId }) => reportId)).size).toBe(3)
  for (const { at, ...expected } of outcomes) {
    expect(await findFeedback(database.pool, expected)).toMatchObject({
      ...expected,
      finishedAt: at,
    })
  }
})

test('a second run changes nothing', async () => {
  const [key = { reportId: '', number: 0 }] = await queued()
  expect(await markFeedback(database.pool, [outcome(key, 'sent')])).toMatchObject([key])
  expect(await markFeedback(database.pool, [outcome(key, 'held')])).toEqual([])
  expect(await stateOf(key)).toBe('sent')
})

test('ending one consumer’s feedback leaves the other consumer’s', async () => {
  const [one, two] = await queued(2)
  if (!one || !two) throw new Error('two were made')
  expect(await markFeedback(database.pool, [outcome(two, 'sent')])).toMatchObject([two])
  expect(await stateOf(one)).toBe('queued')
  const list = await listFeedback(database.pool, [one.reportId])
  expect(list.map(({ number, state }) => [number, state])).toEqual([
    [1, 'queued'],
    [2, 'sent'],
  ])
})

test('withdrawing affects queued and held feedback, never sent feedback', async () => {
  const [one, two] = await queued(2)
  if (!one || !two) throw new Error('two were made')
  await markFeedback(database.pool, [outcome(two, 'sent')])
  expect(await withdrawFeedback(database.pool, one.reportId, later)).toBe(1)
  expect([await stateOf(one), await stateOf(two)]).toEqual(['withdrawn', 'sent'])
  const [held] = await queued()
  if (!held) throw new Error('one was made')
  await markFeedback(database.pool, [outcome(held, 'held')])
  expect(await withdrawFeedback(database.pool, held.reportId, later)).toBe(1)
  expect(await withdrawFeedback(database.pool, held.reportId, later)).toBe(0)
})

test('feedback withdrawn while being sent is sent, while being held it is withdrawn', async () => {
  const [[left], [kept]] = await Promise.all([queued(), queued()])
  if (!left || !kept) throw new Error('two were made')
  for (const { reportId } of [left, kept]) await withdrawFeedback(database.pool, reportId, later)
  const outcomes = [outcome(left, 'sent'), outcome(kept, 'held')]
  expect(await markFeedback(database.pool, outcomes)).toMatchObject([left])
  expect([await stateOf(left), await stateOf(kept)]).toEqual(['sent', 'withdrawn'])
})

test('a bounce that arrives before the worker’s result does not block that result', async () => {
  const [key = { reportId: '', number: 0 }] = await queued()
  await markBounced(database.pool, { ...key, at: later, status: '5.1.1', reason: 'user-unknown' })
  expect(await markFeedback(database.pool, [outcome(key, 'sent')])).toMatchObject([key])
  expect(await markFeedback(database.pool, [outcome(key, 'sent')])).toEqual([])
  const { messageId } = outcome(key, 'sent')
  expect(await findFeedback(database.pool, key)).toMatchObject({ state: 'bounced', messageId })
})

test('a bounce is reported once, however often it arrives', async () => {
  const [key = { reportId: '', number: 0 }] = await queued()
  await markFeedback(database.pool, [outcome(key, 'sent')])
  const bounce = { ...key, at: later, status: '5.1.1', reason: 'user-unknown' }
  expect(await markBounced(database.pool, bounce)).toBe(true)
  expect(await markBounced(database.pool, { ...bounce, status: '4.0.0' })).toBe(false)
  expect(await findFeedback(database.pool, key)).toMatchObject({
    state: 'bounced',
    bouncedAt: later,
    bounceStatus: '5.1.1',
    bounceReason: 'user-unknown',
  })
})

test('a bounce of unsent feedback marks nothing', async () => {
  const unknown = { reportId: uuidv7(createdAt), number: 1 }
  const bounce = { ...unknown, at: later, status: null, reason: null }
  expect(await markBounced(database.pool, bounce)).toBe(false)
})

test('the copy of the first run stays: sent bytes are never replaced', async () => {
  const [key = { reportId: '', number: 0 }] = await queued()
  const first = { ...key, encoding: 'identity' as const, content: Buffer.from([0, 255, 13, 10]) }
  await insertFeedbackMessages(database.pool, [first])
  await insertFeedbackMessages(database.pool, [{ ...first, content: Buffer.from('other') }])
  expect(await findFeedbackMessage(database.pool, key)).toEqual({
    encoding: 'identity',
    content: first.content,
    isMasked: true,
  })
})

test('the outbox is read page by page, newest first, each row once', async () => {
  const other = await freshDatabase()
  const { pool } = other
  const consumers = await ensureConsumers(pool, found(addresses), createdAt)
  const ids = addresses.map((address) => consumers.get(address)?.id ?? '')
  const rows = Array.from({ length: 7 }, (_, n) => uuidv7(new Date(createdAt.getTime() + n)))
    .flatMap((reportId) => ids.map((consumerId, index) => ({ reportId, consumerId, index })))
    .map(({ index, ...row }) => ({ ...row, number: index + 1, address: 'a@b.example', createdAt }))
  await insertFeedback(pool, rows)
  const seen: string[] = []
  let before: FeedbackKey | undefined
  do {
    const page = await listOutbox(pool, { before }, 5)
    seen.push(...page.map(({ reportId, number }) => `${reportId} ${number}`))
    before = page.length === 5 ? page.at(-1) : undefined
  } while (before)
  expect(seen).toEqual(rows.map(({ reportId, number }) => `${reportId} ${number}`).toReversed())
  const [first] = rows
  if (first) await markFeedback(pool, [outcome(first, 'held')])
  expect(await listOutbox(pool, { state: 'held' }, 5)).toMatchObject([
    { reportId: first?.reportId },
  ])
  await other.close()
})

test('consumers found concurrently by two writers are the same rows', async () => {
  const desks = Array.from({ length: 20 }, (_, n) => `abuse@desk${n}.example`)
  const [one, two] = await Promise.all([
    ensureConsumers(database.pool, found(desks), createdAt),
    ensureConsumers(database.pool, found(desks.toReversed()), createdAt),
  ])
  expect(one.size).toBe(20)
  for (const desk of desks) expect(two.get(desk)).toEqual(one.get(desk))
})
