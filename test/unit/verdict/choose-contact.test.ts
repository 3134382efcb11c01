import { expect, test } from 'vitest'
import { chooseContact, type KnownContact } from '../../../src/verdict/choose-contact.ts'

const contacts = ['a@desk.example', 'b@desk.example', 'c@desk.example']
const found = (health: KnownContact['health']): KnownContact => ({ state: 'found', health })
const paused: KnownContact = { state: 'paused', health: 'healthy' }
const enrolled: KnownContact = { state: 'enrolled', health: 'healthy' }

const own = { addresses: ['feedback@us.example', 'ann@home.example'], domain: 'Bounces.us.example' }

function choose(known: Record<string, KnownContact>, forwardTo: 'any' | 'enrolled' = 'any') {
  const byAddress = new Map(
    Object.entries(known).map(([name, one]) => [`${name}@desk.example`, one]),
  )
  return chooseContact({ contacts }, byAddress, forwardTo, own, 'spam')
}

test.for<[string, Record<string, KnownContact>, string]>([
  ['the best one is written to', {}, 'a'],
  ['one that bounces is passed over', { a: found('dead') }, 'b'],
  ['failing ones are passed over too', { a: found('failing'), b: found('dead') }, 'c'],
  ['a healthy one before a paused one is written to', { b: paused }, 'a'],
])('%s', ([, known, expected]) => {
  expect(choose(known)).toEqual({ to: `${expected}@desk.example` })
})

test('no address is used if all bounce', () => {
  const dead = { a: found('dead'), b: found('failing'), c: found('dead') }
  expect(choose(dead)).toEqual({ noContact: { code: 'contacts-bounce' } })
})

test('a desk that asked to stop is not bypassed by its next address', () => {
  const stop = { noContact: { code: 'desk-paused' } }
  expect(choose({ a: paused })).toEqual(stop)
  expect(choose({ a: found('dead'), b: paused })).toEqual(stop)
})

test('if only enrolled desks are notified, the best enrolled one is used', () => {
  expect(choose({ b: enrolled }, 'enrolled')).toEqual({ to: 'b@desk.example' })
  expect(choose({ b: { ...enrolled, health: 'dead' } }, 'enrolled')).toEqual({
    noContact: { code: 'desk-not-enrolled' },
  })
})

test.for([
  'feedback@us.example',
  'Feedback@US.example',
  'feedback@us.example.',
  'ann@home.example',
  'anything@bounces.us.example',
  'v-1@BOUNCES.us.example.',
])('mail is never sent to %s, which is ours or the reporter’s', (address) => {
  const chosen = (...contacts: string[]) =>
    chooseContact({ contacts }, new Map(), 'any', own, 'spam')
  expect(chosen(address, 'a@desk.example')).toEqual({ to: 'a@desk.example' })
  expect(chosen(address)).toEqual({ noContact: { code: 'contact-is-own' } })
})

test('other addresses at our own or the reporter’s domain may be used', () => {
  for (const to of ['abuse@us.example', 'abuse@home.example', 'abuse@x.bounces.us.example']) {
    expect(chooseContact({ contacts: [to] }, new Map(), 'any', own, 'spam')).toEqual({ to })
  }
})
