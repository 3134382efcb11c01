import { expect, test } from 'vitest'
import { closeAfterTests } from '../../support/after-tests.ts'
import { type Browser, signedInBrowser } from './browser.ts'
import { startWebSite } from './web-site.ts'

const site = await closeAfterTests(startWebSite())
const ann = await signedInBrowser(site.url, await site.addPerson('ann@reporters.example'))
const bob = await signedInBrowser(site.url, await site.addPerson('bob@reporters.example'))

const page = '/settings/webhooks'
const read = async (browser: Browser, query = '') => (await browser.get(page + query)).text()

async function add(browser: Browser, url: string, ...events: string[]) {
  const fields = new URLSearchParams([
    ...Object.entries(await browser.tokenFields()),
    ['do', 'add'],
    ['url', url],
    ...events.map((event) => ['events', event] as [string, string]),
  ])
  return browser.send(page, { method: 'POST', body: fields })
}

const idIn = (html: string) => /name="id" value="([0-9a-f-]{36})"/.exec(html)?.[1] ?? ''

test('a webhook is added, tested, disabled, enabled and removed by hand', async () => {
  const added = await add(ann, 'https://hooks.example.org/a', 'report.told')
  expect(added.status).toBe(200)
  const html = await added.text()
  const secret = /whsec_[\w+/=]+/.exec(html)?.[0] ?? 'none'
  expect(html).toContain('it is shown only once')
  expect(await read(ann)).not.toContain('whsec_')
  const id = idIn(html)
  const wish = (what: string) => ann.post(page, { do: what, id })
  const tested = await wish('test')
  expect([tested.status, tested.headers.get('location')]).toEqual([303, `${page}?done=tested`])
  expect(await read(ann, '?done=tested')).toContain('Test queued.')
  expect(await read(ann)).toContain('Waiting')
  const renewed = await (await wish('renew')).text()
  expect(renewed).toMatch(/whsec_/)
  expect(renewed).not.toContain(secret)
  await wish('disable')
  expect(await read(ann)).toContain('<strong>Off</strong>')
  const off = await wish('test')
  expect([off.status, await off.text()]).toEqual([422, expect.stringContaining('Turn it on first')])
  await wish('enable')
  expect(await read(ann)).toContain('<strong>On</strong>')
  expect((await wish('remove')).status).toBe(303)
  expect((await wish('remove')).status).toBe(422)
  expect(await read(ann)).toContain('You have no webhooks.')
})

test('webhooks of others are neither shown nor changed', async () => {
  const id = idIn(await (await add(ann, 'https://hooks.example.org/own', 'report.told')).text())
  expect(await read(bob)).not.toContain('hooks.example.org')
  for (const wish of ['remove', 'renew', 'test', 'disable']) {
    expect((await bob.post(page, { do: wish, id })).status).toBe(422)
  }
  expect(await read(ann)).toContain('<strong>On</strong>')
  await ann.post(page, { do: 'remove', id })
})

test.for([
  ['an address inside', 'https://127.0.0.1/', ['report.told'], 'We cannot send to this address.'],
  ['what is markup', 'https://x/"><script>', ['report.told'], 'We cannot send to this address.'],
  ['nothing to tell', 'https://hooks.example.org/b', [], 'Choose at least one event'],
] as const)(
  '%s is refused, beside its field, and stays in the form',
  async ([, url, events, says]) => {
    const answer = await add(ann, url, ...events)
    expect(answer.status).toBe(422)
    const html = await answer.text()
    expect(html).toContain(says)
    expect(html).toContain('id="add-problem"')
    expect(html).toContain(
      `value="${url.replace('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')}"`,
    )
  },
)

test.for([
  ['fr', 'Ajouter un webhook'],
  ['ru', 'Добавить вебхук'],
] as const)('the page is in %s', async ([language, says]) => {
  const person = await site.addPerson(`${language}@reporters.example`)
  const browser = await signedInBrowser(site.url, person, language)
  expect(await read(browser)).toContain(says)
})

test('without a session the page leads to sign-in; other sites’ forms are refused', async () => {
  const stranger = await fetch(`${site.url}${page}`, { redirect: 'manual' })
  expect(stranger.headers.get('location')).toContain('/sign-in')
  const headers = { origin: 'https://evil.example' }
  const forged = await ann.post(page, { do: 'add', url: 'https://evil.example/' }, headers)
  expect(forged.status).toBe(403)
})
