import { beforeEach, expect, test } from 'vitest'
import { replaceNetworks, type NewLayer } from '../../../src/db/networks.ts'
import { inTransaction } from '../../../src/db/pool.ts'
import { suppress } from '../../../src/db/suppressions.ts'
import { uuidv7 } from '../../../src/world.ts'
import { realLetter } from '../../support/letters.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { Browser } from './browser.ts'
import { startWebSite } from './web-site.ts'

let visitor: Browser

const desk = 'abuse@desk.example'
const wish = {
  address: desk,
  scopes: '192.0.2.0/24',
  format: 'arf',
  form: 'headers',
  pace: 'digest',
  takes: 'phishing',
}

const site = await closeAfterTests(
  startWebSite({
    PUBLIC_URL: 'http://spam.ours.example',
    TRUSTED_PROXIES: '127.0.0.1, ::1',
  }),
)

beforeEach(async () => {
  const tables = 'enrollment_requests, letters, suppressions, consumer_scopes, consumer_hours'
  await site.app.pool.query(`truncate ${tables}, feedback_reports, consumers, networks`)
  visitor = new Browser(site.url, { 'x-forwarded-for': '203.0.113.1' })
})

type Layer = Partial<NewLayer> & { cidr: string }

async function registered(...layers: Layer[]) {
  const whole = layers.map((layer) => ({
    ...{ asn: 64496, name: null, country: null, contacts: [desk] },
    ...layer,
  }))
  await inTransaction(site.app.pool, (tx) => replaceNetworks(tx, 'a table', [whole], new Date()))
}

async function letters(): Promise<string[]> {
  const { rows } = await site.app.pool.query<{ id: string }>('select id from letters order by id')
  return Promise.all(
    rows.map(async ({ id }) => {
      const raw = await realLetter(site.app.pool, id)
      return raw.toString().replace(/=\r\n/g, '')
    }),
  )
}

/** Returns the path of the link in the letter to an address. */
async function linkOf(fields: Record<string, string> = {}): Promise<string> {
  const answer = await visitor.post('/consumers/enroll', { ...wish, ...fields })
  expect(answer.headers.get('location')).toBe('/consumers/enroll/sent')
  const [letter = ''] = (await letters()).slice(-1)
  return /http:\/\/spam\.ours\.example(\/consumers\/enroll\/[\w-]+)/.exec(letter)?.[1] ?? ''
}

async function confirmed(fields: Record<string, string> = {}): Promise<string> {
  const answer = await visitor.post(await linkOf(fields), {})
  return answer.headers.get('location') ?? ''
}

async function pageOf(path: string): Promise<string> {
  return (await visitor.get(path)).text()
}

async function consumer() {
  const { rows } = await site.app.pool.query<Record<string, unknown>>(
    `select address, state, source, form, pace, takes,
       array(select kind || ' ' || value from consumer_scopes where consumer_id = id order by 1)
         as scopes
     from consumers`,
  )
  return rows[0]
}

const enrolled = { address: desk, state: 'enrolled', source: 'enrollment' }
const told = { form: 'headers', pace: 'digest', takes: ['phishing'] }

test('a registered desk is enrolled by the link of its letter, and by nothing less', async () => {
  await registered({ cidr: '192.0.2.0/23' })
  const link = await linkOf()
  expect(await consumer()).toBeUndefined()
  expect(await pageOf(link)).toContain('Yes, send us reports')
  expect(await pageOf(link)).toContain('192.0.2.0/24')
  expect(await consumer()).toBeUndefined()
  const answer = await visitor.post(link, {})
  expect(await consumer()).toEqual({ ...enrolled, ...told, scopes: ['range 192.0.2.0/24'] })
  const own = answer.headers.get('location') ?? ''
  expect(own).toMatch(/^\/consumers\/[a-z2-7-]{45}\?done=enrolled$/)
  expect(await pageOf(own)).toContain('You are enrolled.')
  expect((await letters()).at(-1)).toContain(own.split('?')[0] ?? 'nothing')
  expect((await visitor.post(link, {})).status).toBe(404)
  expect((await visitor.get(link)).status).toBe(404)
})

const others = ['abuse@other.example']

