import { expect, test } from 'vitest'
import { type AdviceCase, adviceOf, oneClickLink } from '../../../src/verdict/advice.ts'

const signature = { selector: 's', result: 'pass', why: 'unchanged' } as const
const marketer = {
  key: 'shop',
  name: 'Shop',
  by: 'signature' as const,
  proof: 'sends.example',
  feedback: null,
  why: [],
}
const link = 'https://news.example.org/off'
const bulk: AdviceCase = {
  verdict: { class: 'marketing' },
  reportedAs: 'spam',
  isLearned: false,
  messageKind: 'message',
  marketer: null,
  authentication: { dkim: [{ ...signature, domain: 'mail.example.org', aligned: true }] },
  unsubscribe: { https: link, mailto: null, oneClick: true },
}

test.for<[string, Partial<AdviceCase>, string]>([
  ['mail of a marketer', { marketer }, 'known marketer shop'],
  [
    'of a marketer whom many complain of',
    { marketer, verdict: { class: 'spam' } },
    'known marketer shop',
  ],
  ['honest bulk', {}, 'cautious signer example.org'],
])('%s gets advice', ([, change, expected]) => {
  const advice = adviceOf({ ...bulk, ...change })
  expect(`${advice?.kind} ${advice?.about}`).toBe(expected)
})

test.for<[string, Partial<AdviceCase>]>([
  ['spam', { verdict: { class: 'spam' } }],
  ['phishing', { verdict: { class: 'phishing' } }],
  ['phishing of a marketer', { marketer, verdict: { class: 'phishing' } }],
  ['malware of a marketer', { marketer, verdict: { class: 'malware' } }],
  ['what was reported as phishing', { marketer, reportedAs: 'phishing' }],
  ['what is no spam', { marketer, reportedAs: 'not-spam' }],
  ['what a server taught us', { marketer, isLearned: true }],
  ['mail of a mail system', { marketer, messageKind: 'dsn' }],
  ['what is undecided', { verdict: { class: 'undecided' } }],
  ['bulk without a signature', { authentication: { dkim: [] } }],
  ['bulk when nobody asked the DNS', { authentication: null }],
  [
    'bulk that a stranger signed',
    { authentication: { dkim: [{ ...signature, domain: 'a.example', aligned: false }] } },
  ],
  ['bulk that says no way out', { unsubscribe: null }],
])('%s gets no advice', ([, change]) => {
  expect(adviceOf({ ...bulk, ...change })).toBeUndefined()
})

const now = new Date('2026-11-22T00:00:00Z')
const age = { receivedAt: now, now }
const claims = { listId: null, authorDomain: null, oneClickSigners: ['mail.example.org'] }

test('one-click requires a link signed by the author’s organization', () => {
  expect(oneClickLink({ ...bulk, claims }, adviceOf(bulk), age)).toBe(link)
})

test('one-click requires a link signed by the marketer’s service', () => {
  const known = adviceOf({ ...bulk, marketer })
  const signed = { ...claims, oneClickSigners: ['sends.example'] }
  expect(oneClickLink({ ...bulk, claims: signed }, known, age)).toBe(link)
  expect(oneClickLink({ ...bulk, claims: signed }, adviceOf(bulk), age)).toBeUndefined()
})

test('a marketer recognized by range still needs a signature', () => {
  const byRange = { ...marketer, by: 'range' as const, proof: '192.0.2.0/24' }
  const known = adviceOf({ ...bulk, marketer: byRange })
  const none = { ...claims, oneClickSigners: [] }
  expect(oneClickLink({ ...bulk, claims: none }, known, age)).toBeUndefined()
  expect(oneClickLink({ ...bulk, claims }, known, age)).toBe(link)
})

test('one-click is not offered for old mail or without advice', () => {
  const old = { receivedAt: new Date('2026-09-22T00:00:00Z'), now }
  expect(oneClickLink({ ...bulk, claims }, adviceOf(bulk), old)).toBeUndefined()
  expect(oneClickLink({ ...bulk, claims }, undefined, age)).toBeUndefined()
})
