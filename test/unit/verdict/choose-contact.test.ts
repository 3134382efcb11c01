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

test('nobody is written to when all bounce', () => {
  const dead = { a: found('dead'), b: found('failing'), c: found('dead') }
  expect(choose(dead)).toEqual({ nobody: 'Every known abuse address of this network bounces.' })
})

test('a desk that asked us to stop is not gone round by its next address', () => {
  const stop = { nobody: 'Reports to this abuse desk are paused.' }
  expect(choose({ a: paused })).toEqual(stop)
  expect(choose({ a: found('dead'), b: paused })).toEqual(stop)
})

test('where only enrolled desks are written to, the best enrolled one is', () => {
  expect(choose({ b: enrolled }, 'enrolled')).toEqual({ to: 'b@desk.example' })
  expect(choose({ b: { ...enrolled, health: 'dead' } }, 'enrolled')).toMatchObject({
    nobody: expect.stringMatching(/not enrolled/) as unknown,
  })
})

test.for([
  'feedback@us.example',
  'Feedback@US.example',
  'feedback@us.example.',
  'ann@home.example',
  'anything@bounces.us.example',
  'v-1@BOUNCES.us.example.',
])('we never write to %s, which is ours or the reporter’s', (address) => {
  const chosen = (...contacts: string[]) =>
    chooseContact({ contacts }, new Map(), 'any', own, 'spam')
  expect(chosen(address, 'a@desk.example')).toEqual({ to: 'a@desk.example' })
  expect(chosen(address)).toEqual({
    nobody: 'The abuse address of this network is our own, or the reporter’s.',
  })
})

test('others at the domain of our sender or of the reporter may be written to', () => {
  for (const to of ['abuse@us.example', 'abuse@home.example', 'abuse@x.bounces.us.example']) {
    expect(chooseContact({ contacts: [to] }, new Map(), 'any', own, 'spam')).toEqual({ to })
  }
})
