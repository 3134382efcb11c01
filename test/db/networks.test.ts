import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Network } from '../../src/analysis/network.ts'
import { hasNetworks, listNetworks, replaceNetworks } from '../../src/db/networks.ts'
import { inTransaction } from '../../src/db/pool.ts'
import { findNetworks } from '../../src/jobs/find-networks.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.close())

const now = new Date('2026-11-20T12:00:00Z')
const later = new Date('2026-11-21T12:00:00Z')

function network(cidr: string, name: string): Network {
  const abuse = `abuse@${name}.example`
  return { cidr, asn: 64496, name, country: 'FR', contacts: [abuse], abuse }
}

function load(source: string, networks: readonly Network[], at = now) {
  return inTransaction(database.pool, (tx) => replaceNetworks(tx, source, networks, at))
}

async function nameOf(ip: string): Promise<string | null | undefined> {
  return (await findNetworks(database.pool, [ip])).get(ip)?.name
}

test('a fresh database knows no network', async () => {
  expect(await hasNetworks(database.pool)).toBe(false)
  expect(await findNetworks(database.pool, [])).toEqual(new Map())
})

test('the longest prefix answers, IPv4 and IPv6', async () => {
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
  const found = await findNetworks(database.pool, [...ips, '2001:db8::1', '2001:db8:0:1::1'])
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

test('an unknown address and a text that is none have no network', async () => {
  const found = await findNetworks(database.pool, ['2001:db9::1', 'example.com', ''])
  expect(found.size).toBe(0)
})

test('of two files that know a block, the one imported last is believed', async () => {
  await load('older.csv', [network('203.0.113.0/24', 'old-owner')], now)
  await load('newer.csv', [network('203.0.113.0/24', 'new-owner')], later)
  expect(await nameOf('203.0.113.9')).toBe('new-owner')
})

test('a file replaces what a file of its name told, and no other', async () => {
  await load('newer.csv', [network('203.0.113.0/25', 'half')], later)
  expect(await nameOf('203.0.113.9')).toBe('half')
  expect(await nameOf('203.0.113.200')).toBe('old-owner')
})

test('a replacement that fails leaves what was there', async () => {
  const bad = [network('192.0.2.0/24', 'good'), { ...network('192.0.2.0/25', 'b'), country: 'fr' }]
  await expect(load('older.csv', bad)).rejects.toMatchObject({ code: '23514' })
  expect(await nameOf('203.0.113.200')).toBe('old-owner')
})

test('readers see the old or the new table, never half', async () => {
  const other = await database.pool.connect()
  await other.query('begin')
  await replaceNetworks(other, 'older.csv', [network('203.0.113.0/24', 'third-owner')], later)
  expect(await nameOf('203.0.113.200')).toBe('old-owner')
  await other.query('commit')
  other.release()
  expect(await nameOf('203.0.113.200')).toBe('third-owner')
})

test('twelve thousand blocks go in, past the limit of parameters of one statement', async () => {
  const many = Array.from({ length: 12_000 }, (_, n) =>
    network(`10.${n >> 8}.${n & 255}.0/24`, `n${n}`),
  )
  await load('many.csv', many)
  expect(await nameOf('10.46.223.1')).toBe('n11999')
})

test('a block is found by the primary key, not by reading the table', async () => {
  await database.pool.query('analyze networks')
  const { rows } = await database.pool.query<{ 'QUERY PLAN': string }>(
    'explain select name from networks where cidr = any($1::cidr[])',
    [['10.0.1.0/24', '10.0.0.0/8']],
  )
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  expect(plan).toContain('networks_pkey')
  expect(plan).not.toContain('Seq Scan')
})

test('large AS numbers come back as numbers', async () => {
  await load('asn.csv', [{ ...network('192.0.2.0/24', 'big'), asn: 4_294_967_295 }])
  expect(await listNetworks(database.pool, ['192.0.2.0/24'])).toMatchObject([
    { asn: 4_294_967_295 },
  ])
})