test.for<[string, Layer[]]>([
  ['nobody is registered for it', []],
  ['another desk is', [{ cidr: '192.0.2.0/24', contacts: others }]],
  [
    'a part of it is another desk’s',
    [{ cidr: '192.0.2.0/24' }, { cidr: '192.0.2.128/25', contacts: others }],
  ],
  [
    'a part of it is announced by others',
    [{ cidr: '192.0.2.0/24' }, { cidr: '192.0.2.128/25', asn: 64500, contacts: [] }],
  ],
])('a block needs a decision by a person when %s', async ([, layers]) => {
  await registered(...layers)
  expect(await confirmed()).toContain('?done=waiting')
  expect(await consumer()).toEqual({ ...enrolled, ...told, scopes: [] })
  const { rows } = await site.app.pool.query(
    'select state, wish -> $1 as scopes from enrollment_requests',
    ['scopes'],
  )
  expect(rows).toEqual([{ state: 'proven', scopes: [{ kind: 'range', value: '192.0.2.0/24' }] }])
})

test('autonomous systems and domains need a decision, an empty request does not', async () => {
  await registered({ cidr: '192.0.2.0/24' })
  expect(await confirmed({ scopes: 'AS64496, 192.0.2.0/24\nshop.example' })).toContain(
    '?done=waiting',
  )
  expect(await consumer()).toMatchObject({ scopes: ['range 192.0.2.0/24'] })
  await site.app.pool.query('truncate enrollment_requests')
  expect(await confirmed({ address: 'other@desk.example', scopes: '' })).toContain('?done=enrolled')
})

test('an address gets one letter a week, and the form does not reveal it', async () => {
  await linkOf()
  const again = await visitor.post('/consumers/enroll', wish)
  expect(again.headers.get('location')).toBe('/consumers/enroll/sent')
  expect(await letters()).toHaveLength(1)
  const ours = await visitor.post('/consumers/enroll', {
    ...wish,
    address: site.app.config.mailFrom,
  })
  expect([303, 422]).toContain(ours.status)
  expect(await letters()).toHaveLength(1)
})

test('a machine may ask five times a day', async () => {
  for (let n = 0; n < 5; n++) await linkOf({ address: `a${n}@desk.example` })
  const sixth = await visitor.post('/consumers/enroll', { ...wish, address: 'a6@desk.example' })
  expect(sixth.status).toBe(429)
  visitor = new Browser(site.url, { 'x-forwarded-for': '203.0.113.2' })
  await linkOf({ address: 'a7@desk.example' })
})

test('repeated requests do not keep an address from its letters', async () => {
  const age = (hours: number) =>
    site.app.pool.query(
      `update enrollment_requests set id = (lpad(to_hex(
         ('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint - $1 * 3600000), 12, '0')
         || right(replace(id::text, '-', ''), 20))::uuid`,
      [hours],
    )
  await linkOf()
  await age(85)
  await visitor.post('/consumers/enroll', wish)
  await age(85)
  await visitor.post('/consumers/enroll', wish)
  expect(await letters()).toHaveLength(2)
})

test('all unknown clients together cause at most a hundred letters an hour', async () => {
  await site.app.pool.query(
    `insert into enrollment_requests (id, token_hash, address, state, wish, asker_hash)
     select id, sha256(n::text::bytea), n || '@a.example', 'sent', '{}', sha256('a')
     from unnest($1::uuid[]) with ordinality as made (id, n)`,
    [Array.from({ length: 100 }, () => uuidv7(new Date()))],
  )
  expect((await visitor.post('/consumers/enroll', wish)).status).toBe(429)
  expect(await letters()).toEqual([])
})

test('domains of other organizations are not in the letter', async () => {
  await linkOf({ scopes: 'AS64496 mail.desk.example buy-pills.example a.example' })
  const [letter] = await letters()
  expect(letter).toContain('AS64496, mail.desk.example, other domains (2)')
  expect(letter).not.toContain('pills')
})

