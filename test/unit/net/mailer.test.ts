import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { expect, test as plainTest } from 'vitest'
import { createMailer, type LaterFault, type MailerLimits } from '../../../src/net/mailer.ts'
import { until } from '../../support/process.ts'
import { startHangingRelay } from '../../support/torture/sending/hanging-relay.ts'
import { type SinkFailure, type SinkStep, startSmtpSink } from '../../support/smtp-sink.ts'

/**
 * Short time limits, used only with servers that stall: on a busy machine, a working server may
 * need longer.
 */
const impatient: Partial<MailerLimits> = { connectionMs: 2_000, greetingMs: 2_000, silenceMs: 600 }
// `smtp-server` waits 100 ms before its greeting, and longer on a busy machine.
const patientAtFirst: Partial<MailerLimits> = { connectionMs: 5_000, greetingMs: 5_000 }
const raw = Buffer.from('Subject: one\r\n\r\nHello.\r\n')
const envelope = { from: 'fb-abc@bounce.example.org', to: 'abuse@example.net' }

/** Each test has a sink of its own: most wait, and do so side by side. */
const test = plainTest
  .extend('sink', async ({ onTestFinished }) => {
    const sink = await startSmtpSink()
    onTestFinished(() => sink.close())
    return sink
  })
  .extend('mailer', ({ sink, onTestFinished }) => {
    const mailer = createMailer(sink.url)
    onTestFinished(() => mailer.close(0))
    return mailer
  })
  .extend('impatientMailer', ({ sink, onTestFinished }) => {
    const mailer = createMailer(sink.url, impatient)
    onTestFinished(() => mailer.close(0))
    return mailer
  }).concurrent

test('without a URL there is no mailer, and mail is held', () => {
  expect(createMailer(undefined)).toBeUndefined()
  expect(createMailer('')).toBeUndefined()
})

test.for(['http://example.org', 'mail.example.org'])('%s is not a valid mail server', (url) => {
  expect(() => createMailer(url)).toThrow(TypeError)
})

test('a message arrives byte for byte under the given envelope', async ({ sink, mailer }) => {
  expect(await mailer.send({ envelope, raw })).toMatchObject({ outcome: 'accepted' })
  expect(sink.messages).toMatchObject([{ from: envelope.from, to: [envelope.to], raw }])
})

test.for<[what: string, sent: string, arrives: string]>([
  ['lines of dots', '.\r\n..\r\nend\r\n.\r\n', '.\r\n..\r\nend\r\n.\r\n'],
  ['a dot in its first line', '.Subject: one\r\n\r\n', '.Subject: one\r\n\r\n'],
  ['a last line without a break', 'Subject: one\r\n\r\nend', 'Subject: one\r\n\r\nend\r\n'],
  ['line feeds alone', 'a\n\nb\n.\nc\n', 'a\r\n\r\nb\r\n.\r\nc\r\n'],
  ['carriage returns alone', 'a\r.\rb\r', 'a\r\n.\r\nb\r\n'],
  ['nothing', '', '\r\n'],
])('a message with %s does not end early', async ([, sent, arrives], { sink, mailer }) => {
  await mailer.send({ envelope, raw: Buffer.from(sent) })
  await mailer.send({ envelope, raw })
  expect(sink.messages.map((one) => one.raw.toString())).toEqual([arrives, raw.toString()])
})

test('an empty return path is sent as the null return path', async ({ sink, mailer }) => {
  await mailer.send({ envelope: { ...envelope, from: '' }, raw })
  expect(sink.messages[0]?.from).toBe('')
})

test('a connection is reused for many messages', async ({ sink, mailer }) => {
  for (let sent = 0; sent < 5; sent += 1) await mailer.send({ envelope, raw })
  expect(sink.messages).toHaveLength(5)
  expect(sink.connections()).toBe(1)
})

const refusal = (code: number): SinkFailure => ({ code, text: 'no such user' })

test.for<[SinkStep, SinkFailure, string, number | undefined]>([
  ['mail', refusal(550), 'later', 550],
  ['rcpt', refusal(550), 'rejected', 550],
  ['dot', refusal(554), 'rejected', 554],
  ['mail', refusal(451), 'later', 451],
  ['rcpt', refusal(450), 'later', 450],
  ['dot', refusal(452), 'later', 452],
  ['mail', refusal(421), 'later', 421],
  ['mail', refusal(530), 'later', 530],
  ['connect', refusal(554), 'later', 554],
  ['connect', 'drop', 'later', undefined],
  ['mail', 'drop', 'later', undefined],
  ['rcpt', 'drop', 'later', undefined],
  ['dot', 'drop', 'later', undefined],
  ['connect', 'stall', 'later', undefined],
  ['mail', 'stall', 'later', undefined],
  ['dot', 'stall', 'later', undefined],
])(
  'a failure at %s with %o is reported as %s',
  async ([step, failure, outcome, replyCode], { sink, mailer, impatientMailer }) => {
    sink.failNext(step, failure)
    const failing = failure === 'stall' ? impatientMailer : mailer
    expect(await failing.send({ envelope, raw })).toMatchObject({ outcome, replyCode })
    expect(sink.messages).toEqual([])
    expect(await mailer.send({ envelope, raw })).toMatchObject({ outcome: 'accepted' })
  },
)

