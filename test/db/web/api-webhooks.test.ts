import { expect, test } from 'vitest'
import { webhookKey } from '../../../src/mail/webhook-message.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { type Person, startWebSite } from './web-site.ts'

const site = await closeAfterTests(startWebSite())
const ann = await site.addPerson('ann@reporters.example')
const bob = await site.addPerson('bob@reporters.example')

type Hook = { id: string; url: string; events: string[]; state: string; secret?: string }

function ask(path: string, method = 'GET', body?: unknown, as: Person = ann) {
  return fetch(`${site.url}/api/v1/webhooks${path}`, {
    method,
    headers: { authorization: as.basic, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

let made = 0
async function add(as: Person = ann, events = ['report.analyzed']): Promise<Hook> {
  const url = `https://hooks.example.org/${++made}`
  const answer = await ask('', 'POST', { url, events }, as)
  expect(answer.status).toBe(201)
  const hook = (await answer.json()) as Hook
  expect(answer.headers.get('location')).toMatch(new RegExp(`/api/v1/webhooks/${hook.id}$`))
  return hook
}
const remove = ({ id }: Hook, as: Person = ann) => ask(`/${id}`, 'DELETE', undefined, as)

test('a webhook is added, listed, changed and removed; its secret is shown once', async () => {
  const { secret, ...hook } = await add(ann, ['report.told', 'report.told'])
  const key = webhookKey({ id: hook.id, generation: 1 }, site.app.config.secret.key('webhook'))
  expect(secret).toBe(`whsec_${key.toString('base64')}`)
  expect(hook).toMatchObject({ events: ['report.told'], state: 'enabled', failing_since: null })
  expect(await (await ask('')).json()).toEqual({ webhooks: [hook] })
  expect(await (await ask(`/${hook.id}`)).json()).toEqual(hook)
  const change = { state: 'disabled', events: ['report.asked'] }
  expect(await (await ask(`/${hook.id}`, 'PATCH', change)).json()).toEqual({ ...hook, ...change })
  expect((await remove(hook)).status).toBe(204)
  expect((await remove(hook)).status).toBe(404)
  expect(await (await ask('')).json()).toEqual({ webhooks: [] })
})

test('a new secret replaces the previous one', async () => {
  const hook = await add()
  const renewed = (await (await ask(`/${hook.id}/secret`, 'POST')).json()) as Hook
  expect(renewed.secret).toMatch(/^whsec_/)
  expect(renewed.secret).not.toBe(hook.secret)
  const { rows } = await site.app.pool.query<object>('select * from webhooks')
  expect(JSON.stringify(rows)).not.toContain(hook.secret?.slice(6))
  await remove(hook)
})

test('webhooks of others are not found', async () => {
  const hook = await add()
  const paths = [
    [`/${hook.id}`, 'GET'],
    [`/${hook.id}`, 'PATCH', { state: 'disabled' }],
    [`/${hook.id}`, 'DELETE'],
    [`/${hook.id}/secret`, 'POST'],
    [`/${hook.id}/test`, 'POST'],
    [`/${hook.id}/deliveries`, 'GET'],
    ['/nonsense', 'GET'],
  ] as const
  for (const [path, method, body] of paths) {
    expect((await ask(path, method, body, bob)).status).toBe(404)
  }
  expect(await (await ask(`/${hook.id}`)).json()).toMatchObject({ state: 'enabled' })
  await remove(hook)
})

test.for([
  ['http', 'http://hooks.example.org/'],
  ['this machine', 'https://localhost/'],
  ['a loopback', 'https://127.0.0.1/'],
  ['a loopback of IPv6', 'https://[::1]/'],
  ['a number', 'https://2130706433/'],
  ['the metadata of a cloud', 'https://169.254.169.254/latest'],
  ['another port', 'https://hooks.example.org:8443/'],
  ['a password', 'https://a:b@hooks.example.org/'],
  ['a name inside', 'https://db.internal/'],
  ['nonsense', 'hooks'],
  ['too much', `https://hooks.example.org/${'a'.repeat(2_000)}`],
] as const)('a URL with %s is refused', async ([, url]) => {
  const answer = await ask('', 'POST', { url, events: ['report.told'] })
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    422,
    'application/problem+json',
  ])
})

test.for([
  ['no events', { url: 'https://hooks.example.org/x', events: [] }],
  ['an unknown event', { url: 'https://hooks.example.org/x', events: ['report.read'] }],
  ['the event of trying', { url: 'https://hooks.example.org/x', events: ['webhook.test'] }],
  ['no address', { events: ['report.told'] }],
] as const)('a webhook with %s is refused', async ([, body]) => {
  expect((await ask('', 'POST', body)).status).toBe(422)
})

test('a reporter has at most five, each URL once, also with concurrent requests', async () => {
  const many = await Promise.all(
    Array.from({ length: 9 }, (_, n) =>
      ask('', 'POST', { url: `https://many.example.org/${n}`, events: ['report.told'] }, bob),
    ),
  )
  const statuses = many.map(({ status }) => status).toSorted()
  expect(statuses).toEqual([201, 201, 201, 201, 201, 422, 422, 422, 422])
  const { webhooks } = (await (await ask('', 'GET', undefined, bob)).json()) as {
    webhooks: Hook[]
  }
  const [first, second, third] = webhooks
  if (!first || !second || !third) throw new Error('there are none')
  await remove(third, bob)
  const same = await ask('', 'POST', { url: first.url, events: ['report.told'] }, bob)
  expect(same.status).toBe(422)
  const moved = await ask(`/${second.id}`, 'PATCH', { url: first.url }, bob)
  expect(moved.status).toBe(422)
  for (const hook of webhooks) await remove(hook, bob)
})

test('of several changed to one URL at once, one succeeds and the others are refused', async () => {
  const cat = await site.addPerson('cat@reporters.example')
  const hooks = await Promise.all([add(cat), add(cat), add(cat), add(cat)])
  const change = { url: 'https://same.example.org/' }
  const changed = await Promise.all(hooks.map(({ id }) => ask(`/${id}`, 'PATCH', change, cat)))
  expect(changed.map(({ status }) => status).toSorted()).toEqual([200, 422, 422, 422])
})

test('a token needs the scope "account"', async () => {
  const answer = await fetch(`${site.url}/api/v1/webhooks`, {
    headers: { authorization: `Bearer ${ann.token}` },
  })
  expect(answer.status).toBe(403)
  expect(answer.headers.get('www-authenticate')).toContain('scope="account"')
})

test('an enabled webhook may be tested, twenty times an hour', async () => {
  const hook = await add()
  const tried = await ask(`/${hook.id}/test`, 'POST')
  expect(tried.status).toBe(202)
  const { id } = (await tried.json()) as { id: string }
  const { deliveries } = (await (await ask(`/${hook.id}/deliveries`)).json()) as {
    deliveries: unknown[]
  }
  expect(deliveries).toMatchObject([
    { id, type: 'webhook.test', report_id: null, state: 'waiting', tries: 0, status: null },
  ])
  const { rows } = await site.app.pool.query<object>(
    `select data from pgboss.job where name = 'deliver-webhook'`,
  )
  expect(rows).toContainEqual({ data: { webhookId: hook.id, deliveryId: id.slice(4) } })
  const more = await Promise.all(Array.from({ length: 20 }, () => ask(`/${hook.id}/test`, 'POST')))
  expect(more.filter(({ status }) => status === 202)).toHaveLength(19)
  expect(more.find(({ status }) => status === 429)?.headers.get('retry-after')).toBe('3600')
  const { deliveries: shown } = (await (await ask(`/${hook.id}/deliveries`)).json()) as {
    deliveries: unknown[]
  }
  expect(shown).toHaveLength(20)
  await ask(`/${hook.id}`, 'PATCH', { state: 'disabled' })
  expect((await ask(`/${hook.id}/test`, 'POST')).status).toBe(422)
  await remove(hook)
})

test('a failed webhook is called again when its owner enables it', async () => {
  const hook = await add()
  await site.app.pool.query(
    `update webhooks set state = 'failed', failures = 30, failing_since = $1, paused_until = $2`,
    [new Date(0), new Date(Date.now() + 9e6)],
  )
  const enabled = await ask(`/${hook.id}`, 'PATCH', { state: 'enabled' })
  expect(await enabled.json()).toMatchObject({
    state: 'enabled',
    failing_since: null,
    paused_until: null,
  })
  await remove(hook)
})