test('a link is valid for seven days', async () => {
  const link = await linkOf()
  const old = new Date(Date.now() - 7 * 86_400_000 - 60_000)
  const hex = old.getTime().toString(16).padStart(12, '0')
  const id = `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
  await site.app.pool.query('update enrollment_requests set id = $1', [id])
  expect((await visitor.get(link)).status).toBe(404)
  expect((await visitor.post(link, {})).status).toBe(404)
  expect(await consumer()).toBeUndefined()
})

test('the address of a link is stored as a hash alone', async () => {
  const token = (await linkOf()).split('/').at(-1) ?? ''
  const { rows } = await site.app.pool.query(
    'select to_jsonb(enrollment_requests) as row from enrollment_requests',
  )
  expect(JSON.stringify(rows)).not.toContain(token)
  expect(JSON.stringify(rows)).not.toContain('203.0.113.1')
})

test('an administrator’s decision against an address stays', async () => {
  const link = await linkOf()
  const word = { status: null, detail: 'a test', since: new Date(), until: null }
  await suppress(site.app.pool, { ...word, address: desk, reason: 'operator' })
  expect((await visitor.post(link, {})).status).toBe(404)
  expect(await consumer()).toBeUndefined()
})

test.for([
  [{ address: 'nobody' }, 'Enter a valid email address.'],
  [{ address: 'a@b.example\r\nBcc: x@y.example' }, 'Enter a valid email address.'],
  [{ scopes: '192.0.2.0/24 <b>bold</b>' }, 'Not a CIDR block'],
  [{ scopes: '0.0.0.0/0' }, 'Not a CIDR block'],
  [{ scopes: 'com' }, 'Not a CIDR block'],
  [{ takes: 'ham' }, 'at least one type'],
  [{ format: '__proto__' }, 'Choose how'],
] as const)('a form with %o is shown again', async ([part, fault]) => {
  const answer = await visitor.post('/consumers/enroll', { ...wish, ...part })
  expect(answer.status).toBe(422)
  const html = await answer.text()
  expect(html).toContain(fault)
  expect(html).not.toContain('<b>')
  expect(await letters()).toEqual([])
})

test('on its page a consumer pauses, resumes, changes settings, stops and returns', async () => {
  const own = (await confirmed()).split('?')[0] ?? ''
  const act = async (fields: Record<string, string>) =>
    (await visitor.post(own, fields)).headers.get('location')?.split('=')[1]
  expect(await act({ do: 'pause', days: '7' })).toBe('paused')
  expect(await pageOf(own)).toContain('Paused')
  expect(await consumer()).toMatchObject({ state: 'paused' })
  expect(await act({ do: 'resume' })).toBe('resumed')
  expect(await act({ do: 'resume' })).toBe('refused')
  expect(
    await act({ do: 'keep', format: 'xarf', form: 'whole', pace: 'campaign', takes: 'spam' }),
  ).toBe('kept')
  expect(await consumer()).toMatchObject({ state: 'enrolled', pace: 'campaign', takes: ['spam'] })
  expect((await visitor.post(own, { do: 'keep', pace: 'never' })).status).toBe(422)
  expect((await visitor.post(own, { do: 'pause', days: '365' })).status).toBe(422)
  expect(await act({ do: 'stop' })).toBe('stopped')
  expect(await consumer()).toMatchObject({ state: 'stopped' })
  expect(await pageOf(own)).toContain('Stopped')
  expect(await act({ do: 'resume' })).toBe('resumed')
  expect(await consumer()).toMatchObject({ state: 'enrolled' })
  const { rows } = await site.app.pool.query('select 1 from suppressions')
  expect(rows).toEqual([])
})

test('viewing has no effect, a forged link is not found, other sites cannot post', async () => {
  const own = (await confirmed()).split('?')[0] ?? ''
  const before = await consumer()
  await pageOf(`${own}?do=stop`)
  expect(await consumer()).toEqual(before)
  const forged = own.slice(0, -1) + (own.endsWith('a') ? 'b' : 'a')
  expect((await visitor.get(forged)).status).toBe(404)
  expect((await visitor.post(forged, { do: 'stop' })).status).toBe(404)
  const foreign = await visitor.post(own, { do: 'stop' }, { origin: 'https://evil.example' })
  expect(foreign.status).toBe(403)
  expect(await consumer()).toEqual(before)
})

test('the pages and the letter are also in French', async () => {
  visitor = new Browser(site.url, { 'accept-language': 'fr', 'x-forwarded-for': '203.0.113.3' })
  expect(await pageOf('/consumers/enroll')).toContain('Recevoir nos rapports')
  const link = await linkOf()
  expect((await letters())[0]).toContain('Content-Language: fr')
  expect(await pageOf(link)).toContain('Oui, envoyez-nous les rapports')
})
