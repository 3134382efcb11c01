import { beforeEach, expect, test } from 'vitest'
import { countMessages } from '../../../src/counting/count-messages.ts'
import { countSendingEvents } from '../../../src/counting/sending.ts'
import { listSenderAlerts } from '../../../src/db/sender-alerts.ts'
import { createSenderWatch } from '../../../src/judging/sender-watch.ts'
import type { WebhookMessage } from '../../../src/mail/webhook-message.ts'
import { queueAlertWebhooks, runDeliverWebhook } from '../../../src/people/deliver-webhooks.ts'
import { addWebhook } from '../../../src/people/webhooks.ts'
import { phrase } from '../../../src/phrase.ts'
import { sendingShingles } from '../../../src/pieces/shingles/sending-user.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { rollUpAll } from '../../support/counter-rows.ts'

const app = await closeAfterTests(openTestApp({ PUBLIC_URL: 'https://here.example' }))
let now = new Date()
const clock = () => now
const watch = await closeAfterTests(
  createSenderWatch({ ...app, clock }, (tx, id) => queueAlertWebhooks(tx, app.boss, id, now)),
)

beforeEach(() => app.rows('truncate sender_alerts, webhooks cascade'))

const message = {
  ...{ at: '2026-11-23T10:00:00.000Z', queueId: '4ABC', recipients: 3, class: 'spam', score: 7 },
  symbols: ['LINK_BAD_REPUTATION'],
}

async function send(user: string, { wanted = 0, unwanted = 0 }) {
  const one = (as: 'ham' | 'spam', n: number) => ({
    prefix: 'outgoing' as const,
    shingles: sendingShingles({ system: '', user }, 'sent', [`${n}@there.example`]),
    amounts: { [as]: 1 },
    at: now,
  })
  const messages = [
    ...Array.from({ length: wanted }, (_, n) => one('ham', n)),
    ...Array.from({ length: unwanted }, (_, n) => one('spam', n)),
  ]
  await countMessages(app.pool, messages, now)
  await rollUpAll(app.pool, now)
}

async function complain(user: string, count: number) {
  const events = Array.from({ length: count }, (_, n) => {
    const recipient = `${n}@there.example`
    return { system: '', user, event: 'complaint' as const, recipient, at: now }
  })
  await countSendingEvents(app.pool, events, now)
  await rollUpAll(app.pool, now)
}

const alerts = () => listSenderAlerts(app.pool, 10)

test('a user who sends much unwanted mail raises one alert a day, with the evidence', async () => {
  await send('ann', { wanted: 5, unwanted: 9 })
  watch.note({ system: '', user: 'ann' }, message)
  await watch.look()
  expect(await alerts()).toEqual([])
  await send('ann', { unwanted: 1 })
  await watch.look()
  expect(await alerts()).toMatchObject([
    {
      ...{ system: '', user: 'ann', cause: 'unwanted', messages: [message], closedAt: null },
      counts: { sent: 15, unwanted: 10, recipients: 9 },
    },
  ])
  watch.note({ system: '', user: 'Ann' }, message)
  await watch.look()
  expect(await alerts()).toHaveLength(1)
})

test('a busy user whose last hour was mostly unwanted mail raises an alert', async () => {
  const later = now
  now = new Date(later.getTime() - 3 * 3_600_000)
  await send('hugo', { wanted: 60 })
  now = later
  await send('hugo', { unwanted: 12 })
  watch.note({ system: '', user: 'hugo' })
  await watch.look()
  const lastHour = { sentLastHour: 12, unwantedLastHour: 12 }
  expect(await alerts()).toMatchObject([{ user: 'hugo', cause: 'unwanted', counts: lastHour }])
})

test('few messages, or few of many, raise no alert; complaints do', async () => {
  await send('bea', { unwanted: 9 })
  await send('carl', { wanted: 90, unwanted: 20 })
  await complain('dora', 4)
  await complain('emil', 5)
  for (const user of ['bea', 'carl', 'dora', 'emil']) watch.note({ system: '', user })
  await watch.look()
  expect(await alerts()).toMatchObject([{ user: 'emil', cause: 'complaints', messages: [] }])
})

test('a user who was not noted for a minute is no longer watched', async () => {
  watch.note({ system: '', user: 'fred' })
  now = new Date(now.getTime() + 61_000)
  await watch.look()
  await complain('fred', 5)
  await watch.look()
  expect(await alerts()).toEqual([])
})

test('administrators get the alert by webhook, others do not', async () => {
  const events = ['sender.alerted'] as const
  const url = (name: string) => `https://${name}.example.org/hook`
  await addWebhook(app, app.bob, { url: url('bob'), events })
  await addWebhook(app, app.ann, { url: url('ann'), events })
  await app.rows('update reporters set role = $$viewer$$ where id = $1', [app.ann])
  await complain('gina', 5)
  watch.note({ system: 'second', user: 'gina' })
  watch.note({ system: '', user: 'gina' }, message)
  await watch.look()
  const owed = await app.rows('select webhook_id, id from webhook_deliveries')
  expect(owed).toHaveLength(1)
  const payloads = owed.map((row) => ({
    webhookId: String(row['webhook_id']),
    deliveryId: String(row['id']),
  }))
  const sent: WebhookMessage[] = []
  await runDeliverWebhook(payloads, {
    ...app,
    postWebhook: (one) => {
      sent.push(one)
      const outcome = phrase('webhook-accepted')
      return Promise.resolve({ state: 'taken' as const, status: 200, outcome })
    },
  })
  expect(sent).toMatchObject([{ url: url('ann') }])
  expect(JSON.parse(String(sent[0]?.body))).toMatchObject({
    type: 'sender.alerted',
    data: {
      ...{ url: 'https://here.example/admin/senders', user: 'gina', cause: 'complaints' },
      today: { complaints: 5 },
      messages: [{ queue_id: '4ABC', class: 'spam' }],
    },
  })
})
