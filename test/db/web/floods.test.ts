import { expect, test } from 'vitest'
import { floods } from '../../../src/activity/floods.ts'
import { keepHeartbeat } from '../../../src/db/health.ts'
import { createLimits } from '../../../src/people/limits.ts'
import { uuidv7 } from '../../../src/world.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { surge } from '../../support/floods.ts'
import { signedInBrowser } from './browser.ts'
import { startWebSite } from './web-site.ts'

const site = await closeAfterTests(startWebSite())
const { app } = site
const ann = await site.addPerson('ann@reporters.example')
const oda = await site.addPerson('oda@desk.example', { role: 'operator' })
const desk = await signedInBrowser(site.url, oda)

test('a flood of an account is on the dashboard, and its button holds the reports', async () => {
  const now = new Date()
  const its = { id: uuidv7(now), host: 'one.example', name: 'web', version: '1', startedAt: now }
  await keepHeartbeat(app.pool, { ...its, facts: surge('account', ann.id, 5_000, 12), now })
  const says = 'One account made 5,000 requests in ten minutes. The usual number is 12.'
  const readPage = async (path: string) => (await desk.get(path)).text()
  await expect.poll(() => readPage('/admin'), { timeout: 5_000 }).toContain(says)
  const html = await readPage('/admin/health')
  expect(html).toContain(`<a href="/admin/accounts/${ann.id}">Unusually busy clients</a>`)
  const [, form = ''] =
    /(<form[^>]*>(?:(?!<form)[^])*?value="bans add"[^]*?<\/form>)/.exec(html) ?? []
  const fields = [...form.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)]
  const given = Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value]))
  expect(given).toMatchObject({ email: ann.id, reason: says })
  const posted = await desk.post('/admin/health', { do: 'bans add', ...given })
  expect(posted.headers.get('location')).toBe('/admin/health?done=banned')
  const { rows } = await app.pool.query('select reporter_id as id, reason from shadow_bans')
  expect(rows).toEqual([{ id: ann.id, reason: says }])
})

test('what a limit stops is counted for the heartbeat', async () => {
  const limits = createLimits(app)
  const name = 'webhook-minute'
  await app.pool.query('update rate_limits set attempts_max = 20 where name = $1', [name])
  for (let n = 0; n < 40; n++) await limits.admit('webhook', { reporterId: ann.id })
  const found = floods.largest().find(({ who }) => who === name)
  expect(found).toMatchObject({ kind: 'limit', recent: 20 })
})
