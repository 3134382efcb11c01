import { expect, test } from 'vitest'
import { findExchangers } from '../../../src/origin/find-exchangers.ts'
import type { DnsAnswer, Resolve } from '../../../src/world.ts'

const unknown: DnsAnswer = { is: 'unknown', why: 'No name server answered in time.' }

function zone(records: Readonly<Record<string, readonly string[] | DnsAnswer>>) {
  const asked: string[] = []
  const resolve: Resolve = async (name, type) => {
    asked.push(`${type} ${name}`)
    const found = records[`${type} ${name}`]
    if (found === undefined) return { is: 'none' }
    return 'is' in found ? found : { is: 'found', records: found }
  }
  return { resolve, asked }
}

test('the hosts of the MX records are found, with their public addresses', async () => {
  const { resolve } = zone({
    'MX home.example.net': ['MX1.Home.example.net', 'mx.hoster.example.org'],
    'A mx1.home.example.net': ['203.0.113.1', '10.0.0.1', '127.0.0.1'],
    'AAAA mx.hoster.example.org': ['2a02:6b8::25'],
  })
  expect(await findExchangers('home.example.net', resolve)).toEqual({
    domain: 'home.example.net',
    names: ['mx1.home.example.net', 'mx.hoster.example.org'],
    addresses: ['203.0.113.1', '2a02:6b8::25'],
  })
})

test('a domain without MX records receives its mail itself', async () => {
  const { resolve } = zone({ 'A home.example.net': ['203.0.113.1'] })
  expect(await findExchangers('home.example.net', resolve)).toEqual({
    domain: 'home.example.net',
    names: ['home.example.net'],
    addresses: ['203.0.113.1'],
  })
})

test('without an answer, or for a name that is no domain, nothing is known', async () => {
  const { resolve } = zone({ 'MX home.example.net': unknown })
  expect(await findExchangers('home.example.net', resolve)).toBeUndefined()
  expect(await findExchangers('localhost', resolve)).toBeUndefined()
  const { resolve: resolveNull } = zone({ 'MX home.example.net': ['.'] })
  expect(await findExchangers('home.example.net', resolveNull)).toBeUndefined()
})

test('the addresses of a known provider or gateway are not asked for', async () => {
  const { resolve, asked } = zone({
    'MX a.example.net': ['aspmx.l.google.com', 'eu-smtp-inbound-1.mimecast.com'],
  })
  await findExchangers('a.example.net', resolve)
  expect(asked).toEqual(['MX a.example.net'])
})

test('long answers are cut', async () => {
  const many = Array.from({ length: 60 }, (_, at) => `mx${at}.example.net`)
  const { resolve, asked } = zone({ 'MX home.example.net': many })
  const found = await findExchangers('home.example.net', resolve)
  expect(found?.names).toHaveLength(10)
  expect(asked).toHaveLength(21)
})
