import { setTimeout as wait } from 'node:timers/promises'
import { beforeEach, expect, test } from 'vitest'
import {
  findFeedbackMessage,
  listFeedback,
  feedbackName,
} from '../../../src/db/feedback-reports.ts'
import { concealKeysIn } from '../../../src/mail/conceal-keys.ts'
import { unpack } from '../../../src/db/rows.ts'
import {
  forwardAtOnce,
  type HandedOver,
  runForwardReport,
} from '../../../src/feedback/forward-report.ts'
import { loadFeedback } from '../../../src/feedback/load-content.ts'
import {
  type Forwarding,
  forwardingIdle,
  hasRoom,
  openForwarding,
} from '../../../src/feedback/select-sendable.ts'
import type { Mailer, OutgoingMail, SendResult } from '../../../src/net/mailer.ts'
import type { ParserPool } from '../../../src/parsing/parser-pool.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { parser } from '../../support/parser.ts'

const accepted: SendResult = { outcome: 'accepted', reply: '250 taken' }
const app = await closeAfterTests(openTestApp())
let forwarding: Forwarding
let mails: OutgoingMail[]
let answer: () => Promise<SendResult>
let handed: HandedOver[]

const mailer: Mailer = {
  send: (mail) => {
    mails.push(mail)
    return answer()
  },
  close: () => Promise.resolve(),
}

beforeEach(() => {
  forwarding = openForwarding(app, { waitMsMax: 1_500 })
  mails = []
  handed = []
  answer = () => Promise.resolve(accepted)
})

/** Analyzes reports; what follows at once is collected in `handed`. */
async function analyze(...marks: string[]): Promise<{ reportId: string; number: number }[]> {
  const payloads = await app.reports(...marks)
  const collects = {
    hasRoom: () => hasRoom(forwarding),
    send: (created: readonly HandedOver[]) => void handed.push(...created),
  }
  await runAnalyzeReport(payloads, { ...app, parser, forwardAtOnce: collects })
  return payloads.map(({ reportId }) => ({ reportId, number: 1 }))
}

function sendHanded(composing: Pick<ParserPool, 'compose' | 'sign'> = parser): Promise<void> {
  return forwardAtOnce(handed, { ...app, parser: composing, mailer }, forwarding)
}

/** Returns the seconds until the job of a feedback report starts; undefined without a job. */
async function jobStartsIn({ reportId }: { reportId: string }): Promise<number | undefined> {
  const [job] = await app.rows(
    `select extract(epoch from start_after - now())::float8 as seconds from pgboss.job
     where name = 'forward-report' and data ->> 'reportId' = $1`,
    [reportId],
  )
  return job?.['seconds'] as number | undefined
}

async function stateOf({ reportId }: { reportId: string }) {
  const [one] = await app.rows(
    `select reports.state as report, feedback_reports.state from feedback_reports
     join reports on reports.id = report_id and reports.shard = feedback_reports.shard
     where report_id = $1`,
    [reportId],
  )
  return one
}

/** Hands over a mail that is still being sent when the caller goes on; `end` ends the attempt. */
async function sendSlowly(mark: string) {
  forwarding.waitMsMax = 700
  const gate = Promise.withResolvers<SendResult>()
  answer = () => gate.promise
  const [key = { reportId: '', number: 1 }] = await analyze(mark)
  await sendHanded()
  expect(await jobStartsIn(key)).toBeGreaterThan(600)
  return { key, end: gate.resolve }
}

