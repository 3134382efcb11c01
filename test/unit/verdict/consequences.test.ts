import { expect, test } from 'vitest'
import { phrase } from '../../../src/phrase.ts'
import { consequenceOf, type Judged } from '../../../src/verdict/consequences.ts'
import type { SymbolBasis, VerdictSymbol } from '../../../src/verdict/verdict.ts'

const sign = (basis: SymbolBasis, weight: number): VerdictSymbol => {
  return { name: 'A_SIGN', weight, meaning: 'A sign of the test.', basis }
}
const unnamed = {
  cidr: '192.0.2.0/24',
  asn: 64496,
  name: 'Example Hosting One',
  country: 'FR',
  contacts: ['abuse@hosting-one.example'],
  abuse: 'abuse@hosting-one.example',
}
const network = { ...unnamed, deskName: 'Example Desk One' }
const muted = { ...network, abuse: null, isMuted: true } as const
const clear: Judged = {
  verdict: { class: 'spam', score: 5, symbols: [sign('word', 5)] },
  reportedAs: 'spam',
  isLearned: false,
  messageKind: 'message',
  origin: { ip: '192.0.2.7', confidence: 0.9 },
  originConfidenceMin: 0.7,
  askable: ['192.0.2.10'],
  network,
  registry: 'off',
  known: new Map(),
  requestedRecipients: [],
  scopes: [],
  disowned: new Set(),
  forwardTo: 'any',
  own: { addresses: ['feedback@signalpost.example'], domain: 'bounces.signalpost.example' },
}
const desk = (state: 'found' | 'enrolled' | 'paused') =>
  new Map([['abuse@hosting-one.example', { state, health: 'healthy' as const }]])
const verdict = (name: Judged['verdict']['class'], ...symbols: readonly VerdictSymbol[]) => {
  return { class: name, score: 5, symbols: symbols.length > 0 ? symbols : [sign('word', 5)] }
}
const evident = (word: number, way: number) =>
  verdict('spam', sign('word', word), sign('way', way), sign('content', 5), sign('known', -4))
const contentOnly = verdict('spam', sign('content', 5), sign('model', 5))

test.for([
  ['a clear case', clear],
  ['a case just sure enough', { ...clear, origin: { ip: '192.0.2.7', confidence: 0.7 } }],
  ['phishing', { ...clear, verdict: verdict('phishing') }],
  ['malware', { ...clear, verdict: verdict('malware') }],
  ['a word and a way that weigh just enough', { ...clear, verdict: evident(1, 1.5) }],
  ['a desk we have written to before', { ...clear, known: desk('found') }],
  ['an enrolled desk', { ...clear, known: desk('enrolled'), forwardTo: 'enrolled' }],
] as const satisfies readonly (readonly [string, Judged])[])(
  'the abuse desk is notified of %s',
  ([, judged]) => {
    expect(consequenceOf(judged)).toEqual({
      action: 'forward',
      to: 'abuse@hosting-one.example',
      why: [phrase('network-has-contact', { network: 'Example Desk One (192.0.2.0/24)' })],
    })
  },
)

