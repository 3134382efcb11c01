import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { askerOf } from '../../../src/web/lists/downloads.ts'

const trustedProxies = ['127.0.0.0/8', '203.0.113.200/32', '2001:db8:ffff::/48']

/** Who sends a request that comes from an address, on behalf of what the header says. */
function asker(remoteAddress: string, forwardedFor?: string): string {
  const headers = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }
  return askerOf({ socket: { remoteAddress }, headers } as unknown as IncomingMessage, {
    trustedProxies,
  })
}

test('strangers behind a proxy of ours with a public address are told apart', () => {
  expect(asker('203.0.113.200', '198.51.100.7')).toBe('198.51.100.7')
  expect(asker('203.0.113.200', '198.51.100.7')).not.toBe(asker('203.0.113.200', '198.51.100.8'))
  expect(asker('203.0.113.200', '192.0.2.1, 198.51.100.7, 127.0.0.1')).toBe('198.51.100.7')
})

test('who is no proxy of ours does not choose whom he asks for', () => {
  expect(asker('203.0.113.201', '198.51.100.7')).toBe('203.0.113.201')
  expect(asker('10.0.0.9', '198.51.100.7')).toBe('10.0.0.9')
})

test('of IPv6 the network of the host asks', () => {
  expect(asker('2001:db8:ffff::1', '2001:db8:1:2:3:4:5:6')).toBe(asker('2001:db8:1:2::9'))
  expect(asker('2001:db8:1:3::9')).not.toBe(asker('2001:db8:1:2::9'))
})
