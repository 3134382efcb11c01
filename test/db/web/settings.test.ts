import { expect, test } from 'vitest'
import { findReporterSettings } from '../../../src/db/reporters.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { Browser, signedInBrowser } from './browser.ts'
import { startWebSite } from './web-site.ts'

let people = 0

const site = await closeAfterTests(startWebSite({ RETURN_PATH_DOMAIN: 'bounces.test.example' }))

async function visitor(language = 'en') {
  const person = await site.addPerson(`settings-${people++}@reporters.example`)
  return { person, browser: await signedInBrowser(site.url, person, language) }
}

async function shown(browser: Browser, path = '/settings'): Promise<string> {
  return (await browser.get(path)).text()
}

function addressIn(page: string): string | undefined {
  return /report-[a-z2-7]{26}@bounces\.test\.example/.exec(page)?.[0]
}

test('the mail-in address is created on request, and stays the same', async () => {
  const { browser } = await visitor()
  expect(addressIn(await shown(browser))).toBeUndefined()
  const answer = await browser.post('/settings', { do: 'address' })
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/settings?done=made'])
  const address = addressIn(await shown(browser))
  expect(address).toBeDefined()
  expect(addressIn(await shown(browser, '/settings?done=made'))).toBe(address)
})

test('a new address replaces the previous one, and is different for every reporter', async () => {
  const [ann, bob] = [await visitor(), await visitor()]
  await ann.browser.post('/settings', { do: 'address' })
  await bob.browser.post('/settings', { do: 'address' })
  const first = addressIn(await shown(ann.browser))
  expect(addressIn(await shown(bob.browser))).not.toBe(first)
  await ann.browser.post('/settings', { do: 'address' })
  const second = addressIn(await shown(ann.browser))
  expect(second).toBeDefined()
  expect(second).not.toBe(first)
})

test('the database does not contain the address', async () => {
  const { person, browser } = await visitor()
  await browser.post('/settings', { do: 'address' })
  const secret =
    addressIn(await shown(browser))
      ?.slice('report-'.length)
      .split('@')[0] ?? 'none'
  const { rows } = await site.app.pool.query(
    `select mail_in_addresses::text as row from mail_in_addresses where reporter_id = $1`,
    [person.id],
  )
  expect(rows).toHaveLength(1)
  expect(JSON.stringify(rows)).not.toContain(secret)
})

test('the language of letters and the settings for answers and advice are saved', async () => {
  const { person, browser } = await visitor()
  await browser.post('/settings', { do: 'save', language: 'ru', wants_answers: 'yes' })
  expect(await findReporterSettings(site.app.pool, person.id)).toEqual({
    language: 'ru',
    wantsAnswers: true,
    wantsAdvice: false,
    wantsSummary: false,
  })
  const page = await shown(browser, '/settings?done=saved')
  expect(page).toContain('<option value="ru" lang="ru" selected>')
  expect(page).toContain('value="yes" checked')
  // The page is in the language that was just chosen.
  expect(page).toContain('Сохранено.')
  const wishes = { wants_advice: 'yes', wants_summary: 'yes' }
  await browser.post('/settings', { do: 'save', language: 'fr', ...wishes })
  expect(await findReporterSettings(site.app.pool, person.id)).toEqual({
    language: 'fr',
    wantsAnswers: false,
    wantsAdvice: true,
    wantsSummary: true,
  })
})

test('an unknown language is refused, and nothing changes', async () => {
  const { person, browser } = await visitor()
  const answer = await browser.post('/settings', {
    do: 'save',
    language: 'xx',
    wants_summary: 'yes',
  })
  expect(answer.status).toBe(422)
  expect(await answer.text()).toContain('Choose one of the languages.')
  expect(await findReporterSettings(site.app.pool, person.id)).toEqual({
    language: null,
    wantsAnswers: true,
    wantsAdvice: true,
    wantsSummary: false,
  })
})

test('the page is in French, with French instructions for forwarding', async () => {
  const { browser } = await visitor('fr')
  const page = await shown(browser)
  expect(page).toContain('Signaler par e-mail')
  expect(page).toContain('Thunderbird')
  expect(page).toContain('clic droit')
})

test('it needs a session and our own pages, and all of them link to it', async () => {
  const stranger = new Browser(site.url)
  expect((await stranger.get('/settings')).headers.get('location')).toBe(
    '/sign-in?next=%2Fsettings',
  )
  const { browser } = await visitor()
  expect(await shown(browser, '/reports')).toContain('<a href="/settings">')
  const foreign = { origin: 'https://evil.example' }
  expect((await browser.post('/settings', { do: 'address' }, foreign)).status).toBe(403)
  expect(addressIn(await shown(browser))).toBeUndefined()
})
