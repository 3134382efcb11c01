import { expect, test } from 'vitest'
import { findAdvisedReporter, findUnsubscribe } from '../../../src/db/advices.ts'
import { putMarketer } from '../../../src/db/marketers.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { openMarketers } from '../../../src/marketers/live-marketers.ts'
import { lettersOffLink } from '../../../src/mail/verp.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { testJudge } from '../../support/judge.ts'
import {
  exampleShop,
  newsletter,
  newsletterDns,
  type NewsletterOptions,
} from '../marketers/newsletters.ts'
import { Browser as Visitor, signedInBrowser } from './browser.ts'
import { startWebSite } from './web-site.ts'
import { parser } from '../../support/parser.ts'

const button = 'Unsubscribe me'

const site = await closeAfterTests(startWebSite())
const ann = await site.addPerson('ann@reporters.example')
const browser = await signedInBrowser(site.url, ann)
await putMarketer(site.app.pool, exampleShop, new Date())

/** Reports a newsletter and has it analyzed. */
async function reported(options: NewsletterOptions, kind = 'spam'): Promise<string> {
  const { app, url } = site
  const headers = { authorization: `Bearer ${ann.token}`, 'content-type': 'message/rfc822' }
  const body = new Uint8Array(await newsletter(options))
  const to = `${url}/api/v1/reports?kind=${kind}`
  const answer = await fetch(to, { method: 'POST', headers, body })
  const { id } = (await answer.json()) as { id: string }
  const marketers = await openMarketers(app)
  const judge = testJudge(app.pool, app.clock)
  const tools = { ...app, parser, judge, rdap: undefined, dns: newsletterDns(), marketers }
  await runAnalyzeReport([{ reportId: id }], tools)
  await marketers.close()
  return id
}

const page = async (id: string) => (await browser.get(`/reports/${id}`)).text()
const requestOf = (id: string) => findUnsubscribe(site.app.pool, id)

test('the page of a marketer’s mail says how to unsubscribe, and does it once', async () => {
  const id = await reported({ mark: 'page' })
  const before = await page(id)
  expect(before).toContain('This is a mailing from The Example Shop.')
  expect(before).toContain('Open your account and choose “No mail”.')
  expect(before).toContain(button)
  expect(before).not.toContain('href="https://news.example.org')
  const clicks = await Promise.all(
    [1, 2, 3].map(() => browser.post(`/reports/${id}/unsubscribe`, {})),
  )
  expect(clicks.map(({ status }) => status)).toEqual([303, 303, 303])
  expect(await requestOf(id)).toMatchObject({ state: 'queued', host: 'news.example.org' })
  const { rows } = await site.app.pool.query(
    `select data from pgboss.job where name = 'unsubscribe' and data ->> 'reportId' = $1`,
    [id],
  )
  expect(rows).toHaveLength(1)
  const after = await page(id)
  expect(after).toContain('You asked us to unsubscribe you.')
  expect(after).not.toContain(button)
})

test('the page speaks French', async () => {
  const id = await reported({ mark: 'french' })
  const french = await signedInBrowser(site.url, ann, 'fr')
  const text = await (await french.get(`/reports/${id}`)).text()
  expect(text).toContain('Me désabonner')
  expect(text).toContain('Ouvrez votre compte.')
})

const noPost = ['List-Unsubscribe: <https://news.example.org/off>']
const post = 'List-Unsubscribe-Post: List-Unsubscribe=One-Click'

test.for<[string, NewsletterOptions, string?]>([
  ['phishing', { mark: 'p' }, 'phishing'],
  ['a forgery', { mark: 'f', forged: true }],
  ['what says no one-click', { mark: 'n', fields: noPost }],
  ['what did not sign that it takes one click', { mark: 'c', covered: 'From:List-Unsubscribe' }],
  ['plain http', { mark: 'h', fields: ['List-Unsubscribe: <http://news.example.org/>', post] }],
  ['a link to an address', { mark: 'a', fields: ['List-Unsubscribe: <https://10.0.0.1/>', post] }],
  ['mail that nobody known signed', { mark: 's', domain: 'example.com' }],
])('%s has no button, and a request has no effect', async ([, options, kind]) => {
  const id = await reported({ ...options, mark: `no-button-${options.mark}` }, kind)
  expect(await page(id)).not.toContain(button)
  await browser.post(`/reports/${id}/unsubscribe`, {})
  expect(await requestOf(id)).toBeUndefined()
})

test('phishing and unauthenticated mail get no link to click', async () => {
  for (const id of [
    await reported({ mark: 'not-click-1' }, 'phishing'),
    await reported({ mark: 'not-click-2', forged: true }),
  ]) {
    const text = await page(id)
    expect(text).toContain('Do not click anything')
    expect(text).not.toContain('https://news.example.org/off')
  }
})

test('no one can unsubscribe another reporter, or from a message that is too old', async () => {
  const id = await reported({ mark: 'others' })
  const bob = await signedInBrowser(site.url, await site.addPerson('bob@reporters.example'))
  expect((await bob.post(`/reports/${id}/unsubscribe`, {})).status).toBe(404)
  const stranger = new Visitor(site.url)
  expect((await stranger.post(`/reports/${id}/unsubscribe`, {})).headers.get('location')).toMatch(
    /^\/sign-in/,
  )
  await site.app.pool.query(
    `update reports set received_at = (received_at at time zone 'UTC' - interval '61 days') at time zone 'UTC' where id = $1`,
    [id],
  )
  await browser.post(`/reports/${id}/unsubscribe`, {})
  expect(await requestOf(id)).toBeUndefined()
})

test('letters are switched off by a page that asks, or by a mail program’s button', async () => {
  const { publicUrl, secret } = site.app.config
  const path = new URL(lettersOffLink(ann.id, 'advice', { publicUrl, secret }).url).pathname
  const visitor = new Visitor(site.url)
  const asked = await visitor.get(path)
  expect(await asked.text()).toContain('we write to you how to unsubscribe')
  expect((await findAdvisedReporter(site.app.pool, ann.id))?.wantsAdvice).toBe(true)
  const answer = await visitor.post(path, { 'List-Unsubscribe': 'One-Click' })
  expect(await answer.text()).toContain('You will get no more of these mails.')
  expect((await findAdvisedReporter(site.app.pool, ann.id))?.wantsAdvice).toBe(false)
  const forged = `${path.slice(0, -1)}${path.endsWith('a') ? 'b' : 'a'}`
  expect((await visitor.post(forged, {})).status).toBe(404)
})
