import { expect, test } from 'vitest'
import {
  type OtherAddress,
  otherAddresses,
  type KnownContact,
  type ScopeMatch,
} from '../../../src/verdict/choose-contact.ts'
import {
  additionalRecipients,
  consequenceOf,
  type Judged,
} from '../../../src/verdict/consequences.ts'
import { answersForBlock, readScopes } from '../../../src/verdict/consumers.ts'
import {
  healthyRecord,
  mayNotify,
  type ConsumerStanding,
} from '../../../src/verdict/contact-health.ts'
import { phrase } from '../../../src/phrase.ts'
import type { VerdictSymbol } from '../../../src/verdict/verdict.ts'

const word: VerdictSymbol = { name: 'A_SIGN', weight: 5, meaning: 'A sign.', basis: 'word' }
const enrolled: KnownContact = { state: 'enrolled', health: 'healthy' }
const how = { keepsTokens: false, why: phrase('author-takes-complaints') }
const cfbl: OtherAddress = { ...how, address: 'fbl@shop.example', source: 'cfbl', format: 'arf' }
const brand: ScopeMatch = { kind: 'domain', value: 'shop.example', address: 'b@shop.example' }
const close: ScopeMatch = { kind: 'range', value: '192.0.2.0/28', address: 'close@desk.example' }
const wide: ScopeMatch = { kind: 'range', value: '192.0.2.0/24', address: 'wide@desk.example' }
const system: ScopeMatch = { kind: 'as', value: '64496', address: 'as@desk.example' }

const clear: Judged = {
  verdict: { class: 'spam', score: 5, symbols: [word] },
  complaint: {
    kind: 'spam',
    manner: 'plain',
    isRelayed: false,
    score: 5,
    scoreMin: 1,
    isConfirmed: false,
  },
  isLearned: false,
  messageKind: 'message',
  origin: { ip: '192.0.2.7', confidence: 0.9 },
  originConfidenceMin: 0.7,
  askable: [],
  network: {
    ...{ cidr: '192.0.2.0/24', asn: 64496, name: null, country: null },
    ...{ abuse: 'abuse@found.example', contacts: ['abuse@found.example'] },
  },
  registry: 'off',
  known: new Map(
    ['b@shop.example', 'close@desk.example', 'wide@desk.example', 'as@desk.example'].map(
      (address) => [address, enrolled],
    ),
  ),
  requestedRecipients: [],
  scopes: [],
  disowned: new Set(),
  forwardTo: 'any',
  forwardScope: undefined,
  own: { addresses: ['feedback@us.example', 'ann@home.example'], domain: 'bounces.us.example' },
}
const verdict = (name: Judged['verdict']['class']) => ({ ...clear.verdict, class: name })
const complaint = (change: Partial<Judged['complaint']>) => ({ ...clear.complaint, ...change })
const knowing = (address: string, contact: KnownContact) =>
  new Map([...clear.known, [address, contact]])

/** Returns all recipients, the desk of the network first. */
function told(change: Partial<Judged>): string[] {
  const judged = { ...clear, ...change }
  const consequence = consequenceOf(judged)
  const also = additionalRecipients(judged, consequence).map(({ address }) => address)
  return consequence.action === 'forward' ? [consequence.to, ...also] : also
}

