import { expect, test } from 'vitest'
import { findConfirmation, type PageWitness } from '../../../src/phishing/page-gate.ts'

let made = 0

/** An account of its own day and mail domain that calls a message phishing. */
function reporter(change: Partial<PageWitness> = {}): PageWitness {
  const at = ++made
  const recipient = Buffer.alloc(8)
  recipient.writeUInt32BE(at)
  return {
    ...{ reporterId: `reporter ${at}`, signUpDay: at, circle: at, recipient },
    ...{ isVouched: false, isProven: false, isYoung: false, url: 'https://page.example/a' },
    ...{ isAccusing: true, isSupported: true, decision: null },
    ...change,
  }
}

const proven = (change: Partial<PageWitness> = {}) => reporter({ isProven: true, ...change })
const vouched = (change: Partial<PageWitness> = {}) => proven({ isVouched: true, ...change })
const confirmedBy = (witnesses: readonly PageWitness[], isDefended = false) =>
  findConfirmation(witnesses, { isDefended }).confirmedBy

test('three independent reporters confirm a page, if two of them are proven', () => {
  expect(confirmedBy([proven(), proven(), reporter()])).toBe('reporters')
  expect(confirmedBy([vouched(), vouched(), vouched()])).toBe('reporters')
})

const three = (change: Partial<PageWitness>) => [proven(change), proven(change), proven(change)]
const ownAddress = Buffer.alloc(8)

test.for<[string, readonly PageWitness[]]>([
  ['two reporters', [proven(), proven()]],
  ['a ring of patient accounts without karma', Array.from({ length: 30 }, () => reporter())],
  [
    'a ring with one proven accomplice',
    [proven(), ...Array.from({ length: 30 }, () => reporter())],
  ],
  ['accounts of the day', three({ isYoung: true })],
  ['accounts of one sign-up day', three({ signUpDay: 1 })],
  ['accounts at one mail domain', three({ circle: 1 })],
  ['accounts that received it at one address', three({ recipient: ownAddress })],
  ['one account with many copies', three({ reporterId: 'one' })],
  ['reporters who call it spam', three({ isAccusing: false })],
  ['messages whose content says nothing', three({ isSupported: false })],
  ['mail that an operator called wanted', [...three({}), reporter({ decision: 'other' })]],
  ['a model or a rule alone', three({ isAccusing: false, isSupported: true })],
])('%s confirm no page', ([, witnesses]) => {
  expect(confirmedBy(witnesses)).toBeUndefined()
})

test('mail that a proven reporter wants is not confirmed by others, but by a person', () => {
  expect(confirmedBy(three({}), true)).toBeUndefined()
  expect(confirmedBy([vouched({ decision: 'phishing' })], true)).toBe('person')
})

test.for<[string, readonly PageWitness[], 'person' | undefined]>([
  ['of an account of an operator', [vouched({ decision: 'phishing' })], 'person'],
  ['without content', [vouched({ decision: 'phishing', isSupported: false })], 'person'],
  ['of two proven accounts', [proven(), proven()].map(decidedAs('malware')), 'person'],
  ['of one proven account', [proven()].map(decidedAs('phishing')), undefined],
  ['of a ring', Array.from({ length: 30 }, () => reporter()).map(decidedAs('phishing')), undefined],
  ['of others than the page', [vouched(), reporter({ decision: 'phishing' })], undefined],
])('the word of a person about a message %s', ([, witnesses, by]) => {
  expect(confirmedBy(witnesses)).toBe(by)
})

function decidedAs(decision: 'phishing' | 'malware') {
  return (one: PageWitness): PageWitness => ({ ...one, decision })
}

test('a person says what the page is', () => {
  const witnesses = [vouched({ decision: 'phishing' }), vouched({ decision: 'malware' })]
  expect(findConfirmation(witnesses, { isDefended: false }).type).toBe('malware')
})

test('a URL is shared if three independent reporters received exactly this one', () => {
  const url = 'https://page.example/b'
  const sharedUrl = (witnesses: readonly PageWitness[]) =>
    findConfirmation(witnesses, { isDefended: false }).sharedUrl
  expect(sharedUrl([reporter(), reporter({ url }), reporter({ url })])).toBeUndefined()
  const some = [reporter({ url }), reporter({ url }), reporter({ url })]
  expect(sharedUrl([reporter(), ...some])).toBe(url)
  expect(sharedUrl(some.map((one) => ({ ...one, recipient: ownAddress })))).toBeUndefined()
  expect(sharedUrl(some.map((one) => ({ ...one, circle: 7 })))).toBeUndefined()
})
