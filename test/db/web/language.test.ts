import { expect, test } from 'vitest'
import { findReporterSettings, updateReporterSettings } from '../../../src/db/reporters.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { Browser, signedInBrowser } from './browser.ts'
import { type Person, startWebSite } from './web-site.ts'

let people = 0

const site = await closeAfterTests(startWebSite())

async function somebody(language?: 'en' | 'fr' | 'ru'): Promise<Person> {
  const person = await site.addPerson(`person${(people += 1)}@reporters.example`)
  if (language) await updateReporterSettings(site.app.pool, person.id, { language })
  return person
}

async function languageOf(answer: Response): Promise<string | undefined> {
  const html = await answer.text()
  const said = /<html lang="(..)">/.exec(html)?.[1]
  expect(answer.headers.get('content-language')).toBe(said)
  return said
}

test.for(['en', 'fr', 'ru'])(
  'without a session the browser’s preferred language is used: %s',
  async (language) => {
    const browser = new Browser(site.url, { 'accept-language': `${language}, de;q=0.5` })
    expect(await languageOf(await browser.get('/'))).toBe(language)
  },
)

test('the account’s language precedes the browser’s preference and cookie', async () => {
  const browser = await signedInBrowser(site.url, await somebody('ru'), 'en')
  expect(await languageOf(await browser.get('/reports'))).toBe('ru')
  await browser.get('/?lang=fr')
  expect(await languageOf(await browser.get('/reports'))).toBe('ru')
})

test('a URL with a language shows it, with a session too', async () => {
  const person = await somebody('ru')
  const browser = await signedInBrowser(site.url, person, 'en')
  expect(await languageOf(await browser.get('/reports?lang=fr'))).toBe('fr')
  expect((await findReporterSettings(site.app.pool, person.id))?.language).toBe('ru')
})

test('an account without a language uses the browser’s preference', async () => {
  const browser = await signedInBrowser(site.url, await somebody(), 'fr')
  expect(await languageOf(await browser.get('/reports'))).toBe('fr')
})

test('the choice in the footer is stored in the account, and stays after signing out', async () => {
  const person = await somebody('en')
  const browser = await signedInBrowser(site.url, person, 'en')
  const answer = await browser.post('/language', { lang: 'ru', back: '/relays' })
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/relays'])
  expect(await languageOf(await browser.get('/relays'))).toBe('ru')
  expect((await findReporterSettings(site.app.pool, person.id))?.language).toBe('ru')
  await browser.post('/sign-out', {})
  expect(await languageOf(await browser.get('/'))).toBe('ru')
  const elsewhere = await signedInBrowser(site.url, person, 'fr')
  expect(await languageOf(await elsewhere.get('/'))).toBe('ru')
})

test('without an account the choice is stored in the browser', async () => {
  const browser = new Browser(site.url, { 'accept-language': 'en' })
  const answer = await browser.post('/language', { lang: 'fr', back: '//evil.example' })
  expect(answer.headers.get('location')).toMatch(/^\/(?!\/)/)
  expect(await languageOf(await browser.get('/'))).toBe('fr')
})

test.for(['xx', '', 'constructor'])('%j is not a language', async (lang) => {
  const person = await somebody('fr')
  const browser = await signedInBrowser(site.url, person)
  expect((await browser.post('/language', { lang, back: '/' })).status).toBeGreaterThanOrEqual(400)
  expect((await findReporterSettings(site.app.pool, person.id))?.language).toBe('fr')
})

test('a form from another site changes no language', async () => {
  const person = await somebody('fr')
  const browser = await signedInBrowser(site.url, person)
  const headers = { 'sec-fetch-site': 'cross-site' }
  expect((await browser.post('/language', { lang: 'ru', back: '/' }, headers)).status).toBe(403)
  expect((await findReporterSettings(site.app.pool, person.id))?.language).toBe('fr')
})

test('numbers and days follow the language, in UTC and labeled so', async () => {
  const person = await somebody('ru')
  await site.report(person, Buffer.from('From: a@b.example\r\nSubject: x\r\n\r\nx\r\n'))
  const browser = await signedInBrowser(site.url, person)
  expect(await (await browser.get('/reports')).text()).toMatch(
    /\d{1,2} \p{L}+\.? \d{4} г\.,.* UTC</u,
  )
})
