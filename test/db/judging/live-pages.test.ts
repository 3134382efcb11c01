import { afterEach, expect, test } from 'vitest'
import { keepExemption } from '../../../src/db/listings.ts'
import { updatePage } from '../../../src/db/pages.ts'
import { openPages } from '../../../src/judging/live-pages.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { checkedMail } from '../../support/checked-mail.ts'
import { confirmPages } from '../../support/listed-pages.ts'
import { until } from '../../support/process.ts'
import { openCheckSite } from '../web/check-site.ts'

const site = await closeAfterTests(openCheckSite())
const { app } = site
const { pool } = app
const client = { ip: '203.0.113.77', rcpt: 'you@there.example' }

afterEach(() => pool.query('truncate pages cascade'))

const symbolsFor = async (name: string, link: string) => {
  const { json } = await site.post('/checkv2', checkedMail(name, link), client)
  return Object.keys(json.symbols)
}

test('a check finds links to listed pages and hosts, and no others', async () => {
  const at = app.clock()
  await confirmPages(pool, [
    { url: 'https://login.evil.example/in?step=1', at },
    { url: 'https://sites.google.com/view/my-bank', at, scope: 'path', type: 'malware' },
    { url: 'https://coded.evil.example/x8f3k2', at, shared: false },
  ])
  const found = 'CONFIRMED_PAGE'
  expect(await symbolsFor('a', 'https://login.evil.example/in?step=1')).toContain(found)
  expect(await symbolsFor('b', 'https://LOGIN.evil.example/third')).toContain(found)
  expect(await symbolsFor('c', 'https://sites.google.com/view/my-bank?utm_id=9')).toContain(found)
  expect(await symbolsFor('d', 'https://sites.google.com/view/wanted')).not.toContain(found)
  expect(await symbolsFor('e', 'https://evil.example/in?step=1')).not.toContain(found)
  expect(await symbolsFor('f', 'https://coded.evil.example/x8f3k2')).not.toContain(found)
})

test('a process follows the listed pages', async () => {
  const at = app.clock()
  const live = await openPages(app, 20)
  const factsFor = (name: string) => live.current().factsOf([{ kind: 'link-host', name }])
  try {
    expect(factsFor('late.example')).toBeUndefined()
    const [page] = await confirmPages(pool, [{ url: 'https://www.late.example/', at }])
    if (!page) throw new Error('The page is missing.')
    const facts = await until('the page', () => factsFor('late.example'))
    expect(facts).toEqual({ has_phishing: true, has_malware: false })
    const cleared = { state: 'cleared', confirmedBy: null, clearedAt: at } as const
    await updatePage(pool, { ...page, ...cleared })
    await until('the end of the page', () => factsFor('late.example') === undefined || undefined)
  } finally {
    await live.close()
  }
})

test('an exempted host is not found', async () => {
  const at = app.clock()
  await confirmPages(pool, [{ url: 'https://exempted.example/', at }])
  const reason = { reason: 'asked for', reporterId: null, createdAt: at, expiresAt: null }
  await keepExemption(pool, { name: 'exempted.example', ...reason })
  const live = await openPages(app)
  expect(live.current().size).toBe(0)
  await live.close()
})
