import { beforeEach, expect, test } from 'vitest'
import { insertDelisting } from '../../../src/db/listings.ts'
import { loadPage, type SeenPage, touchPages, updatePage } from '../../../src/db/pages.ts'
import { uuidv7 } from '../../../src/world.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { signedInBrowser } from './browser.ts'
import { startWebSite } from './web-site.ts'

const site = await closeAfterTests(startWebSite())
const { pool } = site.app
const analyst = await site.addPerson('analyst@desk.example', { role: 'analyst' })
const viewer = await site.addPerson('viewer@desk.example', { role: 'viewer' })
const browser = await signedInBrowser(site.url, analyst)
const reason = 'Seen.'

async function add(host: string, isConfirmed = false): Promise<string> {
  const at = new Date()
  const seen: SeenPage = {
    ...{ id: uuidv7(at), host, key: `${host}/login`, url: `https://${host}/login?x=1` },
    ...{ scope: 'host', type: 'phishing', imitates: 'PayPal', through: [], lastSeen: at },
  }
  const [page] = await touchPages(pool, [seen])
  if (!page) throw new Error('The page is missing.')
  const confirmed = { state: 'confirmed', confirmedBy: 'reporters', confirmedAt: at } as const
  if (isConfirmed) await updatePage(pool, { ...page, ...confirmed })
  return page.id
}

const stateOf = async (id: string) => (await loadPage(pool, id))?.state
const lastAudit = async () => {
  const { rows } = await pool.query<{ text: string }>(
    `select action || ': ' || detail as text from audit_log order by id desc limit 1`,
  )
  return rows[0]?.text
}

beforeEach(() => pool.query('delete from pages'))

test('an analyst confirms a page, clears it, and leaves it to the reports again', async () => {
  const id = await add('page.example')
  const at = `/admin/pages/${id}`
  const shown = await (await browser.get(at)).text()
  expect(shown).toContain('https://page.example/login?x=1')
  expect(shown).not.toMatch(/href="https?:\/\/page\.example/)
  await browser.post(at, { do: 'confirm', type: 'malware', reason })
  expect(await loadPage(pool, id)).toMatchObject({
    ...{ state: 'confirmed', confirmedBy: 'person', type: 'malware', decision: 'malware' },
  })
  expect(await lastAudit()).toBe('confirm page: page.example/login, malware: Seen.')
  await browser.post(at, { do: 'clear', reason })
  expect(await stateOf(id)).toBe('cleared')
  await browser.post(at, { do: 'undecide' })
  expect(await stateOf(id)).toBe('seen')
  expect(await lastAudit()).toBe('undecide page: page.example/login')
})

test('several pages are confirmed together, but none of a brand', async () => {
  const ids = [await add('one.example'), await add('two.example'), await add('www.paypal.com')]
  const form = new URLSearchParams({ do: 'confirm', selected: 'yes', reason })
  for (const id of ids) form.append('ids', id)
  const answer = await browser.send('/admin/pages/selected/decision', {
    method: 'POST',
    body: form,
  })
  expect(answer.status).toBe(422)
  expect(await answer.text()).toContain('www.paypal.com: this is a well-known site.')
  expect(await Promise.all(ids.map(stateOf))).toEqual(['confirmed', 'confirmed', 'seen'])
})

test('the list has the pages of a state and a domain, with a decision beside each', async () => {
  await add('login.bank.example')
  await add('other.example')
  await add('bank.example', true)
  const listed = async (query: string) => {
    const text = await (await browser.get(`/admin/pages${query}`)).text()
    return ['login.bank.example', 'other.example', '>bank.example<'].filter((name) =>
      text.includes(name),
    )
  }
  expect(await listed('')).toEqual(['login.bank.example', 'other.example'])
  expect(await listed('?host=bank.example')).toEqual(['login.bank.example'])
  expect(await listed('?state=confirmed')).toEqual(['>bank.example<'])
})

test('a viewer reads the pages and decides nothing', async () => {
  const id = await add('page.example')
  const other = await signedInBrowser(site.url, viewer)
  const shown = await other.get(`/admin/pages/${id}`)
  expect(shown.status).toBe(200)
  expect((await other.post(`/admin/pages/${id}`, { do: 'confirm', reason })).status).toBe(403)
  expect(await stateOf(id)).toBe('seen')
})

test('an accepted delisting and an exemption clear the pages of the name', async () => {
  const [delisted, exempt, other] = [
    await add('login.shop.example', true),
    await add('exempt.example', true),
    await add('not-shop.example', true),
  ]
  const requestId = uuidv7(new Date())
  await insertDelisting(pool, {
    ...{ id: requestId, list: 'domains', name: 'shop.example', state: 'open', asker: 'Owner' },
    ...{ contact: 'owner@shop.example', done: 'Removed.', answer: null, decidedAt: null },
    ...{ tokenHash: Buffer.alloc(32), askerHash: Buffer.alloc(32) },
  })
  const asked = await (await browser.get('/admin/delistings')).text()
  expect(asked).toMatch(
    /state=confirmed&amp;host=[^"]+"[^>]*>1 confirmed page\. If you delist, it is/,
  )
  await browser.post(`/admin/delistings/${requestId}`, { do: 'accept', answer: '', exempt: '' })
  expect(await stateOf(delisted)).toBe('cleared')
  const logged = await pool.query(`select detail from audit_log where action = 'accept delisting'`)
  expect(logged.rows).toEqual([{ detail: 'domains: shop.example, pages cleared: 1' }])
  const exemption = { do: 'set', name: 'exempt.example', reason, term: 'good' }
  await browser.post('/admin/delistings/exemptions', exemption)
  expect(await stateOf(exempt)).toBe('cleared')
  expect(await stateOf(other)).toBe('confirmed')
})
