import { expect, test } from 'vitest'
import { actorKey, storedKey } from '../../../src/people/limits.ts'

test.for([
  ['address', '192.0.2.7', '192.0.2.7'],
  ['network', '192.0.2.7', '192.0.2'],
  ['address', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['network', '2001:db8:1:2:3:4:5:6', '2001:db8:1'],
  ['address', '::ffff:192.0.2.7', '192.0.2.7'],
  ['wide-network', '192.0.2.7', '192.0'],
  ['wide-network', '2001:db8:1:2::3', '2001:db8'],
  ['all', '192.0.2.7', 'all'],
  ['address', 'unknown', undefined],
] as const)('the %s of %s is %s', ([kind, address, key]) => {
  expect(actorKey(kind, { address })).toBe(key)
})

test('two hosts of one IPv6 network are one client; hosts of other networks are not', () => {
  const key = (address: string) => actorKey('address', { address })
  expect(key('2001:db8::1')).toBe(key('2001:db8::2:1'))
  expect(key('2001:db8::1')).not.toBe(key('2001:db8:0:1::1'))
})

test('a name is the same in any case, and is counted beside the address', () => {
  expect(actorKey('name', { name: ' Ann@Example.org' })).toBe('ann@example.org')
  const both = { name: 'ANN', address: '192.0.2.7' }
  expect(actorKey('name-and-address', both)).toBe('192.0.2.7 ann')
  expect(actorKey('name-and-address', { name: 'ann' })).toBeUndefined()
})

test('a stored key is a UUID that depends on the secret', () => {
  const [one, two] = [Buffer.from('one'), Buffer.from('two')]
  const key = storedKey(one, ['a', 1, 'b'])
  expect(key).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  expect(storedKey(one, ['a', 1, 'b'])).toBe(key)
  expect(storedKey(two, ['a', 1, 'b'])).not.toBe(key)
  expect(storedKey(one, ['a', 1, 'c'])).not.toBe(key)
})
