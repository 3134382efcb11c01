import { expect, test } from 'vitest'
import { phrase } from '../../../src/phrase.ts'
import type { RecognizedMarketer } from '../../../src/pieces/marketer.ts'
import { complaintOf, doubtOf } from '../../../src/verdict/complaint.ts'
import { consequenceOf, type Judged, markToAskAbout } from '../../../src/verdict/consequences.ts'
import type { Facts } from '../../../src/verdict/facts/fact.ts'
import { decide, type SymbolBasis, type VerdictSymbol } from '../../../src/verdict/verdict.ts'
import { bulk, list, verified, welcome } from '../../support/newsletter-facts.ts'

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
  complaint: {
    kind: 'spam',
    manner: 'plain',
    isRelayed: false,
    score: 3.5,
    scoreMin: 3.5,
    isConfirmed: false,
  },
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
  forwardScope: undefined,
  own: { addresses: ['feedback@signalpost.example'], domain: 'bounces.signalpost.example' },
}
const desk = (state: 'found' | 'enrolled' | 'paused') =>
  new Map([['abuse@hosting-one.example', { state, health: 'healthy' as const }]])
const onlyBelgium = { countries: ['BE'], asns: [], blocks: [] }
const deskAbroad = { ...clear, known: desk('enrolled'), forwardScope: onlyBelgium }
const verdict = (name: Judged['verdict']['class'], ...symbols: readonly VerdictSymbol[]) => {
  return { class: name, score: 5, symbols: symbols.length > 0 ? symbols : [sign('word', 5)] }
}
const complaint = (change: Partial<Judged['complaint']>) => ({ ...clear.complaint, ...change })
const marketer = {
  ...{ key: 'shop', name: 'Shop', by: 'signature' as const, proof: 'shop.example', feedback: null },
  why: [phrase('marketer-list-id', { listId: 'news.shop.example' })],
} satisfies RecognizedMarketer

test.for([
  ['a clear case', clear],
  ['a case just sure enough', { ...clear, origin: { ip: '192.0.2.7', confidence: 0.7 } }],
  ['phishing', { ...clear, verdict: verdict('phishing') }],
  ['malware', { ...clear, verdict: verdict('malware') }],
  ['a complaint about an undecided message', { ...clear, verdict: verdict('undecided') }],
  ['list mail that is clearly unwanted', { ...clear, complaint: complaint({ manner: 'list' }) }],
  [
    'a confirmed complaint about mail that looks wanted',
    { ...clear, complaint: complaint({ score: 1, isConfirmed: true }) },
  ],
  [
    'the mail of a marketer on a blacklist',
    { ...clear, marketer, verdict: verdict('spam', sign('way', 3), sign('content', 2)) },
  ],
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
  [
    'the reporter defends it',
    { ...clear, complaint: complaint({ kind: 'not-spam' }) },
    'said-not-spam',
  ],
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
    { ...clear, origin: undefined, complaint: complaint({ kind: 'not-spam' }) },
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
  ['the site forwards to another country only', deskAbroad, 'outside-scope'],
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
  ['it looks like wanted mail', { ...clear, complaint: complaint({ score: 0 }) }],
  ['a mail system wrote it', { ...clear, messageKind: 'dsn' }],
] as const)('no registry is queried when %s', ([, judged]) => {
  const unknown = { ...judged, network: undefined, registry: 'unasked' as const }
  expect(['keep', 'ask', 'confirm']).toContain(consequenceOf(unknown).action)
})

test.for([
  ['list', 'looks-like-list'],
  ['bulk', 'bulk-with-unsubscribe'],
] as const)('%s mail gets advice, and no one is accused', ([manner, why]) => {
  const judged = { ...clear, complaint: complaint({ manner, score: 3.4 }) }
  expect(consequenceOf(judged)).toEqual({
    action: 'advise',
    why: [phrase(why), phrase('no-complaint')],
  })
})

const service = {
  ...{ key: 'sends', name: 'Sends', by: 'signature' as const, proof: 'mail.sends.example' },
  ...{ feedback: 'abuse@sends.example', why: [phrase('origin-not-found')] },
} satisfies RecognizedMarketer
const bulkMail = { ...clear, service, verdict: verdict('marketing') }
const enrolledAs = (address: string) =>
  new Map([[address, { state: 'enrolled' as const, health: 'healthy' as const }]])
const byDomain = {
  known: enrolledAs('desk@sends.example'),
  scopes: [{ kind: 'domain' as const, value: 'sends.example', address: 'desk@sends.example' }],
}

