import { stat, utimes } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { runPublishLists } from '../../../src/lists/publish-lists.ts'
import { closeAfterTests, makeTestFolder } from '../../support/after-tests.ts'
import { know } from '../../support/listed.ts'
import { Browser, signedInBrowser } from './browser.ts'
import { startWebSite } from './web-site.ts'

const folder = await makeTestFolder()
const site = await closeAfterTests(
  startWebSite({ LISTS_DIR: folder, PUBLIC_URL: 'http://spam.ours.example' }),
)
const visitor = new Browser(site.url)
const desk = await signedInBrowser(
  site.url,
  await site.addPerson('admin@desk.example', { role: 'administrator' }),
)

test('before the first edition the page says so, and there is no file', async () => {
  expect(await (await desk.get('/lists')).text()).toContain('No list has been published yet.')
  expect((await desk.get('/lists/addresses.json')).status).toBe(404)
})

test('lists that are not public are for administrators', async () => {
  expect((await visitor.get('/lists')).headers.get('location')).toContain('/sign-in')
  const ann = await signedInBrowser(site.url, await site.addPerson('ann@reporters.example'))
  expect((await ann.get('/lists/addresses.json')).status).toBe(403)
  await runPublishLists(site.app)
  const html = await (await desk.get('/lists')).text()
  expect(html).toContain('href="/lists/addresses.ip4set"')
  expect(html).toContain('addresses.lists.signalpost.example')
})

test('a list is not sent again to a client that has it', async () => {
  await know(site.app.pool, [
    { kind: 'address', name: '192.0.2.7', bad: 12, at: site.app.clock() },
    { kind: 'address', name: '192.0.2.9', bad: 12, at: site.app.clock() },
  ])
  await runPublishLists(site.app)
  const whole = await desk.get('/lists/addresses.json')
  expect(whole.headers.get('content-type')).toContain('application/json')
  expect(whole.headers.get('cache-control')).toBe('private, max-age=300')
  expect(await whole.json()).toMatchObject({ entries: [{ name: '192.0.2.7' }, {}] })
  const etag = whole.headers.get('etag') ?? ''
  const modified = whole.headers.get('last-modified') ?? ''
  const status = async (headers: Record<string, string>) =>
    (await desk.send('/lists/addresses.json', { headers })).status
  expect(await status({ 'if-none-match': etag })).toBe(304)
  expect(await status({ 'if-none-match': `"x", W/${etag}` })).toBe(304)
  expect(await status({ 'if-none-match': '"x"', 'if-modified-since': modified })).toBe(200)
  expect(await status({ 'if-modified-since': modified })).toBe(304)
  expect(await status({ 'if-modified-since': 'nonsense' })).toBe(200)
  const head = await desk.send('/lists/addresses.json', { method: 'HEAD' })
  expect(head.headers.get('content-length')).toBe(whole.headers.get('content-length'))
  await runPublishLists(site.app)
  const file = path.join(folder, 'addresses.json')
  await utimes(file, new Date(), new Date((await stat(file)).mtimeMs + 5_000))
  expect(await status({ 'if-none-match': etag })).toBe(200)
  expect(await status({ 'if-modified-since': modified })).toBe(200)
})

test.for(['..%2fsecret', '.draft-x', 'nothing.json', '%00'])('%s is not a list', async (name) => {
  expect((await desk.get(`/lists/${name}`)).status).toBe(404)
})
