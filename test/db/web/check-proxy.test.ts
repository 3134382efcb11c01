import { expect, test } from 'vitest'
import { closeAfterThisTest } from '../../support/after-tests.ts'
import { checkedMail } from '../../support/checked-mail.ts'
import { openCheckSite } from './check-site.ts'
import { startWebSite } from './web-site.ts'

test('with a public name, no data is returned to a request for the bare address', async () => {
  const site = await closeAfterThisTest(
    startWebSite({ PUBLIC_URL: 'https://signalpost.example', WORKERS: '1' }),
  )
  const metrics = (headers: Record<string, string>) => fetch(`${site.url}/metrics`, { headers })
  expect((await metrics({})).status).toBe(401)
  const ann = await site.addPerson('ann@reporters.example')
  expect((await metrics({ authorization: `Bearer ${ann.token}` })).status).toBe(403)
  const admin = await site.addPerson('admin@desk.example', { role: 'administrator' })
  expect((await metrics({ authorization: `Bearer ${admin.token}` })).status).toBe(200)
  const body = checkedMail('one', 'https://good.example/')
  for (const path of ['/checkv2', '/learnspam', '/learnham']) {
    const answer = await fetch(`${site.url}${path}`, { method: 'POST', body })
    expect([answer.status, await answer.json()]).toEqual([
      403,
      { error: expect.stringContaining('CHECK_PASSWORD') as string },
    ])
  }
})

test('with a password, the metrics on the port for mail servers need it too', async () => {
  const site = await closeAfterThisTest(openCheckSite({ CHECK_PASSWORD: 'open sesame' }))
  const metrics = (headers: Record<string, string>) =>
    fetch(`http://127.0.0.1:${site.port}/metrics`, { headers })
  expect((await metrics({})).status).toBe(401)
  expect((await metrics({ password: 'open sesame' })).status).toBe(200)
})

test('a client’s claimed address is not trusted unless a proxy is configured', async () => {
  const site = await closeAfterThisTest(startWebSite({ WORKERS: '1' }))
  const tries = Array.from({ length: 61 }, (_, n) =>
    fetch(`${site.url}/api/v1/reputation/192.0.2.7`, {
      headers: { 'x-forwarded-for': `203.0.113.${n}`, forwarded: `for=203.0.113.${n}` },
    }),
  )
  const statuses = (await Promise.all(tries)).map(({ status }) => status)
  expect(statuses).toContain(429)
})