test.for([
  ['its address enrolled', { known: enrolledAs('abuse@sends.example') }, 'advise'],
  ['a desk enrolled for its domain', byDomain, 'advise'],
  ['nobody enrolled', {}, 'forward'],
  ['its verdict is spam', { ...byDomain, verdict: verdict('spam') }, 'forward'],
  ['it looks like a reply', { ...byDomain, complaint: complaint({ manner: 'reply' }) }, 'forward'],
  ['its origin is unsure', { ...byDomain, origin: undefined }, 'ask'],
] as const)(
  'bulk mail of a mailing service goes to the service, or not: %s',
  ([, change, action]) => {
    const judged = { ...bulkMail, complaint: complaint({ manner: 'bulk' }), ...change }
    expect(consequenceOf(judged)).toMatchObject({ action })
  },
)

test.for([
  ['a reply', { manner: 'reply', score: 3.4 }, 'looks-like-reply'],
  ['mail that looks wanted', { score: 3.4 }, 'looks-wanted'],
  ['a receipt', { manner: 'receipt', score: 1 }, 'looks-like-receipt'],
  ['a correspondent', { isCorrespondent: true, score: 5.9 }, 'author-wanted-before'],
  [
    'bulk mail reported as phishing',
    { manner: 'bulk', kind: 'phishing', score: 1 },
    'looks-wanted',
  ],
] as const)('the reporter is asked to confirm a complaint about %s', ([, change, why]) => {
  const asked = consequenceOf({ ...clear, complaint: complaint(change) })
  expect(asked).toEqual({
    action: 'confirm',
    why: [phrase(why), phrase('confirmation-asked')],
  })
})

test.for([
  ['before', { score: 0.9 }],
  ['after', { score: 0.9, isConfirmed: true }],
] as const)('clearly wanted mail needs more reporters than one, %s the question', ([, change]) => {
  expect(consequenceOf({ ...clear, complaint: complaint(change) })).toEqual({
    action: 'keep',
    why: [phrase('looks-wanted'), phrase('others-needed')],
  })
})

test.for([
  ['bulk mail', { manner: 'bulk', score: 0 }, 'bulk'],
  ['list mail', { manner: 'list', score: 0 }, 'list'],
  ['bulk mail reported as phishing', { manner: 'bulk', kind: 'phishing', score: 0 }, 'unconfirmed'],
  ['mail that looks wanted', { score: 0 }, 'unconfirmed'],
  ['a confirmed complaint', { score: 1, isConfirmed: true }, undefined],
  ['a confirmed complaint about wanted mail', { score: 0.9, isConfirmed: true }, 'unconfirmed'],
  ['a correspondent, although clearly unwanted', { isCorrespondent: true, score: 6 }, undefined],
  ['clearly unwanted mail', {}, undefined],
  ['wanted mail', { kind: 'not-spam', score: 0 }, undefined],
] as const)('a statement about %s is doubted accordingly', ([, change, doubt]) => {
  expect(doubtOf(complaint(change))).toBe(doubt)
})

test.for([
  ['spam', 'advise'],
  ['phishing', 'keep'],
] as const)('complaints alone never accuse a marketer of %s', ([kind, action]) => {
  const known = [sign('word', 6), sign('known', 9), sign('content', 5), sign('model', 4)]
  const judged = { ...clear, marketer, verdict: verdict('spam', ...known) }
  const its = { ...judged, complaint: complaint({ kind, score: 20, isConfirmed: true }) }
  expect(consequenceOf(its)).toMatchObject({ action })
})

const judgedAs = (facts: Facts, symbols: readonly VerdictSymbol[]) => {
  return { facts, verdict: verdict('spam', ...symbols), isRelayed: false }
}
const said = { kind: 'spam', isConfirmed: false } as const

test('nobody is asked to confirm a complaint that would not be forwarded today', () => {
  const paceObstacle = phrase('reporter-paced', { count: 20 })
  const asked = { ...clear, complaint: complaint({ score: 0 }), paceObstacle }
  expect(consequenceOf(asked)).toEqual({ action: 'keep', why: [paceObstacle] })
})

test('a forwarder is not accused', () => {
  const judged = { ...clear, complaint: complaint({ isRelayed: true, scoreMin: 6 }) }
  const why = [phrase('looks-forwarded')]
  expect(consequenceOf({ ...judged, askable: [] })).toEqual({ action: 'keep', why })
  expect(consequenceOf(judged)).toMatchObject({ action: 'ask', about: ['192.0.2.10'] })
})

/** The consequence for a message at the first, second and third complaint about it. */
const actions = (facts: Facts, symbols: readonly VerdictSymbol[], change: Partial<Judged> = {}) =>
  [0, 1, 2].map((others) => {
    const seen = { campaign_reporters_weeks: others }
    const judged = judgedAs({ ...facts, seen }, symbols)
    const its = complaintOf(said, judged)
    return consequenceOf({ ...clear, verdict: judged.verdict, complaint: its, ...change }).action
  })
const newcomer = sign('word', 1.5)
const trusted = sign('word', 6)
const honest = [sign('content', -1.9), sign('way', -0.9)]

