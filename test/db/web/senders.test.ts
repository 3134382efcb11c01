import { expect, test } from 'vitest'
import { countSendingEvents } from '../../../src/counting/sending.ts'
import { insertSenderAlert } from '../../../src/db/sender-alerts.ts'
import { systemClock, uuidv7 } from '../../../src/world.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { rollUpAll } from '../../support/counter-rows.ts'
import { signedInBrowser } from './browser.ts'
import { startWebSite } from './web-site.ts'

const site = await closeAfterTests(startWebSite())
const admin = await site.addPerson('admin@desk.example', { role: 'administrator' })
const desk = await signedInBrowser(site.url, admin)
const { pool } = site.app
const read = async (path: string) => (await desk.get(path)).text()

test('an administrator sees an alert with its evidence, and closes it', async () => {
  const now = systemClock()
  const day = { sent: 40, unwanted: 30, recipients: 90, complaints: 0, bounces: 2, reads: 0 }
  const counts = { ...day, sentLastHour: 12, unwantedLastHour: 11 }
  const message = { at: now.toISOString(), queueId: '4ABC', recipients: 3, class: 'spam', score: 7 }
  const messages = [{ ...message, symbols: ['LINK_BAD_REPUTATION'] }]
  const alert = { id: uuidv7(now), system: 'second', user: '<b>ann</b>', counts, messages }
  await insertSenderAlert(pool, { ...alert, cause: 'unwanted' }, { key: 1n, now })
  const page = await read('/admin/senders')
  for (const shown of [
    '&lt;b&gt;ann',
    'second',
    '30 unwanted',
    '11 unwanted',
    '4ABC',
    'LINK_BAD_REPUTATION',
  ]) {
    expect(page).toContain(shown)
  }
  const closed = await desk.post('/admin/senders', { id: alert.id })
  expect(closed.headers.get('location')).toBe('/admin/senders?done=closed')
  expect(await read('/admin/senders')).not.toContain('Close the alert')
  const again = await desk.post('/admin/senders', { id: alert.id })
  expect(again.headers.get('location')).toBe('/admin/senders?done=nothing')
  const { rows } = await pool.query('select action, detail from audit_log')
  expect(rows).toEqual([{ action: 'close sender alert', detail: '<b>ann</b> second' }])
})

test('the page shows what a user sent, by day', async () => {
  const now = systemClock()
  const event = { system: '', user: 'bea', event: 'bounce' as const, at: now }
  await countSendingEvents(pool, [{ ...event, recipient: 'a@there.example' }], now)
  await rollUpAll(pool, now)
  const page = await read('/admin/senders?user=Bea')
  expect(page).toContain('Sending reputation')
  expect(page).toContain(now.toISOString().slice(0, 10))
  expect(await read('/admin/senders?user=nobody')).toContain('Nothing was counted')
})
