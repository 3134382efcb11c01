import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { clientAddress } from '../../../src/web/limits.ts'
import { networkSet } from '../../../src/mail/ip.ts'

const proxies = networkSet(['10.0.0.0/8', '2001:db8:aa::/48'])
const asked = (remoteAddress: string | undefined, headers: Record<string, string> = {}) =>
  clientAddress({ socket: { remoteAddress }, headers } as unknown as IncomingMessage, proxies)

test.for([
  ['the other end, where it is no proxy', '192.0.2.7', {}, '192.0.2.7'],
  [
    'the other end, whatever a stranger writes',
    '192.0.2.7',
    { 'x-forwarded-for': '10.0.0.1' },
    '192.0.2.7',
  ],
  ['whom the proxy names', '10.0.0.1', { 'x-forwarded-for': '192.0.2.7' }, '192.0.2.7'],
  [
    'the rightmost that is no proxy',
    '10.0.0.1',
    { 'x-forwarded-for': '198.51.100.1, 192.0.2.7, 10.0.0.2' },
    '192.0.2.7',
  ],
  ['the last proxy, where all are', '10.0.0.1', { 'x-forwarded-for': '10.0.0.3' }, '10.0.0.3'],
  [
    'the proxy before a name that is none',
    '10.0.0.1',
    { 'x-forwarded-for': '192.0.2.7, unknown' },
    '10.0.0.1',
  ],
  ['an address with a port', '10.0.0.1', { 'x-forwarded-for': '192.0.2.7:4711' }, '192.0.2.7'],
  [
    'what Forwarded says',
    '::ffff:10.0.0.1',
    { forwarded: 'for=198.51.100.1, for="[2001:db8::7]:4711";proto=https' },
    '2001:db8::7',
  ],
  ['nobody, where there is no address', undefined, {}, undefined],
] as const)('the client is %s', ([, peer, headers, expected]) => {
  expect(asked(peer, headers)).toBe(expected)
})