test.for<[string, Facts, readonly VerdictSymbol[], string[]]>([
  ['a newcomer alone', {}, [newcomer], ['keep', 'keep', 'forward']],
  ['a newcomer and content', {}, [newcomer, sign('content', 1.2)], Array(3).fill('forward')],
  [
    'a newcomer, a sign and another',
    {},
    [newcomer, sign('way', 0.5)],
    ['keep', 'forward', 'forward'],
  ],
  ['a trusted reporter', {}, [trusted], Array(3).fill('forward')],
  ['verified bulk mail', bulk, [newcomer, ...honest], ['advise', 'advise', 'forward']],
  ['verified bulk mail, trusted', bulk, [trusted, ...honest], ['advise', 'advise', 'forward']],
  [
    'the same, with signs',
    bulk,
    [newcomer, sign('content', 1.2), ...honest],
    Array(3).fill('forward'),
  ],
  ['welcome bulk mail', { ...bulk, ...welcome }, [newcomer, ...honest], Array(3).fill('advise')],
  ['list mail', list, [newcomer], Array(3).fill('advise')],
  [
    'a receipt',
    { ...verified, text: { receipt_words: 2 } },
    [newcomer],
    ['keep', 'keep', 'forward'],
  ],
  ['a doubted reporter', {}, [sign('word', 0.3)], ['keep', 'keep', 'forward']],
])('the first, second and third complaint: %s', ([, facts, symbols, expected]) => {
  expect(actions(facts, symbols)).toEqual(expected)
})

test('a spammer gains nothing by fields of bulk mail and of lists that nobody verified', () => {
  const disguised: Facts = {
    message: { has_list_unsubscribe: true, kind: 'message' },
    bulk: { ...list.bulk, one_click: true, precedence: 'bulk', unsubscribe_of_author: true },
    links: { has_unsubscribe: true },
    authentication: { checked: true, dkim_passes: 1, signers: ['other.example'] },
    origin: { rdns_organization: 'hosting.example' },
  }
  for (const symbols of [[newcomer], [trusted], [newcomer, sign('content', 1)]]) {
    expect(actions(disguised, symbols)).toEqual(actions({}, symbols))
  }
  const judged = judgedAs(disguised, [trusted])
  expect(
    decide({ facts: { ...disguised, report: { kind: 'spam' } }, symbols: [trusted] }),
  ).toMatchObject({
    class: 'spam',
  })
  expect(complaintOf(said, judged).manner).toBe('plain')
})

test('a confirmation of a new reporter is still the word of one person', () => {
  const judged = judgedAs({}, [newcomer, ...honest])
  const confirmed = complaintOf({ ...said, isConfirmed: true }, judged)
  expect(consequenceOf({ ...clear, complaint: confirmed })).toEqual({
    action: 'keep',
    why: [phrase('looks-wanted'), phrase('others-needed')],
  })
})

test('what is judged phishing never gets advice, whoever signed it', () => {
  const phishing = [newcomer, sign('way', 4), ...honest]
  const change = { verdict: verdict('phishing', ...phishing) }
  expect(actions(bulk, phishing, change)).toEqual(Array(3).fill('forward'))
  expect(actions(bulk, phishing, { ...change, marketer })).toEqual(Array(3).fill('forward'))
})

test('a simulation has an action of its own, whatever else speaks for a notice', () => {
  const why = [phrase('simulation')]
  const judged = {
    ...clear,
    effectObstacle: phrase('simulation'),
    simulationMark: 'gophish',
  } as const
  expect(consequenceOf(judged)).toEqual({ action: 'simulation', why })
})

test('marks of a simulation raise one question instead of a notice, and nothing else', () => {
  const marked = { ...clear, simulationMark: 'knowbe4' } as const
  const asked = {
    action: 'confirm',
    why: [phrase('simulation-marks', { vendor: 'KnowBe4' }), phrase('confirmation-asked')],
  }
  expect(consequenceOf(marked)).toEqual(asked)
  const confirmed = { ...marked, complaint: complaint({ isConfirmed: true }) }
  expect(consequenceOf(confirmed)).toMatchObject({ action: 'forward' })
  const proven = { ...marked, verdict: verdict('phishing', sign('way', 5)) }
  expect(consequenceOf(proven)).toMatchObject({ action: 'forward' })
  const doubtful = { ...marked, origin: undefined }
  expect(consequenceOf(doubtful)).toEqual(consequenceOf({ ...clear, origin: undefined }))
})

test('who reports marked mail after others is not asked', () => {
  const seen = (one: object) => ({ seen: one }) as unknown as Facts
  expect(markToAskAbout('gophish', seen({ campaign_reporters_weeks: 0 }))).toBe('gophish')
  expect(markToAskAbout('gophish', {})).toBe('gophish')
  expect(markToAskAbout('gophish', seen({ campaign_reporters_weeks: 1 }))).toBeUndefined()
  expect(markToAskAbout('gophish', seen({ text_reporters_weeks: 2 }))).toBeUndefined()
})
