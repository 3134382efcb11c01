import { beforeEach, expect, test } from 'vitest'
import { answerKinds, answerLinks } from '../../../src/mail/verp.ts'
import type { SentFeedback } from '../../support/sent-feedback.ts'
import { Browser } from './browser.ts'
import { startNotifyingSite } from './notifying-site.ts'
import { ringOf } from '../../support/key-ring.ts'

let desk: Browser

const { site, told, linkOf, rows, eventsOf, forget } = await startNotifyingSite()

beforeEach(async () => {
  desk = new Browser(site.url)
  await forget()
})

const answersTo = ({ reportId }: SentFeedback) =>
  rows('select answer, how, said from feedback_answers where report_id = $1 order by at', [
    reportId,
  ])

test.for(answerKinds)('viewing the link "%s" has no effect, however often', async (kind) => {
  const feedback = await told()
  for (const method of ['GET', 'HEAD', 'GET']) {
    const answer = await desk.send(linkOf(feedback, kind), { method })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-robots-tag')).toContain('noindex')
    expect(answer.headers.getSetCookie()).toEqual([])
  }
  expect(await answersTo(feedback)).toEqual([])
  expect(await eventsOf(feedback)).toEqual([])
  expect(await rows('select address from suppressions', [])).toEqual([])
})

test('the page shows what the desk already knows, and nothing about the reporter', async () => {
  const feedback = await told()
  const page = await (await desk.get(linkOf(feedback, 'resolved'))).text()
  expect(page).toContain(`${feedback.reportId}.1`)
  expect(page).toContain('198.51.100.23')
  expect(page).toContain('Example Access Two')
  expect(page).toContain('abuse@access-two.example')
  expect(page).not.toMatch(/ann@|reporters\.example|provider\.example|Cheap watches/)
})

test('the form acts, confirms it, and offers the other answers', async () => {
  const feedback = await told()
  const answer = await desk.post(linkOf(feedback, 'resolved'), {
    said: '  Customer <b>warned</b>. ',
  })
  expect(answer.status).toBe(200)
  const page = await answer.text()
  expect(page).toContain('Thank you.')
  for (const kind of ['not-ours', 'wrong', 'stop'] as const) {
    expect(page).toContain(linkOf(feedback, kind))
  }
  expect(await answersTo(feedback)).toEqual([
    { answer: 'resolved', how: 'link', said: 'Customer <b>warned</b>.' },
  ])
  expect(await eventsOf(feedback)).toEqual(['desk-resolved'])
})

test('a repeated answer says so and changes nothing', async () => {
  const feedback = await told()
  await desk.post(linkOf(feedback, 'wrong'), { said: 'first' })
  const page = await (await desk.post(linkOf(feedback, 'wrong'), { said: 'second' })).text()
  expect(page).toContain('You gave this answer before.')
  expect(await answersTo(feedback)).toEqual([{ answer: 'wrong', how: 'link', said: 'first' }])
  expect(await eventsOf(feedback)).toEqual(['desk-wrong'])
})

test('two simultaneous forms count once', async () => {
  const feedback = await told()
  const link = linkOf(feedback, 'resolved')
  const answers = await Promise.all([1, 2, 3, 4].map(() => desk.post(link, {})))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  expect(await eventsOf(feedback)).toEqual(['desk-resolved'])
})

test('words are cut, and stored only if requested', async () => {
  const feedback = await told()
  await desk.post(linkOf(feedback, 'resolved'), { said: 'a'.repeat(3_000) })
  await desk.post(linkOf(feedback, 'stop'), { said: 'not asked' })
  const [resolved, stop] = await answersTo(feedback)
  expect(String(resolved?.['said'])).toHaveLength(2_000)
  expect(stop?.['said']).toBeNull()
})

test('stop takes effect at once: waiting feedback is withdrawn, and none follows', async () => {
  const [feedback, other] = [await told(), await told()]
  await site.app.pool.query(`update feedback_reports set state = 'queued' where report_id = $1`, [
    other.reportId,
  ])
  expect((await desk.post(linkOf(feedback, 'stop'), {})).status).toBe(200)
  expect(
    await rows('select state from consumers where address = $1', ['abuse@access-two.example']),
  ).toEqual([{ state: 'stopped' }])
  expect(await rows('select address, reason from suppressions', [])).toEqual([
    { address: 'abuse@access-two.example', reason: 'stop' },
  ])
  expect(
    await rows('select state from feedback_reports where report_id = $1', [other.reportId]),
  ).toEqual([{ state: 'withdrawn' }])
})

