import { afterAll, beforeAll, expect, test } from 'vitest'
import { notPages, pages, type Viewer } from '../../support/pages/page-list.ts'
import { watchRoutes } from '../../support/pages/route-list.ts'
import { type ShownSite, startShownSite } from '../../support/pages/shown-site.ts'
import { Browser, signedInBrowser } from './browser.ts'

let shown: ShownSite
let routes: string[]
let browsers: Record<Viewer, Browser>

beforeAll(async () => {
  const listRoutes = watchRoutes()
  shown = await startShownSite()
  routes = listRoutes()
  browsers = {
    stranger: new Browser(shown.site.url),
    reporter: await signedInBrowser(shown.site.url, shown.ann),
    administrator: await signedInBrowser(shown.site.url, shown.admin),
  }
})
afterAll(() => shown.close())

test('every address that answers GET is in the list of pages, or is no page', () => {
  const known = new Set(pages.map(({ route }) => route))
  const isOther = (route: string) => notPages.some((pattern) => pattern.test(route))
  expect(routes.filter((route) => !known.has(route) && !isOther(route))).toEqual([])
  expect([...known].filter((route) => !routes.includes(route))).toEqual([])
})

test.for(pages)('$route is shown, carries the policy, and has nothing inline', async (page) => {
  for (const address of page.at(shown)) {
    const answer = await browsers[page.viewer].get(address)
    const status = address.includes('none') || address.includes('%00') ? expect.any(Number) : 200
    expect([address, answer.status]).toEqual([address, status])
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const html = await answer.text()
    expect(html).not.toMatch(/<style|<[^>]*\s(?:style|on[a-z]+)=|="javascript:/i)
    expect(html.match(/<script(?![^>]*\ssrc="\/assets\/)[^>]*>/g)).toBeNull()
  }
})