test.for<[string, Partial<Judged>, string[]]>([
  ['the contact of the tables', {}, ['abuse@found.example']],
  ['in its place who enrolled for the block', { scopes: [wide] }, ['wide@desk.example']],
  [
    'the closest first, and all who enrolled',
    { scopes: [system, wide, close] },
    ['close@desk.example', 'wide@desk.example', 'as@desk.example'],
  ],
  [
    'an enrolled desk even where no table knows the network',
    { scopes: [wide], network: undefined },
    ['wide@desk.example'],
  ],
  [
    'besides it, who enrolled for a domain and whom the message names',
    { scopes: [brand], requestedRecipients: [cfbl] },
    ['abuse@found.example', 'fbl@shop.example', 'b@shop.example'],
  ],
  [
    'each address once',
    { requestedRecipients: [cfbl, { ...cfbl, address: 'Abuse@found.example' }, cfbl] },
    ['abuse@found.example', 'fbl@shop.example'],
  ],
  [
    'whom the message names, of mail in bulk that accuses nobody',
    { requestedRecipients: [cfbl], complaint: complaint({ manner: 'bulk', score: 0 }) },
    ['fbl@shop.example'],
  ],
  [
    'no tables’ contact when the desk that enrolled paused',
    { scopes: [wide], known: knowing('wide@desk.example', { ...enrolled, state: 'paused' }) },
    [],
  ],
  [
    'the tables’ contact when mail to the desk that enrolled comes back',
    { scopes: [wide], known: knowing('wide@desk.example', { ...enrolled, health: 'dead' }) },
    ['abuse@found.example'],
  ],
  [
    'the tables’ contact when the desk that enrolled said that it is not its network',
    { scopes: [wide], disowned: new Set(['wide@desk.example']) },
    ['abuse@found.example'],
  ],
  [
    'none when a new reporter has sent more than the daily number',
    {
      scopes: [wide, brand],
      requestedRecipients: [cfbl],
      paceObstacle: phrase('reporter-paced', { count: 20 }),
    },
    [],
  ],
])('the recipient is %s', ([, change, expected]) => {
  expect(told(change)).toEqual(expected)
})

test.for<[string, Partial<Judged>]>([
  ['the reporter defends it', { complaint: complaint({ kind: 'not-spam' }) }],
  ['a mail server learned it', { isLearned: true }],
  ['a mail system wrote it', { messageKind: 'dsn' }],
  ['it looks like wanted mail', { complaint: complaint({ score: 0 }) }],
  ['its origin is not sure', { origin: { ip: '192.0.2.7', confidence: 0.6 } }],
  ['the reporter is asked', { origin: undefined, askable: ['192.0.2.9'] }],
  ['it is phishing that names its own address', { verdict: verdict('phishing') }],
  ['it is reported as phishing', { complaint: complaint({ kind: 'phishing' }) }],
  ['only enrolled ones are told', { forwardTo: 'enrolled' }],
  [
    'its network is outside of the scope of the site',
    { forwardScope: { countries: ['FR'], asns: [], blocks: [] }, network: undefined },
  ],
  [
    'the address stopped',
    { known: knowing('fbl@shop.example', { state: 'stopped', health: 'healthy' }) },
  ],
  [
    'the address is suppressed',
    { known: knowing('fbl@shop.example', { state: 'found', health: 'healthy', isMuted: true }) },
  ],
  [
    'the address is the reporter’s',
    { requestedRecipients: [{ ...cfbl, address: 'Ann@home.example' }] },
  ],
  ['the address is ours', { requestedRecipients: [{ ...cfbl, address: 'x@bounces.us.example' }] }],
])('a recipient named by the message is not notified when %s', ([, change]) => {
  expect(told({ requestedRecipients: [cfbl], ...change })).not.toContain(
    change.requestedRecipients?.[0]?.address ?? cfbl.address,
  )
})

test('a marketer gets its tokens back only by its own signature, and is listed once', () => {
  const marketer = { key: 'shop', name: 'Shop', proof: 'shop.example', why: [] }
  const address = 'fbl@shop.example'
  const by = (its: 'signature' | 'range') =>
    otherAddresses({
      cfbl: null,
      service: null,
      marketer: { ...marketer, by: its, feedback: address },
    })
  expect(by('signature')).toMatchObject([{ address, keepsTokens: true, source: 'marketer' }])
  expect(by('range')).toMatchObject([{ address, keepsTokens: false }])
  const silent = { ...marketer, by: 'signature' as const, feedback: null }
  expect(otherAddresses({ cfbl: null, service: null, marketer: silent })).toEqual([])
  const service = { ...marketer, by: 'signature' as const, feedback: 'abuse@sends.example' }
  expect(otherAddresses({ cfbl: null, marketer: null, service })).toMatchObject([
    { address: 'abuse@sends.example', mustEnroll: true },
  ])
  const both = [...by('signature'), { ...cfbl, address }]
  const bulk = complaint({ manner: 'bulk', score: 0 })
  expect(told({ requestedRecipients: both, complaint: bulk })).toEqual([address])
})

