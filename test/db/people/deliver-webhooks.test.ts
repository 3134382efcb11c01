import { beforeEach, expect, test } from 'vitest'
import { phrase } from '../../../src/phrase.ts'
import { inTransaction } from '../../../src/db/pool.ts'
import { addWebhook, changeWebhook, renewSecret } from '../../../src/people/webhooks.ts'
import {
  openDeliveries,
  queueWebhooks,
  runDeliverWebhook,
} from '../../../src/people/deliver-webhooks.ts'
import type { WebhookMessage, WebhookOutcome } from '../../../src/mail/webhook-message.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { spamMessage } from '../../support/messages.ts'

let now = new Date()
const clock = () => now

const app = await closeAfterTests(openTestApp({ PUBLIC_URL: 'https://here.example' }))

beforeEach(async () => {
  now = new Date()
  await app.rows('delete from webhooks')
})

const taken: WebhookOutcome = { state: 'taken', status: 200, outcome: phrase('webhook-accepted') }
const failing: WebhookOutcome = {
  state: 'failed',
  status: 500,
  outcome: phrase('webhook-declined'),
}

/** Simulates a network that answers as configured, and records what is sent to it. */
function world(answer: (message: WebhookMessage) => WebhookOutcome | Promise<WebhookOutcome>) {
  const sent: WebhookMessage[] = []
  return {
    sent,
    postWebhook: (message: WebhookMessage) => {
      sent.push(message)
      return Promise.resolve(answer(message))
    },
  }
}

async function hook(name: string, events: Parameters<typeof addWebhook>[2]['events']) {
  const url = `https://${name}.example.org/hook`
  const added = await addWebhook({ ...app, clock }, app.ann, { url, events })
  if ('refused' in added) throw new Error(added.refused)
  return added
}

async function owe(mark: string, count = 1) {
  const reports = await Promise.all(
    Array.from({ length: count }, (_, n) => app.report(spamMessage(`${mark}-${n}`))),
  )
  const news = { 'report.analyzed': reports.map(({ id }) => id) }
  await inTransaction(app.pool, (tx) => queueWebhooks(tx, app.boss, news, now))
  return news['report.analyzed']
}

async function waiting() {
  const rows = await app.rows(
    `select webhook_id as "webhookId", id as "deliveryId" from webhook_deliveries
     where state = 'waiting' order by id`,
  )
  return rows as { webhookId: string; deliveryId: string }[]
}

const deliver = (
  payloads: readonly { webhookId: string; deliveryId: string }[],
  to: ReturnType<typeof world>,
  inProgress = openDeliveries(),
) => runDeliverWebhook(payloads, { ...app, clock, postWebhook: to.postWebhook }, inProgress)

const log = () =>
  app.rows('select state, tries, status, phrase from webhook_deliveries order by id')

test('a message has only the event, its time, its subject and a link', async () => {
  const { webhook } = await hook('thin', ['report.analyzed'])
  const [reportId] = await owe('thin')
  const payloads = await waiting()
  const jobs = await app.rows(`select data from pgboss.job where name = 'deliver-webhook'`)
  expect(jobs).toContainEqual({ data: payloads[0] })
  const to = world(() => taken)
  expect(await deliver(payloads, to)).toEqual(['done'])
  expect(JSON.parse(to.sent[0]?.body ?? '')).toEqual({
    type: 'report.analyzed',
    timestamp: now.toISOString(),
    data: {
      report_id: reportId,
      url: `https://here.example/api/v1/reports/${reportId}`,
      status: 'received',
      outcome: null,
    },
  })
  expect(to.sent[0]?.id).toBe(`msg_${payloads[0]?.deliveryId}`)
  expect(to.sent[0]?.url).toBe(webhook.url)
  expect(await log()).toEqual([
    { state: 'delivered', tries: 1, status: 200, phrase: taken.outcome },
  ])
  expect(await deliver(payloads, to)).toEqual(['done'])
  expect(to.sent).toHaveLength(1)
})

test('only enabled webhooks of the reporter for that event are called', async () => {
  const { webhook } = await hook('off', ['report.analyzed'])
  await hook('other', ['report.told'])
  await changeWebhook(app, webhook, { state: 'disabled' })
  await addWebhook(app, app.bob, {
    url: 'https://bob.example.org/',
    events: ['report.analyzed'],
  })
  await owe('nobody')
  expect(await waiting()).toEqual([])
  await changeWebhook(app, webhook, { state: 'enabled' })
  await owe('somebody')
  expect(await waiting()).toHaveLength(1)
})

test('webhooks of a disabled account are not called, and waiting ones dropped', async () => {
  await hook('resting', ['report.analyzed'])
  await owe('resting')
  const payloads = await waiting()
  const setState = (state: string) =>
    app.rows('update reporters set state = $2 where id = $1', [app.ann, state])
  const to = world(() => taken)
  await setState('disabled')
  try {
    expect(await deliver(payloads, to)).toEqual(['done'])
    await owe('resting-later')
  } finally {
    await setState('active')
  }
  expect(to.sent).toEqual([])
  expect(await waiting()).toEqual([])
  expect(await log()).toMatchObject([{ state: 'dropped', phrase: { code: 'webhook-off' } }])
})

