import { beforeEach, expect, test } from 'vitest'
import { insertDelisting, keepExemption } from '../../../src/db/listings.ts'
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
  const why = async () => {
    const html = await (await browser.get(at)).text()
    return [/Decided by<\/dt><dd>(.*?)<\/dd>/s, /Why<\/dt><dd>(.*?)<\/dd>/s].map((cell) =>
      cell
        .exec(html)?.[1]
        ?.replaceAll(/<[^>]+>/g, ' ')
        .trim(),
    )
  }
  expect(await why()).toEqual([expect.stringContaining('analyst@desk.example'), 'Seen.'])
  await browser.post(at, { do: 'clear', reason: 'Their own, after all.' })
  expect(await why()).toEqual([expect.any(String), 'Their own, after all.'])
  expect(await stateOf(id)).toBe('cleared')
  await browser.post(at, { do: 'undecide' })
  expect(await why()).toEqual([undefined, undefined])
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

test('a page whose domain is exempt from the lists cannot be confirmed', async () => {
  const id = await add('www.exempt.example')
  const createdAt = new Date()
  const expiresAt = new Date(createdAt.getTime() + 60_000)
  const who = { reporterId: null, createdAt, expiresAt }
  await keepExemption(pool, { name: 'exempt.example', reason: 'Repaired.', ...who })
  const answer = await browser.post(`/admin/pages/${id}`, { do: 'confirm', reason })
  expect(answer.status).toBe(422)
  expect(await answer.text()).toContain('exempt.example is exempt from the lists')
  expect(await loadPage(pool, id)).toMatchObject({ state: 'seen', decision: null })
})

test('a refused decision about many keeps the selection, and says each reason once', async () => {
  const ids: string[] = []
  for (let n = 0; n < 9; n++) ids.push(await add(`${n}.shop.example`))
  const list = '/admin/pages?state=seen&host=shop.example'
  const first = await (await browser.get(list)).text()
  const [, second = ''] = /href="([^"]+)" rel="next"/.exec(first) ?? []
  const beyond = second.replaceAll('&amp;', '&')
  const page = await (await browser.get(beyond)).text()
  const last = ids[0] ?? ''
  expect(page).toContain('0.shop.example')
  expect(page).not.toContain('1.shop.example')
  // The forms are sent with the query of the page, and with the names of its lines.
  const [, action = ''] = /action="(\/admin\/pages\/[^"]+\/decision[^"]*)"/.exec(page) ?? []
  expect(action.replaceAll('&amp;', '&')).toBe(
    `/admin/pages/${last}/decision${beyond.slice('/admin/pages'.length)}`,
  )
  const form = new URLSearchParams({ do: 'clear', selected: 'yes', reason: ' ' })
  for (const [n, id] of ids.slice(0, 2).entries()) {
    form.append('ids', id)
    form.append(`called.${id}`, `${n}.shop.example`)
  }
  form.append('ids', uuidv7(new Date()))
  const at = '/admin/pages/selected/decision?state=seen&host=shop.example'
  const refused = await browser.send(at, { method: 'POST', body: form })
  expect(refused.status).toBe(422)
  const shown = await refused.text()
  expect(shown.match(/Please give a reason/g)).toHaveLength(1)
  expect(shown).toMatch(
    /Not done for 3 lines \(0\.shop\.example, 1\.shop\.example, [0-9a-f-]{36}\)/,
  )
  expect(shown).toContain('<details class="many" open>')
  // The page shows the newest eight of the nine: the second of the selected ones is the last.
  const checked = [...shown.matchAll(/name="ids" value="([^"]+)" data-choice checked/g)]
  expect(checked.map(([, id]) => id)).toEqual([ids[1]])
  // What was decided is selected no more; what could not be found is named.
  form.set('reason', reason)
  const partly = await (await browser.send(at, { method: 'POST', body: form })).text()
  expect(partly).toContain('2 lines were decided. The others were not:')
  expect(partly).toMatch(/Not done for [0-9a-f-]{36}: Page not found/)
  expect(partly).not.toContain(' checked')
})

test('a decision leads back to the lines that were shown', async () => {
  const id = await add('page.shop.example')
  const at = `/admin/pages/${id}/decision?state=seen&host=shop.example`
  const body = new URLSearchParams({ do: 'clear', reason })
  const answer = await browser.send(at, { method: 'POST', body, redirect: 'manual' })
  const where = answer.headers.get('location')
  expect(where).toBe('/admin/pages?state=seen&host=shop.example&done=cleared')
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
