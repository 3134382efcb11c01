import { afterEach, beforeEach, expect, test } from 'vitest'
import { runForwardReport } from '../../../src/feedback/forward-report.ts'
import {
  type Forwarding,
  forwardingIdle,
  openForwarding,
} from '../../../src/feedback/select-sendable.ts'
import type { Mailer, OutgoingMail, SendResult } from '../../../src/net/mailer.ts'
import type { ParserPool } from '../../../src/parsing/parser-pool.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { owe, statesOf } from './owed.ts'
import { parser } from '../../support/parser.ts'

let forwarding: Forwarding
let mails: OutgoingMail[]
let answer: SendResult

const app = {
  ...(await closeAfterTests(openTestApp({ FEEDBACK_HOURLY_MAX: '50' }))),
  parser,
}

beforeEach(() => {
  forwarding = openForwarding(app)
  mails = []
  answer = { outcome: 'accepted', reply: '250 taken' }
})

afterEach(() => forwardingIdle(forwarding))

const mailer: Mailer = {
  send: (mail) => {
    mails.push(mail)
    return Promise.resolve(answer)
  },
  close: () => Promise.resolve(),
}
const busy: SendResult = { outcome: 'later', replyCode: 451, reason: '451 busy' }
const postponed = expect.objectContaining({
  postponedTo: expect.any(Date),
  payload: expect.any(Object),
})

/** Returns a parser that composes the given reports in its slow lane until the gate opens. */
function slowFor(reportIds: readonly string[]) {
  const gate = Promise.withResolvers<undefined>()
  const parser: ParserPool = {
    ...app.parser,
    async compose(packed, analysis, content, onSlow) {
      if (reportIds.includes(content.reportId)) {
        onSlow?.()
        await gate.promise
      }
      return app.parser.compose(packed, analysis, content)
    },
  }
  return { parser, open: () => gate.resolve(undefined) }
}

function forward(keys: Parameters<typeof runForwardReport>[0], needs: object = {}) {
  return runForwardReport(keys, { ...app, mailer, ...needs }, forwarding)
}

test('slow composing delays no other feedback, and is sent when it is done', async () => {
  const keys = await owe(app, 'abuse@slow.example', ['slow-1', 'slow-2', 'slow-3'])
  const slow = slowFor(keys.slice(0, 1).map(({ reportId }) => reportId))
  expect(await forward(keys, slow)).toEqual([postponed, 'done', 'done'])
  expect(await statesOf(app, keys)).toEqual(['queued', 'sent', 'sent'])
  expect(await forward(keys)).toEqual([postponed, 'done', 'done'])
  slow.open()
  await forwardingIdle(forwarding)
  expect(await statesOf(app, keys)).toEqual(['sent', 'sent', 'sent'])
  expect(mails).toHaveLength(3)
})

test('slow composing takes no place in the queue of its consumer', async () => {
  const keys = await owe(
    app,
    'abuse@room.example',
    Array.from({ length: 45 }, (_, at) => `room-${at}`),
  )
  const [consumer] = await app.rows(`select id from consumers where address = 'abuse@room.example'`)
  const slow = slowFor(keys.map(({ reportId }) => reportId))
  await forward(keys, slow)
  const line = { id: String(consumer?.['id']), connectionsMax: 1 }
  const places = Array.from({ length: 100 }, () => forwarding.queues.admit(line))
  for (const place of places) if ('ticket' in place) place.ticket.drop()
  expect(places.every((place) => 'ticket' in place)).toBe(true)
  slow.open()
})

test('slowly composed feedback is not sent to a consumer that failed meanwhile', async () => {
  const keys = await owe(app, 'abuse@fails.example', ['f-1', 'f-2', 'f-3', 'f-4', 'f-5'])
  const slow = slowFor(keys.slice(0, 1).map(({ reportId }) => reportId))
  await forward(keys.slice(0, 1), slow)
  answer = busy
  for (const key of keys.slice(1)) await forward([key])
  answer = { outcome: 'accepted', reply: '250 taken' }
  slow.open()
  await forwardingIdle(forwarding)
  expect(await statesOf(app, keys.slice(0, 1))).toEqual(['queued'])
  expect(mails).toHaveLength(4)
})

test('feedback composed after its lease is not sent and not counted for the hour', async () => {
  const keys = await owe(app, 'abuse@late.example', ['late'])
  let now = Date.now()
  const slow = slowFor(keys.map(({ reportId }) => reportId))
  expect(await forward(keys, { ...slow, clock: () => new Date(now) })).toEqual([postponed])
  now += 61_000
  slow.open()
  await forwardingIdle(forwarding)
  expect(await statesOf(app, keys)).toEqual(['queued'])
  expect(mails).toEqual([])
  const places = await app.rows(
    `select told from consumer_hours
     where consumer_id = (select id from consumers where address = 'abuse@late.example')`,
  )
  expect(places).toEqual([{ told: 0 }])
})