test.for<[SinkStep, SinkFailure, string]>([
  ['rcpt', { code: 554, text: '5.7.1 Relay access denied' }, 'relay'],
  ['rcpt', { code: 454, text: '4.7.1 Relay access denied' }, 'relay'],
  ['mail', { code: 530, text: '5.7.0 Must issue a STARTTLS command first' }, 'relay'],
  ['connect', { code: 554, text: 'No' }, 'relay'],
  ['dot', { code: 554, text: 'Email address is not verified' }, 'relay'],
  ['rcpt', { code: 450, text: '4.2.0 Greylisted' }, 'message'],
])(
  'a refusal at %s with %o is the fault of the %s',
  async ([step, failure, fault], { sink, mailer }) => {
    sink.failNext(step, failure)
    expect(await mailer.send({ envelope, raw })).toMatchObject({ outcome: 'later', fault })
  },
)

test('a refusal says whether it concerns the address or the message', async ({ sink, mailer }) => {
  sink.failNext('rcpt', { code: 550, text: '5.1.1 User unknown' })
  expect(await mailer.send({ envelope, raw })).toMatchObject({ about: 'gone' })
  sink.failNext('dot', { code: 554, text: '5.7.1 Message contains a virus' })
  expect(await mailer.send({ envelope, raw })).toMatchObject({ about: 'message' })
})

test('the reply of the other server is quoted', async ({ sink, mailer }) => {
  sink.failNext('rcpt', { code: 550, text: 'mailbox unknown here' })
  const result = await mailer.send({ envelope, raw })
  expect(result).toMatchObject({ reply: expect.stringContaining('mailbox unknown here') })
})

test('a message cut off after the final dot may be delivered; we send it once', async ({
  sink,
  mailer,
}) => {
  sink.failNext('dot', 'keep-and-drop')
  expect(await mailer.send({ envelope, raw })).toMatchObject({ outcome: 'later' })
  expect(sink.messages).toHaveLength(1)
})

test('one message that stalls delays no other', async ({ sink, mailer }) => {
  sink.failNext('rcpt', 'stall')
  const stalled = mailer.send({ envelope, raw })
  const others = await Promise.all(Array.from({ length: 9 }, () => mailer.send({ envelope, raw })))
  expect(others.every(({ outcome }) => outcome === 'accepted')).toBe(true)
  await mailer.close(0)
  expect(await stalled).toMatchObject({ outcome: 'later' })
})

test('stalled messages give up their places and are reported', async ({ sink }) => {
  const limits = { ...patientAtFirst, silenceMs: 2_000, stallMs: 500, connectionsMax: 1 }
  const narrow = createMailer(sink.url, limits)
  sink.failNext('rcpt', 'stall')
  let stalls = 0
  const stalled = narrow.send({ envelope, raw, onStall: () => (stalls += 1) })
  expect(await narrow.send({ envelope, raw })).toMatchObject({ outcome: 'accepted' })
  expect(stalls).toBe(1)
  expect(await stalled).toMatchObject({ outcome: 'later', fault: 'message' })
  await narrow.close(0)
})

test('a message that stalls without a free slow place is cut off', async ({ sink }) => {
  const narrow = createMailer(sink.url, { stallMs: 300, connectionsMax: 1, slowMax: 1 })
  sink.failNext('rcpt', 'stall', 2)
  const slow = narrow.send({ envelope, raw, lane: 'slow' })
  expect(await narrow.send({ envelope, raw })).toMatchObject({ outcome: 'later' })
  expect(await narrow.send({ envelope, raw })).toMatchObject({ outcome: 'accepted' })
  await narrow.close(0)
  await slow
})

test('a message without a place in the slow lane waits, and no server is at fault', async ({
  sink,
}) => {
  const narrow = createMailer(sink.url, { slowMax: 1, placeMs: 20 })
  sink.failNext('rcpt', 'stall')
  const first = narrow.send({ envelope, raw, lane: 'slow' })
  const second = narrow.send({ envelope, raw, lane: 'slow' })
  expect(await second).toMatchObject({ outcome: 'later', fault: 'places' })
  await narrow.close(0)
  await first
})

test('every message ends, whatever the other server does', async ({ sink }) => {
  const narrow = createMailer(sink.url, { stallMs: 10, sendMsMax: 50 })
  sink.failNext('dot', 'stall')
  expect(await narrow.send({ envelope, raw })).toMatchObject({ outcome: 'later' })
  await narrow.close(0)
})

