import { expect, test } from 'vitest'
import type { BlacklistEntry } from '../../../../src/mail/dnsbl.ts'
import {
  blacklistFacts,
  envelopeFacts,
  type KnownReputation,
  networkFacts,
  reportFacts,
  reputationFacts,
} from '../../../../src/verdict/facts/outside-facts.ts'

function listing(
  subject: string,
  category: BlacklistEntry['category'],
  zone = 'bl.example',
): BlacklistEntry {
  return { zone, subject, codes: ['127.0.0.2'], category, meaning: 'Listed.' }
}

test('the categories of the origin and of domains are distinguished', () => {
  const facts = blacklistFacts([listing('192.0.2.1', 'spam'), listing('bad.example', 'phishing')])
  expect(facts).toMatchObject({ origin_spam: true, has_phishing: true, domain_spam: false })
})

test('a welcome list is not a bad zone, and a zone counts once', () => {
  const facts = blacklistFacts([
    listing('192.0.2.1', 'welcome', 'white.example'),
    listing('192.0.2.1', 'spam'),
    listing('bad.example', 'malware'),
  ])
  expect(facts).toMatchObject({ origin_welcome: true, bad_zones: 1, zones: ['bl.example'] })
})

test('lists that were not queried do not count as clean', () => {
  expect(blacklistFacts(null)).toBeUndefined()
  expect(blacklistFacts([])).toMatchObject({ is_asked: true, bad_zones: 0 })
})

test.for([
  ['a literal', { helo: '[192.0.2.1]' }, { helo_literal: true, helo_bare: false }],
  ['an address', { helo: '192.0.2.1' }, { helo_literal: true }],
  ['a bare name', { helo: 'localhost' }, { helo_bare: true, helo_literal: false }],
  ['nothing', { helo: ' ' }, { helo_missing: true, helo_bare: false }],
  ['a host', { helo: 'mx.shop.example' }, { helo_missing: false, helo_bare: false }],
  ['a bounce', { returnPath: '<>' }, { return_path_empty: true, return_path_domain: '' }],
  ['no return path', {}, { return_path_empty: false, return_path_other_domain: false }],
  ['its own', { returnPath: 'b@Mail.Shop.example' }, { return_path_other_domain: false }],
  ['another', { returnPath: 'b@other.example' }, { return_path_other_domain: true }],
] as const)('an envelope with %s', ([, envelope, expected]) => {
  expect(envelopeFacts(envelope, 'shop.example')).toMatchObject(expected)
})

test('karma stays within its bounds', () => {
  expect(reportFacts({ kind: 'spam', karma: 7, channel: 'api' })?.karma).toBe(1)
  expect(reportFacts({ kind: 'spam', karma: -1, channel: 'api' })?.karma).toBe(0)
})

test('a network without a number or a name still counts as known', () => {
  expect(networkFacts({ asn: null, name: null, country: null })).toEqual({
    is_known: true,
    asn: 0,
    name: '',
    country: '',
  })
})

const now = new Date('2026-11-20T00:00:00Z')

function known(kind: string, score: number, more: Partial<KnownReputation> = {}): KnownReputation {
  return { kind, score, weight: 3, flags: [], firstSeenAt: null, ...more }
}

test('of several of a kind the worst counts', () => {
  const facts = reputationFacts([known('link', 0.5), known('link', -0.9), known('link', 0)], now)
  expect(facts).toMatchObject({ link_score: -0.9, known: 3 })
})

test('the weight of the worst is that of its evidence', () => {
  const sure = reputationFacts([known('file', -0.8, { weight: 97 })], now)
  const unsure = reputationFacts([known('file', -0.8, { weight: 1 })], now)
  expect(sure).toMatchObject({ worst: -0.776, best: 0 })
  expect(unsure).toMatchObject({ worst: -0.2 })
})

test('flags are listed with their subject, in order', () => {
  const facts = reputationFacts(
    [known('phone', 0, { flags: ['new'] }), known('link-host', -1, { flags: ['listed', 'odd'] })],
    now,
  )
  expect(facts).toMatchObject({
    any_listed: true,
    any_new: true,
    flagged: ['link_host:listed', 'phone:new'],
  })
  expect(facts).not.toHaveProperty('any_odd')
})

test('the age of a subject is given in days', () => {
  const firstSeenAt = new Date('2026-11-08T12:00:00Z')
  expect(reputationFacts([known('author', 0, { firstSeenAt })], now)).toMatchObject({
    author_known_days: 11.5,
  })
})

test('an unknown subject is not the same as a neutral one', () => {
  expect(reputationFacts([known('link', 0, { weight: 0 })], now)).toMatchObject({ known: 0 })
  expect(reputationFacts([known('moon', -1)], now)).toMatchObject({ known: 0, worst: 0 })
  expect(reputationFacts([], now)).toBeUndefined()
})
