import { expect, test } from 'vitest'
import { placeInScope } from '../../../src/verdict/site-scope.ts'

const scope = { countries: ['FR'], asns: [64_496], blocks: ['192.0.2.0/24', '2001:db8::/32'] }
const networks = { countries: [], asns: [64_496], blocks: ['192.0.2.0/24'] }

test.for([
  ['198.51.100.7', { asn: 64_500, country: 'FR' }, 'inside', 'outside'],
  ['198.51.100.7', { asn: 64_500, country: 'fr' }, 'inside', 'outside'],
  ['198.51.100.7', { asn: 64_500, country: 'US' }, 'outside', 'outside'],
  ['198.51.100.7', { asn: 64_496, country: 'US' }, 'inside', 'inside'],
  ['192.0.2.7', { asn: 64_500, country: 'US' }, 'inside', 'inside'],
  ['2001:db8::7', undefined, 'inside', 'unknown'],
  ['198.51.100.7', { asn: 64_500, country: null }, 'unknown', 'outside'],
  ['198.51.100.7', undefined, 'unknown', 'unknown'],
] as const)('%s in %j is %s by countries too, and %s by networks', ([ip, network, all, some]) => {
  expect([placeInScope(ip, network, scope), placeInScope(ip, network, networks)]).toEqual([
    all,
    some,
  ])
})