test.for<[SinkStep, LaterFault]>([
  ['connect', 'session'],
  ['mail', 'message'],
  ['dot', 'message'],
])('a stall at %s is the fault of the %s', async ([step, fault], { sink, impatientMailer }) => {
  sink.failNext(step, 'stall')
  expect(await impatientMailer.send({ envelope, raw })).toMatchObject({ outcome: 'later', fault })
})

test('servers with DSN support get the token of the return path and options', async ({
  sink,
  mailer,
}) => {
  await mailer.send({ envelope, raw })
  const [envid] = envelope.from.split('@')
  expect(sink.messages[0]?.dsn).toEqual({ envid, ret: 'HDRS', notify: 'FAILURE,DELAY' })
  await mailer.send({ envelope: { ...envelope, from: '' }, raw })
  expect(sink.messages[1]?.dsn?.envid ?? undefined).toBeUndefined()
})

test.for([
  ['a recipient with a line break', { ...envelope, to: 'abuse@example.net>\r\nRCPT TO:<x@y.test' }],
  ['a recipient that is none', { ...envelope, to: '' }],
  ['a recipient that is two', { ...envelope, to: 'abuse@example.net, other@example.net' }],
  ['a recipient with a name', { ...envelope, to: 'Abuse <abuse@example.net>' }],
  ['a return path that is two', { ...envelope, from: 'a@example.org,b@example.org' }],
] as const)(
  '%s can never be sent, and no connection is made',
  async ([, hopeless], { sink, mailer }) => {
    expect(await mailer.send({ envelope: hopeless, raw })).toMatchObject({ outcome: 'rejected' })
    expect(sink.messages).toEqual([])
  },
)

test('a message above the server’s size limit is refused', async () => {
  const small = await startSmtpSink({ sizeMax: 10 })
  const toSmall = createMailer(small.url)
  expect(await toSmall.send({ envelope, raw })).toMatchObject({ outcome: 'rejected' })
  await toSmall.close(0)
  await small.close()
})

test('without a listening server the result is later', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  const toNobody = createMailer(`smtp://127.0.0.1:${String(port)}`, impatient)
  expect(await toNobody.send({ envelope, raw })).toMatchObject({ outcome: 'later' })
  await toNobody.close()
})

test('closing waits for a message that is being sent', async ({ mailer }) => {
  const sending = mailer.send({ envelope, raw })
  await mailer.close()
  expect(await sending).toMatchObject({ outcome: 'accepted' })
})

test('closing gives up on a stalled message when its grace is over', async ({ sink }) => {
  const patient = createMailer(sink.url)
  sink.failNext('dot', 'stall')
  const sending = patient.send({ envelope, raw })
  await patient.close(50)
  expect(await sending).toMatchObject({ outcome: 'later' })
  expect(await patient.send({ envelope, raw })).toMatchObject({ outcome: 'later' })
})

test.for(['ehlo', 'starttls', 'trickle'] as const)(
  'a session that hangs at %s ends with the time for a message, as a fault of the session',
  async (how) => {
    const relay = await startHangingRelay()
    await relay.hang(how)
    const toHung = createMailer(relay.url, { sendMsMax: 300 })
    expect(await toHung.send({ envelope, raw })).toMatchObject({
      ...{ outcome: 'later', fault: 'session' },
    })
    await toHung.close(0)
    await relay.close()
  },
)

test('an attempt can be ended, and says when the server asked for the message', async ({
  sink,
  mailer,
}) => {
  for (const [step, asks] of [
    ['rcpt', 0],
    ['dot', 1],
  ] as const) {
    sink.failNext(step, 'stall')
    const ending = new AbortController()
    let asked = 0
    const onData = () => asked++
    const sending = mailer.send({ envelope, raw, signal: ending.signal, onData })
    await until('the message', () => (asked === asks ? true : undefined), 10_000)
    setTimeout(() => ending.abort(), 300)
    expect(await sending).toMatchObject({ outcome: 'later', fault: 'session' })
    expect(asked).toBe(asks)
  }
  expect(await mailer.send({ envelope, raw })).toMatchObject({ outcome: 'accepted' })
})

test('a stalled message that may have arrived is not cut off for want of a place', async ({
  sink,
}) => {
  const narrow = createMailer(sink.url, { stallMs: 400, connectionsMax: 1, slowMax: 0 })
  sink.failNext('dot', 'stall')
  const stalled = narrow.send({ envelope, raw })
  const ended = await Promise.race([
    stalled,
    new Promise((resolve) => setTimeout(() => resolve('under way'), 800)),
  ])
  expect(ended).toBe('under way')
  await narrow.close(0)
  expect(await stalled).toMatchObject({ outcome: 'later' })
})
