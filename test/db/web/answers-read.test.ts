import { simpleParser } from 'mailparser'
import { beforeEach, expect, test } from 'vitest'
import { runSendNews } from '../../../src/letters/reporter-news.ts'
import { lettersTo } from '../../support/letters.ts'
import { Browser, signedInBrowser } from './browser.ts'
import { startNotifyingSite } from './notifying-site.ts'

let desk: Browser

const { site, ann, told, linkOf, eventsOf, forget } = await startNotifyingSite()

beforeEach(async () => {
  desk = new Browser(site.url)
  await forget()
})

test('the reporter sees the answer in both languages, and its words as text', async () => {
  const feedback = await told()
  await desk.post(linkOf(feedback, 'resolved'), { said: '<script>alert(1)</script> \u202eclosed' })
  const path = `/reports/${feedback.reportId}`
  const english = await (await (await signedInBrowser(site.url, ann)).get(path)).text()
  expect(english).toContain('Answer from access-two.example:')
  expect(english).toContain('the problem is resolved')
  expect(english).toContain('&lt;script&gt;alert(1)&lt;/script&gt; ‹U+202E›closed')
  const french = await (await (await signedInBrowser(site.url, ann, 'fr')).get(path)).text()
  expect(french).toContain('Réponse de access-two.example\u00a0:')
  expect(french).toContain('Le service prévenu indique que le problème est résolu')
})

test('reporters of the same campaign see the answer, but not its words', async () => {
  const [feedback, other] = [await told(), await told()]
  const { pool } = site.app
  await pool.query('update feedback_reports set incidents = 2 where report_id = $1', [
    feedback.reportId,
  ])
  await pool.query(
    `update feedback_reports set state = 'merged', merged_into = $2, merged_number = 1
     where report_id = $1`,
    [other.reportId, feedback.reportId],
  )
  await desk.post(linkOf(feedback, 'resolved'), { said: 'to the first' })
  expect(await eventsOf(other)).toEqual(['desk-resolved'])
  const browser = await signedInBrowser(site.url, ann)
  const page = await (await browser.get(`/reports/${other.reportId}`)).text()
  expect(page).toContain('Answer from access-two.example:')
  expect(page).not.toContain('to the first')
})

test('an answer is mailed to the reporter, once and without its words', async () => {
  const { pool } = site.app
  await pool.query(`update reporters set language = 'fr' where id = $1`, [ann.id])
  await pool.query('delete from reporter_news')
  const feedback = await told()
  await desk.post(linkOf(feedback, 'resolved'), { said: 'a secret word' })
  await desk.post(linkOf(feedback, 'resolved'), {})
  await runSendNews(site.app)
  const [letter, ...others] = await lettersTo(pool, ann.email)
  expect(others).toEqual([])
  const read = await simpleParser(letter?.raw ?? '')
  expect(read.subject).toBe('Un service abuse a répondu à votre signalement')
  for (const text of [read.text, String(read.html)]) {
    expect(text).toContain('access-two.example indique que le problème est résolu')
    expect(text).toContain(`/reports/${feedback.reportId}`)
    expect(text).not.toContain('secret word')
  }
})
