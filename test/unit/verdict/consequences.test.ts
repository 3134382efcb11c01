import { expect, test } from 'vitest'
import { consequenceOf, type Judged } from '../../../src/verdict/consequences.ts'

const network = {
  cidr: '192.0.2.0/24',
  asn: 64496,
  name: 'Example Hosting One',
  country: 'FR',
  contacts: ['abuse@hosting-one.example'],
  abuse: 'abuse@hosting-one.example',
}
const muted = { ...network, abuse: null, isMuted: true } as const
const clear: Judged = {
  verdict: { class: 'spam', score: 5, symbols: [] },
  messageKind: 'message',
  origin: { ip: '192.0.2.7', confidence: 0.9 },
  originConfidenceMin: 0.7,
  isAskable: true,
  network,
  registry: 'off',
  known: new Map(),
  forwardTo: 'any',
}
const desk = (state: 'found' | 'enrolled' | 'paused') =>
  new Map([['abuse@hosting-one.example', { state, health: 'healthy' as const }]])
const verdict = (name: Judged['verdict']['class']) => ({ class: name, score: 0, symbols: [] })

test.for([
  ['a clear case', clear],
  ['a case just sure enough', { ...clear, origin: { ip: '192.0.2.7', confidence: 0.7 } }],
  ['phishing', { ...clear, verdict: verdict('phishing') }],
  ['a desk we have written to before', { ...clear, known: desk('found') }],
  ['an enrolled desk', { ...clear, known: desk('enrolled'), forwardTo: 'enrolled' }],
] as const satisfies readonly (readonly [string, Judged])[])(
  '%s is told to the abuse desk',
  ([, judged]) => {
    expect(consequenceOf(judged)).toEqual({
      action: 'forward',
      to: 'abuse@hosting-one.example',
      why: 'Example Hosting One answers for the origin and has an abuse contact.',
    })
  },
)

test.for([
  ['the reporter defends it', { ...clear, verdict: verdict('legitimate') }, /not spam/],
  ['the verdict is open', { ...clear, verdict: verdict('undecided') }, /undecided/],
  ['it is a bounce', { ...clear, messageKind: 'dsn' }, /mail system wrote/],
  ['it is a feedback report', { ...clear, messageKind: 'feedback-report' }, /mail system wrote/],
  ['it is an automatic reply', { ...clear, messageKind: 'auto-reply' }, /mail system wrote/],
  [
    'there is no origin, nor a machine to ask about',
    { ...clear, origin: undefined, isAskable: false },
    /could not be found/,
  ],
  [
    'the origin is almost sure enough, and the reporter has said all',
    { ...clear, origin: { ip: '192.0.2.7', confidence: 0.699 }, isAskable: false },
    /too uncertain/,
  ],
  [
    'the reporter defends what has no origin',
    { ...clear, origin: undefined, verdict: verdict('legitimate') },
    /not spam/,
  ],
  ['nobody answers for the origin', { ...clear, network: undefined }, /no imported network/i],
  [
    'the network has no desk',
    { ...clear, network: { ...network, contacts: [], abuse: null } },
    /abuse contact/,
  ],
  [
    'an administrator said that nobody is to be written to',
    { ...clear, network: { ...muted, contacts: [] } },
    /an administrator said/i,
  ],
  ['the desk asked for a pause', { ...clear, known: desk('paused') }, /asked us to stop/],
  [
    'only enrolled desks are written to, and this one was found',
    { ...clear, known: desk('found'), forwardTo: 'enrolled' },
    /not enrolled/,
  ],
  [
    'only enrolled desks are written to, and this one is new',
    { ...clear, forwardTo: 'enrolled' },
    /not enrolled/,
  ],
] as const satisfies readonly (readonly [string, Judged, RegExp])[])(
  'nobody is told when %s',
  ([, judged, why]) => {
    expect(consequenceOf(judged)).toEqual({
      action: 'keep',
      why: expect.stringMatching(why) as unknown,
    })
  },
)

test.for([
  ['there is no origin', { ...clear, origin: undefined }, /could not be found.*is asked/],
  [
    'the origin is almost sure enough',
    { ...clear, origin: { ip: '192.0.2.7', confidence: 0.699 } },
    /too uncertain.*is asked/,
  ],
  ['the operator wants to be surer', { ...clear, originConfidenceMin: 0.95 }, /too uncertain/],
] as const satisfies readonly (readonly [string, Judged, RegExp])[])(
  'the reporter is asked when %s',
  ([, judged, why]) => {
    expect(consequenceOf(judged)).toEqual({
      action: 'ask',
      why: expect.stringMatching(why) as unknown,
    })
  },
)

test('a network without a name is still told', () => {
  const { why } = consequenceOf({ ...clear, network: { ...network, name: null } })
  expect(why).toBe('The network answers for the origin and has an abuse contact.')
})

const silent = { ...network, contacts: [], abuse: null }

test.for([
  ['nobody is known for the origin', { ...clear, network: undefined }],
  ['the network has no contact', { ...clear, network: silent }],
] as const)('where %s, the registry is asked if it may be', ([, judged]) => {
  expect(consequenceOf({ ...judged, registry: 'unasked' })).toMatchObject({ action: 'look-up' })
  expect(consequenceOf({ ...judged, registry: 'off' })).toMatchObject({ action: 'keep' })
  expect(consequenceOf({ ...judged, registry: 'away' })).toEqual({
    action: 'keep',
    why: 'No registry could be asked who answers for the origin.',
  })
})

test('a registry that names nobody has the last word', () => {
  expect(consequenceOf({ ...clear, network: silent, registry: 'asked' })).toEqual({
    action: 'keep',
    why: 'No abuse contact is registered for 192.0.2.0/24 (Example Hosting One).',
  })
})

test.for([
  ['the origin is too uncertain', { ...clear, origin: { ip: '192.0.2.7', confidence: 0.699 } }],
  ['the verdict is open', { ...clear, verdict: verdict('undecided') }],
  ['a mail system wrote it', { ...clear, messageKind: 'dsn' }],
] as const)('no registry is asked when %s', ([, judged]) => {
  const unknown = { ...judged, network: undefined, registry: 'unasked' as const }
  expect(['keep', 'ask']).toContain(consequenceOf(unknown).action)
})
