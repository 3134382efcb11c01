import { expect, test } from 'vitest'
import { insertToken } from '../../../src/db/sessions.ts'
import { HOUR_MS } from '../../../src/durations.ts'
import { runPublishLists } from '../../../src/lists/publish-lists.ts'
import { createToken } from '../../../src/people/credentials.ts'
import { closeAfterTests, makeTestFolder } from '../../support/after-tests.ts'
import { confirmPages } from '../../support/listed-pages.ts'
import { Browser, signedInBrowser } from './browser.ts'
import { startWebSite } from './web-site.ts'

const folder = await makeTestFolder()
const site = await closeAfterTests(startWebSite({ LISTS_DIR: folder, LISTS_PUBLIC: 'yes' }))
const visitor = new Browser(site.url)
const person = await site.addPerson('viewer@desk.example', { role: 'viewer' })
const url = 'https://login.evil.example/in'
await confirmPages(site.app.pool, [
  { url, at: new Date(site.app.clock().getTime() - HOUR_MS) },
  { url: `${url}/old`, at: new Date(site.app.clock().getTime() - 5 * HOUR_MS) },
])
await runPublishLists(site.app)

async function tokenOf(role: 'viewer' | null): Promise<string> {
  const { token, hash } = createToken()
  const made = { hash, reporterId: person.id, name: 'feeds', createdAt: new Date() }
  await insertToken(site.app.pool, { ...made, scopes: ['report'], role })
  return token
}

test('the public gets the delayed feed, and not the one without delay', async () => {
  const delayed = await visitor.get('/lists/pages-delayed.txt')
  expect(await delayed.text()).toBe(`${url}/old\n`)
  expect(delayed.headers.get('cache-control')).toBe('public, max-age=300')
  for (const name of ['pages.txt', 'pages.rpz', 'pages-misp/manifest.json']) {
    expect([name, (await visitor.get(`/lists/${name}`)).status]).toEqual([name, 403])
  }
  const html = await (await visitor.get('/lists')).text()
  expect(html).toContain('href="/lists/pages-delayed-misp/manifest.json"')
  expect(html).toContain('Confirmed phishing pages, 4 hours later')
  expect(html).not.toContain('"/lists/pages.txt"')
})

test('a person with a role and a token with a role get the whole feed', async () => {
  const browser = await signedInBrowser(site.url, person)
  const whole = await browser.get('/lists/pages.txt')
  expect((await whole.text()).split('\n').toSorted()).toEqual(['', url, `${url}/old`].toSorted())
  expect(whole.headers.get('cache-control')).toBe('private, max-age=300')
  expect(await (await browser.get('/lists')).text()).toContain('href="/lists/pages.txt"')
  const ask = (name: string, authorization: string) =>
    visitor.send(`/lists/${name}`, { headers: { authorization } })
  const token = await tokenOf('viewer')
  const basic = `Basic ${Buffer.from(`:${token}`).toString('base64')}`
  for (const authorization of [`Bearer ${token}`, basic]) {
    expect(await (await ask('pages.hosts.txt', authorization)).text()).toBe('login.evil.example\n')
  }
  const manifest = await ask('pages-misp/manifest.json', `Bearer ${token}`)
  const [uuid = ''] = Object.keys((await manifest.json()) as object)
  const event = await ask(`pages-misp/${uuid}.json`, `Bearer ${token}`)
  expect(event.headers.get('content-type')).toContain('application/json')
  expect(JSON.stringify(await event.json())).toContain(url)
  expect((await ask('pages.txt', `Bearer ${await tokenOf(null)}`)).status).toBe(403)
  expect((await ask('pages.txt', 'Bearer sp_wrong')).status).toBe(401)
})

test.for(['pages-misp/..%2fpages.txt', 'pages-misp/x.json', '.draft-x/pages.txt', 'pages-misp'])(
  '%s is not a file of a feed',
  async (name) => {
    const headers = { authorization: `Bearer ${await tokenOf('viewer')}` }
    expect((await visitor.send(`/lists/${name}`, { headers })).status).toBe(404)
  },
)
