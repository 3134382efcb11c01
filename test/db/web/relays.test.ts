import { expect, test } from 'vitest'
import { closeAfterThisTest } from '../../support/after-tests.ts'
import { startAskingSite } from './asking-site.ts'
import { Browser, signedInBrowser } from './browser.ts'
import { type Person, sampleMessage, startWebSite } from './web-site.ts'

const asking = await startAskingSite()

test('the API sets, lists, refuses and removes relays of each reporter', async () => {
  const { person } = await asking.visitor()
  const { person: stranger } = await asking.visitor()
  expect((await asking.put(person, { cidr: '192.0.2.77/24' })).status).toBe(200)
  expect((await asking.put(person, { cidr: '2001:db8::7', how: 'refused' })).status).toBe(200)
  expect(await asking.relaysOf(person)).toEqual(['192.0.2.0/24 set', '2001:db8::7/128 refused'])
  expect(await asking.relaysOf(stranger)).toEqual([])
  const remove = (as: Person, cidr: string) =>
    asking.api(as, `/relays?cidr=${encodeURIComponent(cidr)}`, { method: 'DELETE' })
  expect((await remove(stranger, '192.0.2.0/24')).status).toBe(404)
  expect((await remove(person, '192.0.2.0/24')).status).toBe(200)
  expect(await asking.relaysOf(person)).toEqual(['2001:db8::7/128 refused'])
})

test('the API analyzes reports with a question again, like the page', async () => {
  const { person } = await asking.visitor()
  const id = await asking.report(person, 'by-api')
  await asking.put(person, { cidr: '192.0.2.10/32' })
  expect((await asking.stands(person, id)).status).toBe('received')
  await asking.analyze(id)
  await asking.put(person, { cidr: '192.0.2.10/32' })
  expect((await asking.stands(person, id)).origin?.ip).toBe('198.51.100.23')
})

test.for([
  ['not JSON', '{', 400],
  ['another shape', '[]', 422],
  ['no block', '{"cidr":"mx"}', 422],
  ['all of an internal network', '{"cidr":"10.0.0.0/8"}', 422],
  ['a link-local address', '{"cidr":"169.254.0.9"}', 422],
  ['half the Internet', '{"cidr":"128.0.0.0/1"}', 422],
  ['what only we may say', '{"cidr":"192.0.2.1","how":"learned"}', 422],
] as const)('the API refuses %s', async ([, body, status]) => {
  const { person } = await asking.visitor()
  const answer = await asking.api(person, '/relays', { method: 'PUT', body })
  expect(answer.status).toBe(status)
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
  expect(await asking.relaysOf(person)).toEqual([])
})

test('the API requires authentication, and lists its methods', async () => {
  const { person } = await asking.visitor()
  expect((await fetch(`${asking.site.url}/api/v1/relays`)).status).toBe(401)
  expect((await fetch(`${asking.site.url}/api/v1/relays`, { method: 'PUT' })).status).toBe(401)
  const answer = await asking.api(person, '/relays', { method: 'POST' })
  expect([answer.status, answer.headers.get('allow')]).toEqual([
    405,
    'GET, HEAD, PUT, DELETE, OPTIONS',
  ])
})

test('fifty relays may be set, and one of them again; not one more', async () => {
  const { person, browser } = await asking.visitor()
  for (let number = 0; number < 50; number++)
    await asking.put(person, { cidr: `192.0.2.${number}` })
  expect((await asking.put(person, { cidr: '192.0.2.7' })).status).toBe(200)
  expect((await asking.put(person, { cidr: '192.0.2.50' })).status).toBe(422)
  const page = await browser.post('/relays', { do: 'add', cidr: '192.0.2.50' })
  expect(page.status).toBe(422)
  expect(await page.text()).toContain('You have named 50')
  expect((await asking.put(person, { cidr: '192.0.2.50', how: 'refused' })).status).toBe(200)
  expect(await asking.relaysOf(person)).toHaveLength(51)
})

