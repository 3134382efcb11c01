import { expect, test } from 'vitest'
import { base32, composeReturnPath, parseOwnAddress } from '../../../src/mail/verp.ts'
import { ringOf } from '../../support/key-ring.ts'

const settings = { domain: 'bounce.example.org', secret: ringOf('a secret of the tests') }
const token = { reportId: '0198c5f0-1234-7abc-8def-0123456789ab', number: 7 }
const parsed = { is: 'feedback-bounce', ...token }
const address = composeReturnPath(token, settings)

function replaceAt(text: string, index: number): string {
  return text.slice(0, index) + (text[index] === 'a' ? 'b' : 'a') + text.slice(index + 1)
}

test('the token of a return path can be read back', () => {
  expect(parseOwnAddress(address, settings)).toEqual(parsed)
})

test('a return path is the same each time it is made', () => {
  expect(composeReturnPath({ ...token }, { ...settings })).toBe(address)
  expect(address).toMatch(/^fb-[a-z2-7]{28}-[a-z2-7]{16}@bounce\.example\.org$/)
})

test('its local part fits the 64 octets of RFC 5321', () => {
  expect(address.indexOf('@')).toBeLessThanOrEqual(64)
})

test.for([
  ['upper case', address.toUpperCase()],
  ['mixed case', address.replace('fb-', 'Fb-')],
  ['angle brackets', `<${address}>`],
  ['white space around it', ` ${address}\r\n`],
  ['a final dot', `${address}.`],
] as const)('a relay may change its spelling: %s', ([, changed]) => {
  expect(parseOwnAddress(changed, settings)).toEqual(parsed)
})

test('one changed character anywhere makes it a forgery', () => {
  const changeable = [...address.slice(0, address.indexOf('@'))]
    .map((character, index) => ({ character, index }))
    .filter(({ character, index }) => index > 2 && character !== '-')
  expect(changeable).toHaveLength(44)
  for (const { index } of changeable) {
    expect(parseOwnAddress(replaceAt(address, index), settings), String(index)).toBe('forged')
  }
})

test('bits beyond the last byte are part of the signature', () => {
  const last = 'fb-'.length + 27
  const [character = ''] = address.slice(last)
  const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'
  const sibling = alphabet.charAt(alphabet.indexOf(character) + 1)
  const changed = address.slice(0, last) + sibling + address.slice(last + 1)
  expect(parseOwnAddress(changed, settings)).toBe('forged')
})

test.for([
  ['another secret', { ...settings, secret: ringOf('another') }, 'forged'],
  ['another domain', { ...settings, domain: 'example.net' }, undefined],
  ['the domain in capitals', { ...settings, domain: 'Bounce.Example.ORG' }, parsed],
] as const)('it is valid for one secret and one domain: %s', ([, other, expected]) => {
  expect(parseOwnAddress(address, other)).toEqual(expected)
})

test.for([
  'postmaster@bounce.example.org',
  '',
  '<>',
  address.slice(1),
  address.replace(/.@/, '@'),
  `x${address}`,
  `${address}@example.net`,
])('anything else is another address: %s', (other) => {
  expect(parseOwnAddress(other, settings)).toBeUndefined()
})

test.for([0, 256, 1.5, Number.NaN])('the number %s cannot be in a return path', (number) => {
  expect(() => composeReturnPath({ ...token, number }, settings)).toThrow(RangeError)
})

test('an id that is not a UUID has no return path', () => {
  expect(() => composeReturnPath({ ...token, reportId: '42' }, settings)).toThrow(RangeError)
})

test.for([
  ['', ''],
  ['f', 'my'],
  ['fo', 'mzxq'],
  ['foo', 'mzxw6'],
  ['foob', 'mzxw6yq'],
  ['fooba', 'mzxw6ytb'],
  ['foobar', 'mzxw6ytboi'],
] as const)('base 32 of "%s" is as in RFC 4648 §10', ([text, expected]) => {
  expect(base32(Buffer.from(text))).toBe(expected)
})
