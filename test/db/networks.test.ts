import { expect, test } from 'vitest'
import {
  dropSource,
  hasNetworks,
  listSources,
  type NewLayer,
  replaceNetworks,
  tidyNetworks,
} from '../../src/db/networks.ts'
import { inTransaction } from '../../src/db/pool.ts'
import { findNetworks } from '../../src/judging/find-campaigns.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { freshDatabase } from '../support/database.ts'

const database = await closeAfterTests(freshDatabase())

const now = new Date('2026-11-20T12:00:00Z')
const later = new Date('2026-11-21T12:00:00Z')

function network(cidr: string, name: string): NewLayer {
  return { cidr, asn: 64496, name, country: 'FR', contacts: [`abuse@${name}.example`] }
}

function load(source: string, networks: readonly NewLayer[], at = now) {
  return inTransaction(database.pool, (tx) => replaceNetworks(tx, source, [networks], at))
}

function find(ips: readonly string[], at = later) {
  return findNetworks(database.pool, ips, at)
}

async function nameOf(ip: string): Promise<string | null | undefined> {
  return (await find([ip])).get(ip)?.name
}

test('a new database has no networks', async () => {
  expect(await hasNetworks(database.pool)).toBe(false)
  expect(await find([])).toEqual(new Map())
})

test('the longest prefix is used, IPv4 and IPv6', async () => {
  await load('nested.csv', [
    network('0.0.0.0/0', 'everyone'),
    network('198.51.100.0/24', 'provider'),
    network('198.51.100.128/25', 'customer'),
    network('198.51.100.255/32', 'machine'),
    network('2001:db8::/32', 'six'),
    network('2001:db8:0:1::/64', 'six-customer'),
  ])
  expect(await hasNetworks(database.pool)).toBe(true)
  const ips = ['198.51.100.127', '198.51.100.128', '198.51.100.255', '192.0.2.1']
  const found = await find([...ips, '2001:db8::1', '2001:db8:0:1::1'])
  expect([...found].map(([ip, { name }]) => [ip, name])).toEqual([
    ['198.51.100.127', 'provider'],
    ['198.51.100.128', 'customer'],
    ['198.51.100.255', 'machine'],
    ['192.0.2.1', 'everyone'],
    ['2001:db8::1', 'six'],
    ['2001:db8:0:1::1', 'six-customer'],
  ])
})

test('an address has the same network in every spelling', async () => {
  expect(await nameOf('2001:0DB8:0000:0001:0000:0000:0000:0001')).toBe('six-customer')
  expect(await nameOf('::ffff:198.51.100.200')).toBe('customer')
})

test('an unknown address or an invalid text has no network', async () => {
  const found = await find(['2001:db9::1', 'example.com', ''])
  expect(found.size).toBe(0)
})

test('of two files with one block, the one imported last is used', async () => {
  await load('older.csv', [network('203.0.113.0/24', 'old-owner')], now)
  await load('newer.csv', [network('203.0.113.0/24', 'new-owner')], later)
  expect(await nameOf('203.0.113.9')).toBe('new-owner')
})

test('a file replaces the data of its own name, and no other', async () => {
  await load('newer.csv', [network('203.0.113.0/25', 'half')], later)
  expect(await nameOf('203.0.113.9')).toBe('half')
  expect(await nameOf('203.0.113.200')).toBe('old-owner')
})

test('a failed replacement keeps the existing data', async () => {
  const bad = [network('192.0.2.0/24', 'good'), { ...network('192.0.2.0/25', 'b'), country: 'fr' }]
  await expect(load('older.csv', bad)).rejects.toMatchObject({ code: '23514' })
  expect(await nameOf('203.0.113.200')).toBe('old-owner')
})

test('readers see the old or the new table, never a mixture', async () => {
  const other = await database.pool.connect()
  await other.query('begin')
  await replaceNetworks(other, 'older.csv', [[network('203.0.113.0/24', 'third-owner')]], later)
  expect(await nameOf('203.0.113.200')).toBe('old-owner')
  await other.query('commit')
  other.release()
  expect(await nameOf('203.0.113.200')).toBe('third-owner')
})

test('twelve thousand blocks are imported, in parts that fit a statement', async () => {
  const many = Array.from({ length: 12_000 }, (_, n) =>
    network(`10.${n >> 8}.${n & 255}.0/24`, `n${n}`),
  )
  const parts = [many.slice(0, 5_000), many.slice(5_000, 10_000), many.slice(10_000)]
  const kept = await inTransaction(database.pool, (tx) =>
    replaceNetworks(tx, 'many.csv', parts, now),
  )
  expect(kept).toBe(12_000)
  expect(await nameOf('10.46.223.1')).toBe('n11999')
})

