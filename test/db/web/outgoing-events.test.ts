import { expect, test } from 'vitest'
import { createCounterReader } from '../../../src/counting/reader.ts'
import { readSending } from '../../../src/counting/sending.ts'
import { systemClock } from '../../../src/world.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { rollUpAll } from '../../support/counter-rows.ts'
import { startWebSite } from './web-site.ts'

const site = await closeAfterTests(startWebSite())
const admin = await site.addPerson('admin@desk.example', { role: 'administrator' })
const ann = await site.addPerson('ann@reporters.example')

async function post(events: readonly object[], { token } = admin) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ events })
  const answer = await fetch(`${site.url}/api/v1/outgoing-events`, {
    method: 'POST',
    headers,
    body,
  })
  return { status: answer.status, json: (await answer.json()) as { detail?: string } }
}

async function recordOf(user: string, system = '') {
  const now = systemClock()
  await rollUpAll(site.app.pool, now)
  const reader = createCounterReader(site.app, { keysMax: 1, freshMs: 0 })
  return readSending(reader, { user, system }, now)
}

test('events count for the user of a mail system, and repeating them changes nothing', async () => {
  const at = new Date(systemClock().getTime() - 3 * 86_400_000).toISOString()
  const events = [
    { event: 'complaint', user: 'Carl', recipient: 'a@there.example' },
    { event: 'complaint', user: 'carl', recipient: 'A@there.example' },
    { event: 'bounce', user: 'carl', recipient: 'b@there.example', at },
    { event: 'read', user: 'carl', recipient: 'c@there.example' },
    { event: 'complaint', user: 'carl', system: 'second', recipient: 'a@there.example' },
  ]
  for (let times = 0; times < 2; times++) {
    expect(await post(events)).toEqual({ status: 202, json: { accepted: 5 } })
  }
  const { today, bounceShare } = await recordOf('carl')
  expect(today).toMatchObject({ sent: 0, complaints: 1, bounces: 0, reads: 1 })
  expect(bounceShare).toBeGreaterThan(0)
  expect((await recordOf('carl', 'second')).today).toMatchObject({ complaints: 1, reads: 0 })
})

test('events are refused as a whole, with the field that is wrong', async () => {
  const good = { event: 'bounce', user: 'dora', recipient: 'a@there.example' }
  const old = { ...good, at: '2020-01-01T00:00:00Z' }
  expect(await post([good, old])).toMatchObject({
    status: 422,
    json: { detail: expect.stringContaining('events.1.at') as string },
  })
  const many = Array.from({ length: 501 }, () => good)
  expect((await post(many)).status).toBe(422)
  expect((await post([good], ann)).status).toBe(403)
  expect((await recordOf('dora')).today.bounces).toBe(0)
})
