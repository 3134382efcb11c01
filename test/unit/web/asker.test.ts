import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { askerOf } from '../../../src/web/limits.ts'

const trustedProxies = ['127.0.0.0/8', '203.0.113.200/32', '2001:db8:ffff::/48']

/** Returns the client behind a request from an address with the given header. */
function asker(remoteAddress: string, forwardedFor?: string): string {
  const headers = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }
  return askerOf({ socket: { remoteAddress }, headers } as unknown as IncomingMessage, {
    trustedProxies,
  })
}

test('clients behind our own proxy with a public address are distinguished', () => {
  expect(asker('203.0.113.200', '198.51.100.7')).toBe('198.51.100.7')
  expect(asker('203.0.113.200', '198.51.100.7')).not.toBe(asker('203.0.113.200', '198.51.100.8'))
  expect(asker('203.0.113.200', '192.0.2.1, 198.51.100.7, 127.0.0.1')).toBe('198.51.100.7')
})

test('an unknown proxy cannot choose its client address', () => {
  expect(asker('203.0.113.201', '198.51.100.7')).toBe('203.0.113.201')
  expect(asker('10.0.0.9', '198.51.100.7')).toBe('10.0.0.9')
})

test('an IPv6 client is counted by the network of the host', () => {
  expect(asker('2001:db8:ffff::1', '2001:db8:1:2:3:4:5:6')).toBe(asker('2001:db8:1:2::9'))
  expect(asker('2001:db8:1:3::9')).not.toBe(asker('2001:db8:1:2::9'))
})
