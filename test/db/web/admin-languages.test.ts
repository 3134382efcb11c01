import { expect, test } from 'vitest'
import { locales, textsIn } from '../../../src/texts/messages.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { signedInBrowser } from './browser.ts'
import { sampleMessage, startWebSite } from './web-site.ts'

const site = await closeAfterTests(startWebSite())
const admin = await site.addPerson('admin@desk.example', { role: 'administrator' })
await site.report(admin, sampleMessage('shown'))
const languages = ['en', 'fr', 'ru'] as const

test.for(languages)('the dashboard, its menu and its conditions are in %s', async (language) => {
  const browser = await signedInBrowser(site.url, admin, language)
  const answer = await browser.get('/admin')
  expect(answer.headers.get('content-language')).toBe(language)
  const page = await answer.text()
  const texts = textsIn(language)
  for (const text of [
    ...[texts('dashboard.title'), texts('menu.pages.health'), texts('dashboard.queues.title')],
    ...[texts('dashboard.noGraphs'), texts('health.titles.processes')],
  ]) {
    expect(page).toContain(text)
  }
})

test.for(languages)('the result of an action is told in %s', async (language) => {
  const browser = await signedInBrowser(site.url, admin, language)
  const form = { do: 'health set', condition: 'certificate', warning: '30' }
  const answer = await browser.post('/admin/health', form)
  const page = await (await browser.get(answer.headers.get('location') ?? '')).text()
  const said = { en: 'Bounds changed.', fr: 'Seuils modifiés.', ru: 'Пороги изменены.' }
  expect(page).toContain(said[language])
  const days = { en: 'below 30 d', fr: '30 j ou moins', ru: '30 сут или меньше' }
  expect(page).toContain(days[language])
})

test.for(languages)('a time is written as in %s, and in UTC on hover', async (language) => {
  const browser = await signedInBrowser(site.url, admin, language)
  const page = await (await browser.get('/admin/reports')).text()
  const [, iso = '', title, shown] =
    /<time datetime="([^"]+)" title="([^"]+)">([^<]+)<\/time>/.exec(page) ?? []
  const format = { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' } as const
  const own = /<html lang="(\w+)"/.exec(page)?.[1] as (typeof languages)[number]
  const expected = new Intl.DateTimeFormat(locales[own], format).format(new Date(iso))
  expect([title, shown]).toEqual([`${expected} UTC`, `${expected} UTC`])
})
