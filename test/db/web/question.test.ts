import { expect, test } from 'vitest'
import { startAskingSite } from './asking-site.ts'
import { relayedMessage } from '../../support/messages.ts'
import { Browser } from './browser.ts'

const asking = await startAskingSite()

test('a report with low confidence shows its route and asks', async () => {
  const { person, browser } = await asking.visitor()
  const id = await asking.report(person, 'asks')
  const { status, question, hops, picture, submitter } = await asking.stands(person, id)
  expect(status).toBe('kept')
  expect(question?.candidates.map(({ ip, seen }) => [ip, seen])).toEqual([
    ['192.0.2.10', true],
    ['198.51.100.23', false],
  ])
  expect(hops).toHaveLength(2)
  expect(picture?.stations.map(({ role }) => role)).toEqual([
    ...['mailbox', 'ours', 'unclear', expect.stringMatching(/claimed|believed/)],
  ])
  expect(submitter).toBeNull()
  const page = await (await browser.get(`/reports/${id}`)).text()
  expect(page).toMatch(/through this machine: <strong class="stranger">relay\.provider\.example</)
  expect(page).toContain('From here on nothing can be verified.')
  expect(page).toContain('relay.provider.example')
  expect(await (await browser.get('/reports')).text()).toContain('We have a question')
})

/** Composes a message that came through a machine known only by its HELO name. */
function greeted(mark: string, ip: string): Buffer {
  const raw = relayedMessage(mark).toString()
  return Buffer.from(raw.replace('(relay.provider.example [192.0.2.10])', `(unknown [${ip}])`))
}

test('a HELO name is never shown as the name of a machine', async () => {
  const { person, browser } = await asking.visitor()
  const id = await asking.report(person, 'greets', greeted('greets', '192.0.2.10'))
  const { question, picture } = await asking.stands(person, id)
  expect(question?.candidates[0]).toEqual({
    ip: '192.0.2.10',
    name: null,
    calls_itself: 'relay.provider.example',
    hop: 0,
    seen: true,
    internal: false,
  })
  expect(picture?.stations[2]).toMatchObject({ name: null, aliases: ['relay.provider.example'] })
  const page = await (await browser.get(`/reports/${id}`)).text()
  expect(page).toContain('calls itself <span class="stranger">relay.provider.example</span>')
  expect(page).not.toContain('<strong class="stranger">relay.provider.example</strong>')
  await browser.post(`/reports/${id}/answer`, { answer: 'yes', relay: '192.0.2.10' })
  const relays = await (await browser.get('/relays')).text()
  expect(relays).toContain('192.0.2.10')
  expect(relays).not.toContain('relay.provider.example')
})

test('an internal machine may be the reporter’s, and the page says when', async () => {
  const { person, browser } = await asking.visitor()
  const id = await asking.report(person, 'inside', greeted('inside', '10.0.0.5'))
  const before = await asking.stands(person, id)
  expect(before.question?.candidates.map(({ ip, internal }) => [ip, internal])).toEqual([
    ['10.0.0.5', true],
    ['198.51.100.23', false],
  ])
  const page = await (await browser.get(`/reports/${id}`)).text()
  expect(page).toContain('only if no other machine stands between it and the Internet')
  await browser.post(`/reports/${id}/answer`, { answer: 'yes', relay: '10.0.0.5' })
  expect(await asking.relaysOf(person)).toEqual(['10.0.0.5/32 set'])
  await asking.analyze(id)
  const { origin, question } = await asking.stands(person, id)
  expect([origin?.ip, question?.candidates[0]?.ip]).toEqual(['198.51.100.23', '198.51.100.23'])
})

test('a machine of the reporter is trusted, and the report is analyzed again', async () => {
  const { person, browser } = await asking.visitor()
  const id = await asking.report(person, 'mine')
  const other = await asking.report(person, 'also-waits')
  const answer = await browser.post(`/reports/${id}/answer`, {
    answer: 'yes',
    relay: '192.0.2.10',
  })
  expect(answer.headers.get('location')).toBe(`/reports/${id}?done=1`)
  expect(await asking.relaysOf(person)).toEqual(['192.0.2.10/32 set'])
  for (const one of [id, other]) {
    expect(await asking.stands(person, one)).toMatchObject({ status: 'received', origin: null })
    expect(await asking.jobsOf(one)).toBe(2)
    await asking.analyze(one)
  }
  const found = await asking.stands(person, id)
  expect(found.origin?.ip).toBe('198.51.100.23')
  expect(found.question?.candidates.map(({ ip }) => ip)).toEqual(['198.51.100.23'])
  expect(found.timeline.map(({ event }) => event)).toEqual([
    ...['received', 'analyzed', 'answered', 'reopened', 'analyzed'],
  ])
})