test('of two parts with one block the last counts', async () => {
  const parts = [[network('192.0.2.0/24', 'first')], [network('192.0.2.0/24', 'second')]]
  await inTransaction(database.pool, (tx) => replaceNetworks(tx, 'twice.csv', parts, now))
  expect(await nameOf('192.0.2.77')).toBe('second')
  await load('twice.csv', [])
})

test('two imports under one name run one after the other', async () => {
  const [one, two] = [await database.pool.connect(), await database.pool.connect()]
  await one.query('begin')
  await two.query('begin')
  await replaceNetworks(one, 'rivals.csv', [[network('192.0.2.0/24', 'rival-one')]], now)
  const second = replaceNetworks(two, 'rivals.csv', [[network('192.0.2.0/25', 'rival-two')]], now)
  await one.query('commit')
  await second
  await two.query('commit')
  one.release()
  two.release()
  expect(await nameOf('192.0.2.1')).toBe('rival-two')
  expect(await nameOf('192.0.2.200')).toBe('everyone')
  await load('rivals.csv', [])
})

test('the blocks around many addresses are found by index, not by a table scan', async () => {
  await tidyNetworks(database.pool)
  const { rows } = await database.pool.query<{ 'QUERY PLAN': string }>(
    `explain select name from unnest($1::inet[]) as asked (ip)
     join networks on cidr >>= asked.ip`,
    [['10.0.1.1', '10.0.0.2', '2001:db8::1']],
  )
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  expect(plan).toContain('networks_cidr_idx')
  expect(plan).not.toContain('Seq Scan')
})

test('large AS numbers are returned as numbers', async () => {
  await load('asn.csv', [{ ...network('192.0.2.0/24', 'big'), asn: 4_294_967_295 }])
  expect((await find(['192.0.2.1'])).get('192.0.2.1')?.asn).toBe(4_294_967_295)
  await load('asn.csv', [])
})

test('fields come from several sources, the contact from the one for the AS', async () => {
  const bare = { asn: null, name: null, country: null, contacts: [] }
  await load('as.tsv', [{ ...bare, cidr: '203.0.113.64/26', asn: 64_500, name: 'Leaf' }], later)
  await load('rir.txt', [{ ...bare, cidr: '203.0.113.0/24', country: 'NL' }], now)
  const desks = ['abuse@whole.example', 'noc@whole.example']
  const whole = { ...bare, cidr: '203.0.113.0/24', asn: 64_501, contacts: desks }
  await load('older.csv', [], now)
  await load('newer.csv', [whole], later)
  const ips = ['203.0.113.70', '203.0.113.1']
  const found = await find(ips)
  expect(found.get('203.0.113.1')).toMatchObject({ asn: 64_501, country: 'NL', contacts: desks })
  expect(found.get('203.0.113.70')).toMatchObject({
    cidr: '203.0.113.64/26',
    asn: 64_500,
    name: 'Leaf',
    country: 'NL',
    abuse: null,
  })
})

test('expired rows are not used', async () => {
  const insert = `insert into networks
      (cidr, source, asn, name, abuse, contacts, imported_at, expires_at)
    values ('10.0.0.0/25', 'registry', 64496, 'cached', 'a@cached.example', '{a@cached.example}',
      $1, $2)`
  await database.pool.query(insert, [now, later])
  expect((await find(['10.0.0.1'], now)).get('10.0.0.1')?.name).toBe('cached')
  expect((await find(['10.0.0.1'], later)).get('10.0.0.1')?.name).toBe('n0')
})

test('a source is dropped as a whole, and no other', async () => {
  expect(await dropSource(database.pool, 'many.csv')).toBe(12_000)
  expect(await dropSource(database.pool, 'many.csv')).toBe(0)
  const sources = await listSources(database.pool)
  expect(sources.map(({ source }) => source)).toContain('nested.csv')
  expect(sources.find(({ source }) => source === 'nested.csv')).toMatchObject({ blocks: 6 })
})

test.for([
  ['an abuse address that is not the first contact', `'manual', 'a@b.example', '{}', false`],
  ['silence that nobody said by hand', `'x.csv', null, '{}', true`],
  ['silence with a contact', `'manual', 'a@b.example', '{a@b.example}', true`],
])('the table refuses %s', async ([, cells]) => {
  const insert = `insert into networks (cidr, source, abuse, contacts, is_muted, imported_at)
    values ('10.9.9.0/24', ${cells}, $1)`
  await expect(database.pool.query(insert, [now])).rejects.toMatchObject({ code: '23514' })
})
