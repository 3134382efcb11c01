import { expect, test } from 'vitest'
import { closeAfterTests } from '../../support/after-tests.ts'
import { englishIn } from '../../support/pages/english-in.ts'
import { notPages, pages } from '../../support/pages/page-list.ts'
import { watchRoutes } from '../../support/pages/route-list.ts'
import { elementsOf, LITERAL, messagesOf, readCatalogs } from '../../../scripts/texts/catalogs.ts'
import { hasText, type Language, locales, textsIn } from '../../../src/texts/messages.ts'
import { plainTextOf, technicalWords } from '../../support/technical-words.ts'
import { startShownSite } from '../../support/pages/shown-site.ts'
import { Browser, signedInBrowser } from './browser.ts'

const listRoutes = watchRoutes()
const shown = await closeAfterTests(startShownSite())
const routes = listRoutes('get')
const forms = listRoutes('post')
const browsers = {
  stranger: new Browser(shown.site.url),
  reporter: await signedInBrowser(shown.site.url, shown.ann),
  administrator: await signedInBrowser(shown.site.url, shown.admin),
}

test('every address that answers GET is in the list of pages, or is not a page', () => {
  const known = new Set(pages.map(({ route }) => route))
  const isOther = (route: string) => notPages.some((pattern) => pattern.test(route))
  expect(routes.filter((route) => !known.has(route) && !isOther(route))).toEqual([])
  expect([...known].filter((route) => !routes.includes(route))).toEqual([])
})

test.for(pages)('$route is shown to its users, with nothing inline or undefined', async (page) => {
  for (const address of page.at(shown)) {
    const answer = await browsers[page.viewer].get(address)
    const status = address.includes('none') || address.includes('%00') ? expect.any(Number) : 200
    expect([address, answer.status]).toEqual([address, status])
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const html = await answer.text()
    expect(html).not.toMatch(/<style|<[^>]*\s(?:style|on[a-z]+)=|="javascript:/i)
    expect(html.match(/<script(?![^>]*\ssrc="\/assets\/)[^>]*>/g)).toBeNull()
    expect(html.replace(/<(pre|code)[^]*?<\/\1>/g, '')).not.toContain('undefined')
    if (page.viewer === 'administrator') {
      expect(html).toContain(`<span class="address">${shown.admin.email}</span>`)
    }
  }
})

/** English texts on pages in French whose translations are missing. */
const { en, fr } = readCatalogs()
const standIns = [
  ...messagesOf(en)
    .filter(([code]) => !hasText(fr, code))
    .flatMap(([, messages]) => messages.flatMap(elementsOf))
    .flatMap((element) => (element.type === LITERAL ? [element.value.trim()] : [])),
].filter((text) => englishIn(text).length > 0)

// The language is kept in a cookie.
const french = await signedInBrowser(shown.site.url, shown.admin)
const ofAdministrators = pages.filter(({ viewer }) => viewer === 'administrator')

test.for(ofAdministrators)('$route has no English sentence in French', async (page) => {
  for (const address of page.at(shown)) {
    const query = address.includes('?') ? '&lang=fr' : '?lang=fr'
    const answer = await french.get(address + query)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-language')).toBe('fr')
    const english = englishIn(await answer.text()).filter(
      (text) => !standIns.some((one) => text.includes(one)),
    )
    expect([address, english]).toEqual([address, []])
  }
})

/** Pages for programs, for administrators of mail servers, and for abuse desks. */
const technical =
  /^\/(?:docs|problems|styleguide|lookup|lists|statistics|consumers|answer|settings\/webhooks|account\/tokens)/

const ofReporters = pages.filter(
  ({ route, viewer }) => viewer !== 'administrator' && !technical.test(route),
)

test.for(ofReporters)('$route has words of mail technique only in its details', async (page) => {
  for (const language of Object.keys(locales) as Language[]) {
    for (const address of page.at(shown)) {
      const query = `${address.includes('?') ? '&' : '?'}lang=${language}`
      const html = await (await browsers[page.viewer].get(address + query)).text()
      const text = plainTextOf(html, textsIn(language)('story.technical'))
      expect([address, technicalWords[language].exec(text)?.[0]]).toEqual([address, undefined])
    }
  }
})

test('a word of mail technique is found, except in details and in names', () => {
  const page = (text: string) => plainTextOf(`<p>${text}</p>`, 'Technical details')
  expect(page('The header is gone')).toMatch(technicalWords.en)
  expect(page('Les en-têtes manquent')).toMatch(technicalWords.fr)
  expect(page('Нет заголовков')).toMatch(technicalWords.ru)
  const folded = '<details class="a"><summary>Technical details</summary>An IP</details>'
  expect(page(`${folded} Choose “View headers”. It was received.`)).not.toMatch(technicalWords.en)
})

/**
 * Paths of requests without a session: by programs, by abuse desks, and by a mail program's button.
 */
const withoutSession = /^\/(?:api|answer|check|docs|openapi\.json)/

/**
 * Returns the address of a form; it refers to existing items, so that nothing else refuses the
 * request.
 */
function addressOf(route: string): string {
  const page = pages
    .find((one) => one.route === route)
    ?.at(shown)[0]
    ?.replace(/\?.*/, '')
  return page ?? route.replaceAll(/:\w+/g, (name) => (name === ':number' ? '1' : shown.told))
}

/** Sends the form on a page with the browser's cookies and nothing else. */
function bare(
  address: string,
  browser: Browser,
  form: { body: URLSearchParams; headers: Record<string, string> },
): Promise<Response> {
  const headers = { ...form.headers, cookie: browser.cookies() }
  const to = `${shown.site.url}${address}`
  return fetch(to, { method: 'POST', body: form.body, headers, redirect: 'manual' })
}

test('no form works for a signed-in user without the token of the session', async () => {
  const { administrator } = browsers
  const headers = { 'sec-fetch-site': 'same-origin' }
  const actions = forms.filter((route) => !withoutSession.test(route))
  expect(actions.length).toBeGreaterThan(20)
  for (const route of actions) {
    const address = addressOf(route)
    for (const body of [
      new URLSearchParams(),
      new URLSearchParams({ form_token: 'x'.repeat(43) }),
    ]) {
      const answer = await bare(address, administrator, { body, headers })
      expect([route, answer.status]).toEqual([route, 403])
      expect(await answer.text()).toMatch(/Load the page again|Nothing has been sent yet/)
    }
  }
})

test('no form from another site works, whatever it contains', async () => {
  const { administrator } = browsers
  const fields = await administrator.tokenFields()
  for (const route of forms.filter((one) => !withoutSession.test(one))) {
    const address = addressOf(route)
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
    ]) {
      expect([route, (await administrator.post(address, fields, headers)).status]).toEqual([
        route,
        403,
      ])
    }
  }
})

test('the token of one session is invalid in another', async () => {
  const theirs = await browsers.reporter.tokenFields()
  const headers = { 'sec-fetch-site': 'same-origin' }
  const path = '/admin/suppressions'
  const body = new URLSearchParams({ ...theirs, address: 'a@b.example' })
  const answer = await bare(path, browsers.administrator, { body, headers })
  expect(answer.status).toBe(403)
})

test('each form that acts has the token of its session', async () => {
  const html = await (await browsers.reporter.get('/settings')).text()
  const acting = html.match(/<form\b[^>]*method="post"[^>]*>/g) ?? []
  expect(acting.length).toBeGreaterThan(3)
  expect(html.match(/<input type="hidden" name="form_token"/g)).toHaveLength(acting.length)
  expect(await (await browsers.stranger.get('/sign-in')).text()).not.toContain('form_token')
})