test('a refused message is retried under the same id, after pauses that double', async () => {
  await hook('fails', ['report.analyzed'])
  await owe('fails')
  const payloads = await waiting()
  const to = world(() => failing)
  const pauses: number[] = []
  for (let tried = 0; tried < 12; tried++) {
    const [outcome] = await deliver(payloads, to)
    if (outcome === 'done' || outcome === undefined || !('postponedTo' in outcome)) break
    expect(outcome.payload).toEqual(payloads[0])
    pauses.push((outcome.postponedTo.getTime() - now.getTime()) / 1_000)
    now = outcome.postponedTo
  }
  expect(pauses.slice(0, 4)).toEqual([30, 60, 120, 240])
  expect(Math.max(...pauses)).toBe(4 * 3_600)
  expect(new Set(to.sent.map(({ id }) => id)).size).toBe(1)
  expect(to.sent.length).toBeGreaterThan(10)
})

test('a message refused for a day is given up', async () => {
  await hook('day', ['report.analyzed'])
  await owe('day')
  const payloads = await waiting()
  now = new Date(now.getTime() + 86_399_000)
  const to = world(() => failing)
  expect(await deliver(payloads, to)).not.toEqual(['done'])
  now = new Date(now.getTime() + 60_000)
  expect(await deliver(payloads, to)).toEqual(['done'])
  expect(await log()).toMatchObject([{ state: 'given-up', tries: 2, status: 500 }])
})

test.for([
  ['after five days in which it took nothing', failing, 5 * 86_400_000, 'failed'],
  ['but not after four', failing, 4 * 86_400_000, 'enabled'],
  ['at once when it says that it is gone', { ...failing, state: 'gone' as const }, 0, 'failed'],
] as const)('a webhook is no longer called %s', async ([, answer, agoMs, state]) => {
  await hook('ends', ['report.analyzed'])
  await owe('ends')
  const since = new Date(now.getTime() - agoMs)
  if (agoMs > 0) await app.rows('update webhooks set failing_since = $1, failures = 9', [since])
  await deliver(
    await waiting(),
    world(() => answer),
  )
  expect(await app.rows('select state from webhooks')).toEqual([{ state }])
})

test('a webhook enabled again counts failures anew and gets waiting messages', async () => {
  await hook('back', ['report.analyzed'])
  await owe('back', 3)
  const payloads = await waiting()
  const down = world(() => failing)
  const outcomes = await deliver(payloads, down)
  expect(down.sent.length).toBeLessThanOrEqual(4)
  expect(outcomes.every((one) => typeof one === 'object' && 'postponedTo' in one)).toBe(true)
  expect(await app.rows('select failures from webhooks')).toEqual([{ failures: 1 }])
  const early = world(() => taken)
  await deliver(payloads, early)
  expect(early.sent).toEqual([])
  now = new Date(now.getTime() + 31_000)
  const up = world(() => taken)
  expect(await deliver(payloads, up)).toEqual(['done', 'done', 'done'])
  expect(await app.rows('select failures, paused_until from webhooks')).toEqual([
    { failures: 0, paused_until: null },
  ])
})

test('a stalled receiver takes four places, and delays no other', async () => {
  const { webhook: stalled } = await hook('stalls', ['report.analyzed'])
  const { webhook: quick } = await hook('quick', ['report.analyzed'])
  await owe('stalls', 10)
  const payloads = await waiting()
  const end: ((outcome: WebhookOutcome) => void)[] = []
  const to = world(({ url }) =>
    url === stalled.url ? new Promise((resolve) => end.push(resolve)) : taken,
  )
  const inProgress = { ...openDeliveries(), waitMsMax: 1_500 }
  const outcomes = await deliver(payloads, to, inProgress)
  const of = (id: string) => outcomes.filter((_, index) => payloads[index]?.webhookId === id)
  expect(of(quick.id)).toEqual(Array.from({ length: 10 }, () => 'done'))
  const delays = of(stalled.id).map((one) =>
    typeof one === 'object' && 'postponedTo' in one ? one.postponedTo.getTime() - now.getTime() : 0,
  )
  expect(delays.toSorted((a, b) => a - b)).toEqual([
    ...Array.from({ length: 6 }, () => inProgress.retryMs),
    ...Array.from({ length: 4 }, () => inProgress.leaseMs),
  ])
  await deliver(payloads, to, inProgress)
  expect(to.sent.filter(({ url }) => url === stalled.url)).toHaveLength(4)
  for (const one of end.splice(0)) one(failing)
  await expect.poll(() => inProgress.idsByWebhook.size).toBe(0)
})

test('for a day after a renewal, the previous secret signs too', async () => {
  const { webhook, secret } = await hook('keys', ['report.analyzed'])
  const shown = (to: ReturnType<typeof world>) =>
    to.sent[0]?.keys.map((key) => `whsec_${key.toString('base64')}`)
  const renewed = await renewSecret({ ...app, clock }, webhook)
  await owe('keys')
  const both = world(() => failing)
  await deliver(await waiting(), both)
  expect(shown(both)).toEqual([renewed?.secret, secret])
  now = new Date(now.getTime() + 86_401_000)
  const one = world(() => taken)
  await deliver(await waiting(), one)
  expect(shown(one)).toEqual([renewed?.secret])
})

test('a deleted report is reported to no webhook', async () => {
  await hook('gone', ['report.analyzed'])
  const [id] = await owe('gone')
  await app.rows('delete from reports where id = $1', [id])
  const to = world(() => taken)
  expect(await deliver(await waiting(), to)).toEqual(['done'])
  expect([to.sent, await log()]).toMatchObject([[], [{ state: 'dropped', tries: 0 }]])
})