test('a reporter is asked about two machines of a message at most', async () => {
  const { person, browser } = await asking.visitor()
  const deeper =
    'Received: from deep.shop.example (deep.shop.example [203.0.113.9])\r\n' +
    ' by mail.shop.example (Postfix) with ESMTPS id 4ABE; Mon, 16 Nov 2026 09:59:58 +0000\r\n'
  const raw = relayedMessage('three').toString().replace('From:', `${deeper}From:`)
  const id = await asking.report(person, 'three', Buffer.from(raw))
  for (const relay of ['192.0.2.10', '198.51.100.23']) {
    expect((await asking.stands(person, id)).question?.candidates[0]?.ip).toBe(relay)
    await browser.post(`/reports/${id}/answer`, { answer: 'yes', relay })
    await asking.analyze(id)
  }
  const { status, question, origin } = await asking.stands(person, id)
  expect([status, question, origin?.ip]).toEqual(['kept', null, '203.0.113.9'])
})

test('"no" is stored, and closes the question permanently', async () => {
  const { person, browser } = await asking.visitor()
  const id = await asking.report(person, 'none')
  await browser.post(`/reports/${id}/answer`, { answer: 'no', relay: '192.0.2.10' })
  expect(await asking.relaysOf(person)).toEqual(['192.0.2.10/32 refused'])
  await asking.analyze(id)
  const again = await asking.report(person, 'none-again')
  for (const one of [id, again]) {
    expect(await asking.stands(person, one)).toMatchObject({
      status: 'kept',
      question: null,
      origin: { ip: '192.0.2.10' },
    })
  }
})

test('"not sure" changes nothing, and can still be answered later', async () => {
  const { person, browser } = await asking.visitor()
  const id = await asking.report(person, 'unknown')
  for (let times = 0; times < 2; times++) {
    await browser.post(`/reports/${id}/answer`, { answer: 'unknown' })
  }
  expect(await asking.relaysOf(person)).toEqual([])
  const { status, question, timeline } = await asking.stands(person, id)
  expect([status, question === null]).toEqual(['kept', false])
  expect(timeline.map(({ event }) => event)).toEqual(['received', 'analyzed', 'answered'])
  const page = await (await browser.get(`/reports/${id}`)).text()
  expect(page).toContain('You can still answer')
})

test('one machine is asked about at a time, and an answer about another is refused', async () => {
  const { person, browser } = await asking.visitor()
  const id = await asking.report(person, 'refused')
  const page = await (await browser.get(`/reports/${id}`)).text()
  expect(page.match(/name="relay" value="[^"]*"/g)).toEqual(['name="relay" value="192.0.2.10"'])
  const fields = { answer: 'yes', relay: '198.51.100.23' }
  const answer = await browser.post(`/reports/${id}/answer`, fields)
  expect(answer.status).toBe(422)
  expect(await answer.text()).toContain('This question is already answered')
  expect(await asking.relaysOf(person)).toEqual([])
  expect(await asking.jobsOf(id)).toBe(1)
})

test('only the reporter answers, on our own page, and about that report’s machines', async () => {
  const { person, browser } = await asking.visitor()
  const stranger = await asking.visitor()
  const id = await asking.report(person, 'whose')
  const fields = { answer: 'yes', relay: '192.0.2.10' }
  const path = `/reports/${id}/answer`
  expect((await stranger.browser.post(path, fields)).status).toBe(404)
  expect((await new Browser(asking.site.url).post(path, fields)).headers.get('location')).toMatch(
    /^\/sign-in/,
  )
  expect((await browser.post(path, fields, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  const other = await browser.post(path, { answer: 'yes', relay: '203.0.113.77' })
  expect(other.status).toBe(422)
  expect([await asking.relaysOf(person), await asking.relaysOf(stranger.person)]).toEqual([[], []])
})

test('a report with a notified desk is never analyzed again', async () => {
  const { person, browser } = await asking.visitor()
  const ids = [await asking.report(person, 'told'), await asking.report(person, 'taken-back')]
  const [told = '', takenBack = ''] = ids
  const consumer = '00000000-0000-7000-8000-000000000009'
  await asking.site.app.pool.query(
    `insert into consumers (id, address, state, created_at)
     values ($1, 'abuse@n.example', 'found', now())`,
    [consumer],
  )
  await asking.site.app.pool.query(
    `insert into feedback_reports
       (report_id, shard, number, consumer_id, state, address, created_at)
     values ($1, shard_of($1), 1, $2, 'sent', 'abuse@n.example', now())`,
    [told, consumer],
  )
  await browser.post(`/reports/${takenBack}/retract`, {})
  await asking.put(person, { cidr: '192.0.2.10' })
  expect([await asking.jobsOf(told), await asking.jobsOf(takenBack)]).toEqual([1, 1])
  expect((await asking.stands(person, told)).status).toBe('kept')
  expect((await asking.stands(person, takenBack)).status).toBe('retracted')
})

test('two simultaneous answers cause one analysis', async () => {
  const { person, browser } = await asking.visitor()
  const id = await asking.report(person, 'twice')
  const answers = ['yes', 'no'].map((answer) => ({ answer, relay: '192.0.2.10' }))
  await Promise.all(answers.map((fields) => browser.post(`/reports/${id}/answer`, fields)))
  expect(await asking.jobsOf(id)).toBe(2)
  await asking.analyze(id)
  const { status, timeline } = await asking.stands(person, id)
  expect(status).toBe('kept')
  expect(timeline.filter(({ event }) => event === 'analyzed')).toHaveLength(2)
})
