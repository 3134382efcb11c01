import { expect, test } from 'vitest'
import { checkPaths } from '../../../src/web/check/check-routes.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { watchRoutes } from '../../support/pages/route-list.ts'
import { hostileBodies } from '../../support/torture/bodies/hostile-bodies.ts'
import {
  bodyRoutes,
  declareBody,
  sendBody,
  type Sender,
} from '../../support/torture/bodies/send-body.ts'
import { signedInBrowser } from './browser.ts'
import { startWebSite } from './web-site.ts'

const CHECK_PASSWORD = 'the password of checks'
/** More than any route accepts, except routes that read lines. */
const BYTES_MAX = 60_000_000
const LINES_PATH = '/api/v1/reports/bulk'

const listRoutes = watchRoutes()
const site = await closeAfterTests(startWebSite({ CHECK_PASSWORD, WORKERS: '1' }))
const routes = bodyRoutes(listRoutes, checkPaths())
const admin = await site.addPerson('admin@reporters.example', { role: 'administrator' })
const cookie = (await signedInBrowser(site.url, admin)).cookies()
await site.app.pool.query(`update rate_limits set behavior = 'off'`)

/** Returns the headers of a client that may send to the path. */
function senderTo(path: string): Sender {
  if (path.startsWith('/api/signaler')) return { authorization: admin.basic }
  if (path.startsWith('/api/')) return { authorization: `Bearer ${admin.token}` }
  return { cookie, password: CHECK_PASSWORD }
}

test('there are routes that read bodies: pages, the API and mail servers', () => {
  const paths = routes.map(({ path }) => path)
  expect(paths).toEqual(
    expect.arrayContaining(['/sign-in', '/report', '/api/v1/reports', '/api/signaler', '/checkv2']),
  )
  expect(paths.length).toBeGreaterThan(70)
})

test('a body with too large a declared length is refused before it arrives', async () => {
  const types = ['multipart/form-data; boundary=b', 'application/x-ndjson']
  for (const route of routes) {
    for (const type of types) {
      for (const who of [{}, senderTo(route.path)]) {
        const sender = { ...who, 'content-type': type }
        const status = await declareBody(site.url, route, { bytes: 600_000_000, sender })
        const isSkipped = route.path.startsWith('/check') || route.path === '/symbols'
        expect([route, type, status]).toEqual([route, type, expect.any(Number)])
        if (!isSkipped && status !== 200) expect(status).toBeGreaterThanOrEqual(300)
      }
    }
  }
})

const forms = ['empty parts', 'a part header without end', 'empty fields']
const hostileForms = hostileBodies.filter(({ name }) => forms.includes(name))

test('a hostile form is refused by every route while it arrives', async () => {
  for (const [index, route] of routes.filter(({ path }) => path !== LINES_PATH).entries()) {
    const body = hostileForms[index % hostileForms.length]
    if (!body) continue
    const sender = senderTo(route.path)
    const said = await sendBody(site.url, route, body, { bytesMax: BYTES_MAX, sender })
    const isEarly = said.sentBytes < BYTES_MAX
    expect([route, body.name, isEarly]).toEqual([route, body.name, true])
  }
  expect((await fetch(`${site.url}/healthz`)).status).toBe(200)
})

test('forms without a session are counted before they are read', async () => {
  await site.app.pool.query(
    `update rate_limits set behavior = 'refuse', attempts_max = 3 where name = 'form-address'`,
  )
  const sender = { 'content-type': 'application/x-www-form-urlencoded' }
  const route = { method: 'POST', path: '/sign-in' }
  // Processes read the limits again every second.
  await expect.poll(() => declareBody(site.url, route, { bytes: 1, sender })).toBe(429)
})