test('the page adds, shows and removes relays, and explains a refusal', async () => {
  const { person, browser } = await asking.visitor()
  await browser.post('/relays', { do: 'add', cidr: ' 192.0.2.0/24 ' })
  expect(await (await browser.get('/relays')).text()).toContain('192.0.2.0/24')
  const refused = await browser.post('/relays', { do: 'add', cidr: '10.0.0.1"><b>' })
  expect(refused.status).toBe(422)
  expect(await refused.text()).toContain('value="10.0.0.1&quot;&gt;&lt;b&gt;"')
  const linkLocal = await browser.post('/relays', { do: 'add', cidr: '169.254.0.9' })
  expect(await linkLocal.text()).toContain('On each network it can belong to a different machine')
  const foreign = await browser.post(
    '/relays',
    { do: 'add', cidr: '203.0.113.1' },
    { origin: 'https://evil.example' },
  )
  expect(foreign.status).toBe(403)
  await browser.post('/relays', { do: 'remove', cidr: '192.0.2.0/24' })
  expect(await asking.relaysOf(person)).toEqual([])
  expect((await new Browser(asking.site.url).get('/relays')).status).toBe(303)
})

test('internal addresses may be set, and the page says when that is right', async () => {
  const { person, browser } = await asking.visitor()
  await browser.post('/relays', { do: 'add', cidr: '10.0.0.5' })
  expect((await asking.put(person, { cidr: '127.0.0.1' })).status).toBe(200)
  expect((await asking.put(person, { cidr: 'fd00::/32' })).status).toBe(200)
  expect(await asking.relaysOf(person)).toEqual([
    '10.0.0.5/32 set',
    '127.0.0.1/32 set',
    'fd00::/32 set',
  ])
  const page = await (await browser.get('/relays')).text()
  expect(page).toContain('only if no gateway or tunnel stands between that server and')
})

test('the page asks about a proposal, and the answer is kept', async () => {
  const { person, browser } = await asking.visitor()
  const propose = (cidr: string, name: string) =>
    asking.site.app.pool.query(
      `insert into reporter_relays (reporter_id, cidr, how, name, evidence, since)
       values ($1, $2, 'proposed', $3, 12, now())`,
      [person.id, cidr, name],
    )
  await propose('192.0.2.10/32', 'in.provider.example')
  await propose('192.0.2.11/32', '<script>')
  const page = await (await browser.get('/relays')).text()
  expect(page).toContain(
    'All your mail seems to come through in.provider.example [192.0.2.10]. Is it yours?',
  )
  expect(page).toContain('&lt;script&gt;')
  await browser.post('/relays', { do: 'add', cidr: '192.0.2.10/32' })
  await browser.post('/relays', { do: 'refuse', cidr: '192.0.2.11/32' })
  expect(await asking.relaysOf(person)).toEqual(['192.0.2.10/32 set', '192.0.2.11/32 refused'])
  expect(await (await browser.get('/relays')).text()).toContain('in.provider.example')
})

test('the page sends a test letter, and says when it cannot', async () => {
  const { browser } = await asking.visitor()
  expect(await (await browser.get('/relays')).text()).toContain('does not send mail yet')
  expect((await browser.post('/relays', { do: 'probe' })).status).toBe(422)
  const site = await closeAfterThisTest(startWebSite({ SMTP_URL: 'smtp://127.0.0.1:9' }))
  const person = await site.addPerson('tested@reporters.example')
  const tested = await signedInBrowser(site.url, person)
  const upload = async (mark: string) => {
    const form = new FormData()
    form.set('messages', new Blob([new Uint8Array(sampleMessage(mark))]), `${mark}.eml`)
    return (await tested.postForm('/report', form)).text()
  }
  expect(await upload('first')).toContain('href="/relays#probe"')
  expect(await upload('second')).not.toContain('href="/relays#probe"')
  for (let count = 0; count < 3; count++) {
    expect((await tested.post('/relays', { do: 'probe' })).headers.get('location')).toBe(
      '/relays?done=sent',
    )
  }
  const page = await (await tested.get('/relays')).text()
  expect(page).toContain('A test message was sent to tested@reporters.example')
  const refused = await tested.post('/relays', { do: 'probe' })
  expect(refused.status).toBe(422)
  expect(await refused.text()).toContain('several test messages today')
})