test('one click of a mail program stops at once, from anywhere', async () => {
  const feedback = await told()
  const answer = await fetch(`${site.url}${linkOf(feedback, 'stop')}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'sec-fetch-site': 'cross-site',
      origin: 'https://mail.example',
    },
    body: 'List-Unsubscribe=One-Click',
  })
  expect(answer.status).toBe(200)
  expect(await answersTo(feedback)).toEqual([{ answer: 'stop', how: 'one-click', said: null }])
})

test.for(['resolved', 'not-ours', 'wrong'] as const)(
  'one-click is for stop alone, not for "%s"',
  async (kind) => {
    const feedback = await told()
    const answer = await desk.post(
      linkOf(feedback, kind),
      { 'List-Unsubscribe': 'One-Click' },
      { 'sec-fetch-site': 'cross-site' },
    )
    expect(answer.status).toBe(403)
    expect(await answersTo(feedback)).toEqual([])
  },
)

test('a form sent from another site is refused', async () => {
  const feedback = await told()
  const link = linkOf(feedback, 'stop')
  expect((await desk.post(link, {}, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  expect((await desk.post(link, {}, { origin: 'https://evil.example' })).status).toBe(403)
  expect((await desk.post(link, {}, { 'sec-fetch-site': 'same-origin' })).status).toBe(200)
})

test('not ours: no more reports about that network', async () => {
  const feedback = await told()
  expect((await desk.post(linkOf(feedback, 'not-ours'), {})).status).toBe(200)
  expect(await rows('select address from contact_corrections', [])).toEqual([
    { address: 'abuse@access-two.example' },
  ])
  await expect(told()).rejects.toThrow('No one was notified')
})

test('forged, unknown and foreign links are not found, by GET and by POST', async () => {
  const feedback = await told()
  const link = linkOf(feedback, 'stop')
  const last = link.indexOf('/stop') - 1
  const forged = `${link.slice(0, last)}${link[last] === 'a' ? 'b' : 'a'}/stop`
  const gone = linkOf({ reportId: '01999999-0000-7000-8000-000000000000', number: 1 }, 'stop')
  const other = answerLinks(feedback, {
    publicUrl: '',
    secret: ringOf('another secret, long enough'),
  }).stop
  for (const path of [forged, gone, other, '/answer/x/stop', link.replace('/stop', '/delete')]) {
    expect((await desk.get(path)).status).toBe(404)
    expect((await desk.post(path, {})).status).toBe(404)
    expect((await desk.post(path, { 'List-Unsubscribe': 'One-Click' })).status).toBe(404)
  }
  expect(await answersTo(feedback)).toEqual([])
})

test.for(['queued', 'held', 'withdrawn', 'refused'])(
  'feedback that is %s was not sent, so it cannot be answered',
  async (state) => {
    const feedback = await told()
    await site.app.pool.query('update feedback_reports set state = $2 where report_id = $1', [
      feedback.reportId,
      state,
    ])
    expect((await desk.post(linkOf(feedback, 'stop'), {})).status).toBe(404)
    expect(await answersTo(feedback)).toEqual([])
  },
)

test('a link whose case was changed by a relay still works', async () => {
  const feedback = await told()
  const [, token = ''] = /answer\/([^/]+)/.exec(linkOf(feedback, 'resolved')) ?? []
  expect((await desk.get(`/answer/${token.toUpperCase()}/resolved`)).status).toBe(200)
})

test('the page is in French for a French reader, before and after the answer', async () => {
  const feedback = await told()
  const french = new Browser(site.url, { 'accept-language': 'fr' })
  expect(await (await french.get(linkOf(feedback, 'stop'))).text()).toContain(
    'Arrêter tous les rapports',
  )
  expect(await (await french.post(linkOf(feedback, 'stop'), {})).text()).toContain('C’est fait.')
  const gone = await (await french.get('/answer/none/stop')).text()
  expect(gone).toContain('ou nous ne conservons plus le rapport concerné.')
  expect(gone).not.toContain('Cette page n’existe pas.')
})