const now = new Date('2026-11-22T10:00:00Z')
const later = new Date('2026-11-23T10:00:00Z')
const standing: ConsumerStanding = {
  ...healthyRecord,
  ...{ state: 'enrolled', pausedUntil: null, enrolledAt: now, takes: null },
}

test.for<[string, Partial<ConsumerStanding>, Parameters<typeof mayNotify>[1], string]>([
  ['one that enrolled', {}, undefined, 'yes'],
  ['one that was found', { state: 'found', enrolledAt: null }, undefined, 'yes'],
  ['one whose pause is over', { state: 'paused', pausedUntil: now }, undefined, 'yes'],
  ['one that paused', { state: 'paused', pausedUntil: later }, undefined, 'later'],
  ['one that paused until it says so', { state: 'paused' }, undefined, 'later'],
  ['one that stopped', { state: 'stopped' }, undefined, 'never'],
  ['one that complained', {}, { reason: 'complaint' }, 'never'],
  ['one whose mail comes back', { health: 'dead', healthUntil: later }, undefined, 'bouncing'],
  ['one suppressed for bounces', {}, { reason: 'soft-bounces' }, 'bouncing'],
])('whether %s may be notified now', ([, change, suppression, expected]) => {
  expect(mayNotify({ ...standing, ...change }, suppression, now).is).toBe(expected)
})

const layer = {
  ...{ cidr: '192.0.2.0/24', source: 'a', asn: 64496, name: null, country: null },
  ...{ contacts: ['abuse@desk.example'], isMuted: false, importedAt: now, expiresAt: null },
}

test.for<[string, (typeof layer)[], boolean]>([
  ['it is its contact', [layer], true],
  ['a part of it names it too', [layer, { ...layer, cidr: '192.0.2.128/25' }], true],
  ['nobody is', [], false],
  ['another is', [{ ...layer, contacts: ['abuse@other.example'] }], false],
  [
    'a part is another’s',
    [layer, { ...layer, cidr: '192.0.2.128/25', contacts: ['abuse@other.example'] }],
    false,
  ],
  ['a part is of another AS', [layer, { ...layer, cidr: '192.0.2.0/28', asn: 64500 }], false],
  [
    'nobody is to be written to',
    [{ ...layer, source: 'manual', contacts: [], isMuted: true }, layer],
    false,
  ],
  ['only a part is its', [{ ...layer, cidr: '192.0.2.0/25' }], false],
])('whether an address answers for a block when %s', ([, layers, expected]) => {
  expect(answersForBlock('Abuse@desk.example', '192.0.2.0/24', layers)).toBe(expected)
})

test('scopes can be written in the usual ways', () => {
  expect(
    readScopes('192.0.2.7/24, as64496;\n2001:db8::/32 Shop.example 192.0.2.0-192.0.2.255'),
  ).toEqual([
    { kind: 'range', value: '192.0.2.0/24' },
    { kind: 'as', value: '64496' },
    { kind: 'range', value: '2001:db8:0:0:0:0:0:0/32' },
    { kind: 'domain', value: 'shop.example' },
  ])
  expect(readScopes('0.0.0.0/0 com AS0 as99999999999 <b>')).toMatchObject({ faults: { length: 3 } })
  expect(readScopes('192.0.2.1 '.repeat(500))).toMatchObject({ faults: ['…'] })
})
