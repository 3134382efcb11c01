import type { SessionData } from 'express-session'
import { expect, test } from 'vitest'
import { deviceOf } from '../../../../src/web/account/sessions.ts'
import { createSessionStore } from '../../../../src/web/pages/session.ts'
import { closeAfterTests } from '../../../support/after-tests.ts'
import { Browser, signedInBrowser } from '../browser.ts'
import { startWebSite, type Person } from '../web-site.ts'

const site = await closeAfterTests(startWebSite())

const page = '/account/sessions'
const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const isIn = async (browser: Browser) => (await browser.get('/settings')).status === 200

async function signedIn({ email, password }: Person, agent: string): Promise<Browser> {
  const browser = new Browser(site.url, { 'accept-language': 'en', 'user-agent': agent })
  await browser.post('/sign-in', { 'user[email_or_login]': email, 'user[password]': password })
  return browser
}

const handles = (text: string) =>
  [...text.matchAll(/name="end" value="([0-9a-f-]{36})"/g)].map(([, handle = '']) => handle)

test('sessions are listed with readable names, this one marked, without ids', async () => {
  const ann = await site.addPerson('ann@example.org')
  const browser = await signedIn(ann, firefox)
  await signedIn(ann, '<script>alert(1)</script>')
  const text = await (await browser.get(page)).text()
  expect(text).toContain('Firefox on Linux')
  expect(text).toContain('Unknown browser')
  expect(text.match(/this browser/g)).toHaveLength(1)
  expect(handles(text)).toHaveLength(2)
  const { rows } = await site.app.pool.query<{ sid: string }>('select sid from sessions')
  expect(rows.filter(({ sid }) => text.includes(sid))).toEqual([])
})

test('one session or all others can be ended, and never those of another account', async () => {
  const [bea, cy] = [
    await site.addPerson('bea@example.org'),
    await site.addPerson('cy@example.org'),
  ]
  const here = await signedIn(bea, firefox)
  const others = [await signedIn(bea, 'one'), await signedIn(bea, 'two')]
  const his = await signedIn(cy, firefox)
  const [foreign = ''] = handles(await (await his.get(page)).text())
  await here.post(page, { end: foreign })
  expect(await isIn(his)).toBe(true)
  const own = handles((await (await others[0]?.get(page))?.text()) ?? '')
  const mine = handles(await (await here.get(page)).text())
  expect(own.toSorted()).toEqual(mine.toSorted())
  await here.post(page, { end: 'others' })
  expect(await Promise.all([here, ...others, his].map(isIn))).toEqual([true, false, false, true])
})

test('ending the session of this browser signs it out', async () => {
  const dan = await site.addPerson('dan@example.org')
  const browser = await signedIn(dan, firefox)
  const [handle = ''] = handles(await (await browser.get(page)).text())
  expect((await browser.post(page, { end: handle })).headers.get('location')).toBe('/')
  expect(await isIn(browser)).toBe(false)
})

test.for([
  [6, true],
  [8, false],
] as const)('a session that is %i days old is valid: %s', async ([days, lives]) => {
  const person = await site.addPerson(`days${days}@example.org`)
  const browser = await signedInBrowser(site.url, person)
  await age(person, days)
  expect(await isIn(browser)).toBe(lives)
})

test('a remembered session is valid for half a year, and no longer', async () => {
  const eve = await site.addPerson('eve@example.org')
  const browser = new Browser(site.url)
  await browser.post('/sign-in', {
    'user[email_or_login]': eve.email,
    'user[password]': eve.password,
    'user[remember_me]': '1',
  })
  await age(eve, 179)
  expect(await isIn(browser)).toBe(true)
  await age(eve, 2)
  expect(await isIn(browser)).toBe(false)
})

async function age({ id }: Person, days: number): Promise<void> {
  const { rows } = await site.app.pool.query<{ sid: string; sess: { openedAt: string } }>(
    'select sid, sess from sessions where reporter_id = $1',
    [id],
  )
  for (const { sid, sess } of rows) {
    const openedAt = new Date(Date.parse(sess.openedAt) - days * 86_400_000).toISOString()
    await site.app.pool.query('update sessions set sess = $2 where sid = $1', [
      sid,
      { ...sess, openedAt },
    ])
  }
}

test('signing in gives a new id, so that an earlier one is worthless', async () => {
  const fay = await site.addPerson('fay@example.org')
  const browser = await signedIn(fay, firefox)
  const before = browser.cookies()
  await browser.post('/sign-in', {
    'user[email_or_login]': fay.email,
    'user[password]': fay.password,
  })
  expect(browser.cookies()).not.toBe(before)
})

test.for([
  [firefox, { browser: 'Firefox', system: 'Linux' }],
  ['curl/8.5.0', undefined],
  ['', undefined],
] as const)('the agent "%s" is %o', ([agent, words]) => {
  expect(deviceOf(agent)).toEqual(words)
})

test('a session ended during one of its requests stays ended', async () => {
  const { pool } = site.app
  const gus = await site.addPerson('gus@example.org')
  const browser = await signedIn(gus, firefox)
  const { rows } = await pool.query<{ sid: string }>(
    'select sid from sessions where reporter_id = $1',
    [gus.id],
  )
  const id = rows[0]?.sid ?? ''
  const store = createSessionStore(pool, () => undefined)
  const under = await new Promise<SessionData | undefined>((resolve) => {
    store.load(id, (_error, found) => resolve(found))
  })
  const keep = async (agent: string) => {
    if (under) under.agent = agent
    await new Promise((resolve) => {
      if (under) store.set(id, under, resolve)
    })
  }
  await keep('kept')
  const { rows: kept } = await pool.query(
    `select sess ->> 'agent' as agent from sessions where sid = $1`,
    [id],
  )
  expect(kept).toEqual([{ agent: 'kept' }])
  await (await signedIn(gus, 'other')).post(page, { end: 'others' })
  await keep('come back')
  expect(await isIn(browser)).toBe(false)
})