test('what is handed over equals what is stored, and is sent without its job', async () => {
  const keys = await analyze('at-once-1', 'at-once-2')
  expect(handed).toHaveLength(2)
  const ids = keys.map(({ reportId }) => reportId)
  const stored = await loadFeedback(
    app.pool,
    await listFeedback(app.pool, ids),
    app.config,
    app.clock(),
  )
  for (const { loaded } of handed) {
    const its = stored.get(feedbackName(loaded.feedback))
    const contentsOf = (parts: typeof loaded.parts = []) => parts.map(({ content }) => content)
    expect(loaded.feedback).toEqual(its?.feedback)
    expect(contentsOf(loaded.parts)).toEqual(contentsOf(its?.parts))
  }
  for (const key of keys) expect(await jobStartsIn(key)).toBeGreaterThan(50)
  await sendHanded()
  expect(mails).toHaveLength(2)
  for (const key of keys) {
    expect(await stateOf(key)).toEqual({ report: 'forwarded', state: 'sent' })
    expect(await jobStartsIn(key)).toBeUndefined()
    const copy = await findFeedbackMessage(app.pool, key)
    const raw = copy && (await unpack(copy))
    expect(mails.some((mail) => raw?.equals(concealKeysIn(mail.raw)))).toBe(true)
  }
})

test('mail sent but not recorded is sent again by its job, with the same bytes', async () => {
  const [key = { reportId: '', number: 1 }] = await analyze('crashed')
  await sendHanded()
  const sentBefore = mails.splice(0)
  await app.pool.query(
    `update feedback_reports set state = 'queued', message_id = null where report_id = $1`,
    [key.reportId],
  )
  expect(await runForwardReport([key], { ...app, parser, mailer }, forwarding)).toEqual(['done'])
  expect(mails.map(({ raw }) => raw)).toEqual(sentBefore.map(({ raw }) => raw))
})

test('mail that is refused for now is left to its job', async () => {
  answer = () => Promise.resolve({ outcome: 'later', replyCode: 451, reason: '451 busy' })
  const [key = { reportId: '', number: 1 }] = await analyze('busy')
  await sendHanded()
  expect(await stateOf(key)).toMatchObject({ state: 'queued' })
  const seconds = (await jobStartsIn(key)) ?? 0
  expect(seconds > 0 && seconds <= 60).toBe(true)
})

test('while a mail is being sent, its job starts only after the end of any attempt', async () => {
  const { key, end } = await sendSlowly('endless')
  end(accepted)
  await forwardingIdle(forwarding)
  expect(await stateOf(key)).toMatchObject({ state: 'sent' })
  expect(await jobStartsIn(key)).toBeUndefined()
})

test('if a mail in progress fails in the end, its job starts soon', async () => {
  const { key, end } = await sendSlowly('fails-late')
  end({ outcome: 'later', replyCode: 451, reason: '451 busy' })
  await forwardingIdle(forwarding)
  await Promise.all(app.boss.givingBack)
  expect(await jobStartsIn(key)).toBeLessThanOrEqual(30)
})

test('mail that is composed too late is not sent, because its job may be', async () => {
  const [key = { reportId: '', number: 1 }] = await analyze('late')
  let minutes = 0
  const clock = () => new Date(app.clock().getTime() + minutes * 60_000)
  const late: ParserPool = {
    ...parser,
    async compose(...task) {
      minutes = 1
      return parser.compose(...task)
    },
  }
  await forwardAtOnce(handed, { ...app, clock, parser: late, mailer }, forwarding)
  await Promise.all(app.boss.givingBack)
  expect(mails).toEqual([])
  // Half a minute after the attempt, whose clock is a minute ahead.
  expect(await jobStartsIn(key)).toBeLessThanOrEqual(90)
})

test('while many are unsent, further ones get usual jobs, and the analysis goes on', async () => {
  forwarding.handedOver = 1_000
  const [key = { reportId: '', number: 1 }] = await analyze('no-room')
  expect(handed).toEqual([])
  expect(await jobStartsIn(key)).toBeLessThanOrEqual(0)
})

test('a shadowed report is shown as sent after the time that the last mail took', async () => {
  await analyze('takes-its-time')
  answer = () => wait(400).then(() => accepted)
  await sendHanded()
  handed = []
  await analyze('is-shadowed')
  handed = handed.map((one) => ({ ...one, feedback: { ...one.feedback, isShadowed: true } }))
  const startMs = performance.now()
  await sendHanded()
  expect(performance.now() - startMs).toBeGreaterThan(390)
  expect(mails).toHaveLength(1)
})