test.for([
  ['the reporter defends it', { ...clear, reportedAs: 'not-spam' }, 'said-not-spam'],
  ['it looks like wanted mail', { ...clear, verdict: verdict('legitimate') }, 'looks-wanted'],
  ['a mail server learned it', { ...clear, isLearned: true }, 'learned-by-server'],
  ['content and the model alone accuse it', { ...clear, verdict: contentOnly }, 'content-only'],
  [
    'what is not content weighs a little less',
    { ...clear, verdict: evident(1, 1.4) },
    'content-only',
  ],
  ['the verdict is open', { ...clear, verdict: verdict('undecided') }, 'verdict-undecided'],
  ['it is a bounce', { ...clear, messageKind: 'dsn' }, 'automatic-mail'],
  ['it is a feedback report', { ...clear, messageKind: 'feedback-report' }, 'automatic-mail'],
  ['it is an automatic reply', { ...clear, messageKind: 'auto-reply' }, 'automatic-mail'],
  [
    'there is no origin, nor a machine to ask about',
    { ...clear, origin: undefined, askable: [] },
    'origin-not-found',
  ],
  [
    'the origin is almost sure enough, and the reporter has said all',
    { ...clear, origin: { ip: '192.0.2.7', confidence: 0.699 }, askable: [] },
    'origin-uncertain',
  ],
  [
    'the reporter defends what has no origin',
    { ...clear, origin: undefined, reportedAs: 'not-spam' },
    'said-not-spam',
  ],
  ['nobody answers for the origin', { ...clear, network: undefined }, 'network-unknown'],
  [
    'the network has no desk',
    { ...clear, network: { ...network, contacts: [], abuse: null } },
    'network-without-contact',
  ],
  [
    'an administrator said that nobody is to be written to',
    { ...clear, network: { ...muted, contacts: [] } },
    'network-muted',
  ],
  [
    'the desk would be the reporter',
    { ...clear, own: { addresses: network.contacts, domain: 'bounces.signalpost.example' } },
    'contact-is-own',
  ],
  ['the desk asked for a pause', { ...clear, known: desk('paused') }, 'desk-paused'],
  [
    'only enrolled desks are written to, and this one was found',
    { ...clear, known: desk('found'), forwardTo: 'enrolled' },
    'desk-not-enrolled',
  ],
  [
    'only enrolled desks are written to, and this one is new',
    { ...clear, forwardTo: 'enrolled' },
    'desk-not-enrolled',
  ],
] as const satisfies readonly (readonly [string, Judged, string])[])(
  'no one is notified when %s',
  ([, judged, why]) => {
    expect(consequenceOf(judged)).toEqual({
      action: 'keep',
      why: [{ code: why }],
    })
  },
)

test.for([
  ['there is no origin', { ...clear, origin: undefined }, 'origin-not-found'],
  [
    'the origin is almost sure enough',
    { ...clear, origin: { ip: '192.0.2.7', confidence: 0.699 } },
    'origin-uncertain',
  ],
  ['the operator wants to be surer', { ...clear, originConfidenceMin: 0.95 }, 'origin-uncertain'],
] as const satisfies readonly (readonly [string, Judged, string])[])(
  'the reporter is asked when %s',
  ([, judged, why]) => {
    expect(consequenceOf(judged)).toEqual({
      action: 'ask',
      why: [{ code: why }, { code: 'question-asked' }],
      about: ['192.0.2.10'],
    })
  },
)

test('a desk without a name from its own source is named by its block, not by another name', () => {
  const { why } = consequenceOf({ ...clear, network: unnamed })
  expect(why).toEqual([phrase('network-has-contact', { network: '192.0.2.0/24' })])
})

const silent = { ...network, contacts: [], abuse: null }

test.for([
  ['nobody is known for the origin', { ...clear, network: undefined }],
  ['the network has no contact', { ...clear, network: silent }],
] as const)('if %s, the registry is queried where allowed', ([, judged]) => {
  expect(consequenceOf({ ...judged, registry: 'unasked' })).toMatchObject({ action: 'look-up' })
  expect(consequenceOf({ ...judged, registry: 'off' })).toMatchObject({ action: 'keep' })
  expect(consequenceOf({ ...judged, registry: 'away' })).toEqual({
    action: 'keep',
    why: [{ code: 'registry-unreachable' }],
  })
})

test('a registry without a contact is final', () => {
  expect(consequenceOf({ ...clear, network: silent, registry: 'asked' })).toEqual({
    action: 'keep',
    why: [phrase('network-unregistered', { network: '192.0.2.0/24 (Example Hosting One)' })],
  })
})

test.for([
  ['the origin is too uncertain', { ...clear, origin: { ip: '192.0.2.7', confidence: 0.699 } }],
  ['the verdict is open', { ...clear, verdict: verdict('undecided') }],
  ['a mail system wrote it', { ...clear, messageKind: 'dsn' }],
] as const)('no registry is queried when %s', ([, judged]) => {
  const unknown = { ...judged, network: undefined, registry: 'unasked' as const }
  expect(['keep', 'ask']).toContain(consequenceOf(unknown).action)
})

test('marketing gets advice, and no one is accused', () => {
  const judged = { ...clear, verdict: verdict('marketing') }
  expect(consequenceOf(judged)).toMatchObject({ action: 'advise' })
  expect(consequenceOf({ ...judged, reportedAs: 'not-spam' })).toMatchObject({ action: 'keep' })
})
