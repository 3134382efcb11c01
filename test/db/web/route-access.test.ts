import { expect, test } from 'vitest'
import { insertToken, scopes } from '../../../src/db/sessions.ts'
import { createToken } from '../../../src/people/credentials.ts'
import { includesRole, type Role, roles } from '../../../src/roles.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { pages } from '../../support/pages/page-list.ts'
import { watchRoutes } from '../../support/pages/route-list.ts'
import { Browser, signedInBrowser } from './browser.ts'
import { startWebSite } from './web-site.ts'

// roles.test.ts checks the administration and the API; this file checks all other routes.
const listRoutes = watchRoutes()
const site = await closeAfterTests(startWebSite())
const isOther = (route: string) => !/^\/(admin|api|assets)(\/|$)/.test(route)
const [gets, posts] = [listRoutes('get').filter(isOther), listRoutes('post').filter(isOther)]
const id = '01999999-0000-7000-8000-000000000000'

/** What a visitor without an account may open, besides the pages for strangers. */
const openGets = [
  ...['/consumers/:token/reports.csv', '/consumers/:token/reports/:number/message.eml'],
  '/consumers/:token/complaints.csv',
  ...['/report', '/sign-in/code', '/statistics.csv', '/security.txt', '/robots.txt'],
  '/openapi.json',
  ...['/.well-known/security.txt', '/.well-known/change-password', '/healthz', '/readyz'],
  ...['/.well-known/microsoft-officeaddins-allowed.json', '/outlook/:file'],
  ...['/thunderbird/signalpost-thunderbird.xpi', '/manifest.webmanifest'],
  ...pages.flatMap(({ route, viewer }) => (viewer === 'stranger' ? [route] : [])),
].filter((route) => route !== '/lists')
/** Forms of visitors without an account. */
const openPosts = [
  ...['/language', '/sign-in', '/sign-in/code', '/sign-out', '/sign-up', '/forgotten'],
  ...[
    '/account/confirm/:token',
    '/account/reset/:token',
    '/advice/off/:token',
    '/letters/off/:token',
    '/openapi.json',
  ],
  ...['/lookup/delist', '/answer/:token/:kind', '/consumers/enroll', '/consumers/enroll/:token'],
  ...['/consumers/:token', '/consumers/:token/reports', '/report/share'],
]
/** The downloads of lists that are not public need a role. */
const forRoles = ['/lists', '/lists/:file', '/lists/:folder/:file']
const watched = '/metrics'

type Holder = { role: Role | null; browser: Browser; token: string }

async function hold(role: Role | null): Promise<Holder> {
  const person = await site.addPerson(`${role ?? 'reporter'}@example.org`, role ? { role } : {})
  const { token, hash } = createToken()
  const made = { hash, reporterId: person.id, name: 'test', createdAt: new Date() }
  await insertToken(site.app.pool, { ...made, scopes, role })
  return { role, browser: await signedInBrowser(site.url, person), token }
}

const people = await Promise.all([null, ...roles].map(hold))
const stranger = new Browser(site.url)

// Below: the metrics. A form of signing in without a password is refused for everybody.
const uses = [
  ...gets.map((route) => ({ method: 'get', route, isOpen: openGets.includes(route) })),
  ...posts.map((route) => ({ method: 'post', route, isOpen: openPosts.includes(route) })),
].filter(({ route, method }) => route !== watched && !(route === '/sign-in' && method === 'post'))

function ask({ method, route }: (typeof uses)[number], browser: Browser, token?: string) {
  const address = route.replaceAll(/:\w+/g, (name) => (name === ':number' ? '1' : id))
  const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {}
  return method === 'get' ? browser.send(address, { headers }) : browser.post(address, {}, headers)
}

/** Whether the answer is the way to the page of signing in, or asks for a password. */
const leadsToSignIn = ({ status, headers }: Response) =>
  status === 401 || (headers.get('location') ?? '').startsWith('/sign-in?next=')

test('the lists name existing routes, and most routes are for signed-in people', () => {
  expect(openGets.filter((route) => !gets.includes(route))).toEqual([])
  expect(openPosts.filter((route) => !posts.includes(route))).toEqual([])
  expect(gets.length + posts.length).toBeGreaterThan(60)
  expect(uses.filter(({ isOpen }) => !isOpen).length).toBeGreaterThan(25)
})

test.for(uses)('$method $route is open to all, or to every account with a session', async (use) => {
  // A token is for the API and the lists only: other routes treat its holder as a stranger.
  const tokens = [undefined, ...people.map(({ token }) => token)]
  const takesToken = (token: string | undefined) => {
    return token !== undefined && forRoles.includes(use.route)
  }
  const answers = await Promise.all(tokens.map((token) => ask(use, stranger, token)))
  expect(answers.map(leadsToSignIn)).toEqual(
    tokens.map((token) => !use.isOpen && !takesToken(token)),
  )
  if (use.route === '/sign-out') return
  const check = async ({ role, browser }: Holder) => {
    const answer = await ask(use, browser)
    expect([role, leadsToSignIn(answer)]).toEqual([role, false])
    const isForbidden = role === null && forRoles.includes(use.route)
    expect([role, answer.status === 403]).toEqual([role, isForbidden])
    expect(answer.status).toBeLessThan(500)
  }
  await Promise.all(people.map(check))
})

test('the metrics are open to tokens with a role, and to no session', async () => {
  const status = async (headers: Record<string, string>) => {
    // As through a proxy: programs on this machine need no token.
    const all = { 'x-forwarded-for': '192.0.2.1', ...headers }
    const answer = await fetch(`${site.url}${watched}`, { headers: all })
    await answer.arrayBuffer()
    return answer.status
  }
  expect(await status({})).toBe(401)
  for (const { role, browser, token } of people) {
    const expected = includesRole(role, 'viewer') ? 200 : 403
    expect([role, await status({ authorization: `Bearer ${token}` })]).toEqual([role, expected])
    expect(await status({ cookie: browser.cookies() })).toBe(401)
  }
})
