import { afterEach, beforeEach, expect, test } from 'vitest'
import { runForwardReport } from '../../../src/feedback/forward-report.ts'
import {
  type Forwarding,
  forwardingIdle,
  openForwarding,
} from '../../../src/feedback/select-sendable.ts'
import { createMailer, type Mailer } from '../../../src/net/mailer.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { parser } from '../../support/parser.ts'
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts'
import { owe, statesOf } from './owed.ts'

let sink: SmtpSink
let mailer: Mailer
let forwarding: Forwarding

const app = {
  ...(await closeAfterTests(openTestApp({ FEEDBACK_HOURLY_MAX: '1000' }))),
  parser,
}

beforeEach(async () => {
  sink = await startSmtpSink()
  mailer = createMailer(sink.url, { stallMs: 50, silenceMs: 60_000 })
  forwarding = openForwarding(app, { waitMsMax: 200 })
})

afterEach(async () => {
  await mailer.close(0)
  await forwardingIdle(forwarding)
  await sink.close()
})

const forward = (keys: Parameters<typeof runForwardReport>[0]) =>
  runForwardReport(keys, { ...app, mailer }, forwarding)
const marks = (name: string, count: number) => Array.from({ length: count }, (_, at) => name + at)
const isPostponed = (outcome: unknown) =>
  typeof outcome === 'object' && 'postponedTo' in (outcome ?? {})

test('a stalled consumer delays none of two hundred others', async () => {
  const stalled = await owe(app, 'abuse@stalls.example', marks('stalls', 8))
  const others = (
    await Promise.all(
      marks('other', 20).map((name) => owe(app, `abuse@${name}.example`, marks(name, 10))),
    )
  ).flat()
  sink.failFor('abuse@stalls.example', 'stall')
  forwarding = openForwarding(app, { waitMsMax: 10_000 })
  mailer = createMailer(sink.url, { stallMs: 2_000, silenceMs: 4_000 })
  const [theirs, first, second] = await Promise.all([
    forward(stalled),
    forward(others.slice(0, 100)),
    forward(others.slice(100)),
  ])
  expect([...first, ...second].every((outcome) => outcome === 'done')).toBe(true)
  expect(new Set(await statesOf(app, others))).toEqual(new Set(['sent']))
  expect(theirs).not.toContain('done')
  expect(new Set(await statesOf(app, stalled))).toEqual(new Set(['queued']))
})

test('no more than the allowed connections are used for one consumer', async () => {
  const keys = await owe(app, 'abuse@two.example', marks('two', 6))
  sink.failFor('abuse@two.example', 'stall')
  await forward(keys)
  // The other reports return their places in the hourly limit to the database.
  await expect.poll(() => forwarding.inProgress.size).toBe(2)
  sink.failFor('abuse@two.example', undefined)
})

test('a stalled consumer is paused for a while, and then retried from the slow lane', async () => {
  const first = await owe(app, 'abuse@pauses.example', ['pauses-1'])
  sink.failFor('abuse@pauses.example', 'stall')
  await forward(first)
  const second = await owe(app, 'abuse@pauses.example', ['pauses-2'])
  const [outcome] = await forward(second)
  expect(isPostponed(outcome)).toBe(true)
  expect(sink.messages).toEqual([])
})

test('a sending that continues after its batch is recorded when it ends', async () => {
  const keys = await owe(app, 'abuse@slow.example', ['slow'])
  const gate = Promise.withResolvers<undefined>()
  const slow: Mailer = {
    ...mailer,
    async send(mail) {
      await gate.promise
      return mailer.send(mail)
    },
  }
  const [outcome] = await runForwardReport(keys, { ...app, mailer: slow }, forwarding)
  expect(isPostponed(outcome)).toBe(true)
  expect(isPostponed((await runForwardReport(keys, { ...app, mailer }, forwarding))[0])).toBe(true)
  gate.resolve(undefined)
  await forwardingIdle(forwarding)
  expect(await statesOf(app, keys)).toEqual(['sent'])
  expect(sink.messages).toHaveLength(1)
})

test('one temporary refusal is retried; many in a row pause the consumer', async () => {
  mailer = createMailer(sink.url, { silenceMs: 60_000 })
  forwarding = openForwarding(app, { waitMsMax: 60_000 })
  const keys = await owe(app, 'abuse@busy.example', marks('busy', 5))
  sink.failFor('abuse@busy.example', { code: 451, text: 'busy' })
  for (const key of keys.slice(0, 4)) {
    expect(await forward([key])).toEqual([{ retry: expect.stringContaining('451') }])
  }
  expect(isPostponed((await forward(keys.slice(4)))[0])).toBe(true)
})

test('mail that is not accepted for five days is given up', async () => {
  const [key = { reportId: '', number: 1 }] = await owe(app, 'abuse@gone.example', ['gone'])
  sink.failFor('abuse@gone.example', 'stall')
  const postponedSince = new Date(Date.now() - 6 * 86_400_000).toISOString()
  const [outcome] = await forward([{ ...key, postponedSince }])
  expect(outcome).toEqual({ failed: expect.stringContaining('five days') })
})
