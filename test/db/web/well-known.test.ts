import { expect, test } from 'vitest'
import { closeAfterTests } from '../../support/after-tests.ts'
import { startWebSite, type WebSite } from './web-site.ts'

const contact = 'mailto:security@desk.example'
const policy = 'https://desk.example/security'

const silent = await closeAfterTests(startWebSite())
const site = await closeAfterTests(
  startWebSite({
    SECURITY_CONTACT: contact,
    SECURITY_POLICY_URL: policy,
    PUBLIC_URL: 'https://spam.ours.example',
  }),
)

const get = (from: WebSite, path: string) => fetch(`${from.url}${path}`, { redirect: 'manual' })

test('security.txt has the contact and its expiry (RFC 9116)', async () => {
  const answer = await get(site, '/.well-known/security.txt')
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  const fields = (await answer.text()).trimEnd().split('\n')
  const [, expires = ''] = fields
  expect(fields).toEqual([
    `Contact: ${contact}`,
    expires,
    'Preferred-Languages: en, fr, ru',
    'Canonical: https://spam.ours.example/.well-known/security.txt',
    `Policy: ${policy}`,
  ])
  const days = (Date.parse(expires.replace('Expires: ', '')) - Date.now()) / 86_400_000
  expect(days).toBeGreaterThan(120)
  expect(days).toBeLessThan(365)
})

test('the old address of security.txt redirects to the current one', async () => {
  const answer = await get(site, '/security.txt')
  expect(answer.headers.get('location')).toBe('/.well-known/security.txt')
})

test('without a contact there is no security.txt', async () => {
  expect((await get(silent, '/.well-known/security.txt')).status).toBe(404)
  expect((await get(silent, '/security.txt')).status).toBe(404)
})

test('password managers are redirected to the page for passwords', async () => {
  const answer = await get(site, '/.well-known/change-password')
  expect([answer.status, answer.headers.get('location')]).toEqual([302, '/account/password'])
})

test('robots are asked not to visit private pages', async () => {
  const text = await (await get(site, '/robots.txt')).text()
  for (const path of ['/admin', '/reports', '/lookup/', '/account', '/settings', '/api/']) {
    expect(text).toContain(`Disallow: ${path}\n`)
  }
})
