import { expect, test } from 'vitest'
import {
  judgeCandidate,
  lifetimeDays,
  type Unlisted,
  whyEnded,
} from '../../../../src/verdict/lists/judge-candidate.ts'
import type { ListCandidate, Listing } from '../../../../src/verdict/lists/list.ts'

const now = new Date('2026-11-20T12:00:00Z')
const own = ['spam.ours.example', 'ours.example']
const here = { now, own, isExempted: false }

/** A candidate whose evidence just reaches every minimum. */
const bad: ListCandidate = {
  kind: 'address',
  name: '192.0.2.7',
  score: 0.73,
  weight: 8.1,
  independentReporters: 6,
  lastSeen: new Date('2026-11-20T11:00:00Z'),
  flags: [],
}
const domain = { ...bad, kind: 'link-domain', name: 'bad-shop.example' } as const
const host = { ...bad, kind: 'link-host', name: 'www.bad-shop.example' } as const

function listed(candidate: ListCandidate, former?: Listing, at = now): Listing {
  const judgment = judgeCandidate(candidate, former, { ...here, now: at })
  if (typeof judgment === 'string') throw new Error(judgment)
  return judgment
}

test('a subject with just enough evidence is listed, with days and a rounded number', () => {
  expect(listed(bad)).toEqual({
    list: 'addresses',
    name: '192.0.2.7',
    category: 'spam',
    since: now,
    until: new Date('2026-11-27T00:00:00Z'),
    times: 1,
    reportersAtLeast: 6,
    lastSeen: new Date('2026-11-20T00:00:00Z'),
    delistedAt: null,
    delistedReporters: null,
  })
  expect(listed(domain).list).toBe('domains')
  expect(listed(host).list).toBe('hosts')
})

test.for<[string, Partial<ListCandidate>, Unlisted]>([
  ['reporters', { independentReporters: 5 }, 'few reporters'],
  ['weight', { weight: 8.09 }, 'little weight'],
  ['score', { score: 0.729 }, 'low score'],
])('a little less %s is not enough', ([, less, why]) => {
  expect(judgeCandidate({ ...bad, ...less }, undefined, here)).toBe(why)
})

test.for<[string, ListCandidate, Unlisted]>([
  ['a network', { ...bad, kind: 'network', name: '192.0.2.0/24' }, 'no list for it'],
  ['an AS', { ...bad, kind: 'autonomous-system', name: '64500' }, 'no list for it'],
  ['an author', { ...bad, kind: 'author', name: 'a@bad.example' }, 'no list for it'],
  ['a signer, who may sign for many', { ...domain, kind: 'signer' }, 'no list for it'],
  ['a return path', { ...domain, kind: 'return-path-domain' }, 'no list for it'],
  ['what is welcome', { ...bad, flags: ['welcome'] }, 'exempt'],
  ['what an administrator exempts', { ...bad, flags: ['exempt'] }, 'exempt'],
])('%s is never listed', ([, candidate, why]) => {
  expect(judgeCandidate(candidate, undefined, here)).toBe(why)
})

test('an exemption from the lists protects, whatever the evidence', () => {
  const sure = { ...bad, score: 1, weight: 1e6, independentReporters: 1e6 }
  expect(judgeCandidate(sure, undefined, { ...here, isExempted: true })).toBe('exempt')
})

test.for([
  [0, 0, 'spam'],
  [2, 2, 'spam'],
  [3, 0, 'phishing'],
  [32, 2, 'phishing'],
  [3, 3, 'malware'],
] as const)('%d reporters of danger, %d of malware make the entry %s', (row) => {
  const [phishing, malware, category] = row
  expect(listed({ ...bad, dangers: { phishing, malware } }).category).toBe(category)
})

test('an entry keeps its category while two reporters of danger are left', () => {
  const first = listed({ ...bad, dangers: { phishing: 5, malware: 3 } })
  const left = (phishing: number, malware: number, former = first) =>
    listed({ ...bad, dangers: { phishing, malware } }, former)
  expect(left(2, 2)).toBe(first)
  expect(left(2, 1).category).toBe('phishing')
  expect(left(1, 1).category).toBe('spam')
  expect(left(2, 2, { ...first, category: 'spam' }).category).toBe('spam')
  expect(left(2, 2, { ...first, category: 'phishing' }).category).toBe('phishing')
})

test('the more often it was listed, the longer it is listed, up to 90 days', () => {
  expect([1, 2, 3, 4, 5, 6, 5_000].map(lifetimeDays)).toEqual([7, 14, 28, 56, 90, 90, 90])
})

test('new reports on the same day change nothing, those on another day renew the entry', () => {
  const first = listed(bad)
  const later = { ...bad, lastSeen: new Date('2026-11-20T11:59:00Z'), independentReporters: 9 }
  expect(judgeCandidate(later, first, here)).toBe(first)
  const nextDay = { ...bad, lastSeen: new Date('2026-11-21T01:00:00Z') }
  const renewed = listed(nextDay, first, new Date('2026-11-21T02:00:00Z'))
  expect(renewed).toMatchObject({ since: now, times: 1, until: new Date('2026-11-28T00:00:00Z') })
})

test('an ended entry comes back only with new reports, and then for longer', () => {
  const first = listed(bad)
  const after = new Date('2026-11-28T00:00:00Z')
  expect(judgeCandidate(bad, first, { ...here, now: after })).toBe('nothing new')
  const news = { ...bad, lastSeen: new Date('2026-11-27T23:00:00Z') }
  expect(listed(news, first, after)).toMatchObject({
    since: after,
    times: 2,
    until: new Date('2026-12-11T00:00:00Z'),
  })
})

test('a subject last seen longer ago than an entry lasts is not listed', () => {
  const last = { ...bad, lastSeen: new Date('2026-11-14T00:00:00Z') }
  expect(listed(last).until).toEqual(new Date('2026-11-21T00:00:00Z'))
  const old = { ...bad, lastSeen: new Date('2026-11-13T23:59:59Z') }
  expect(judgeCandidate(old, undefined, here)).toBe('nothing new')
})

test('a delisted name comes back by three new reporters, not by what was known', () => {
  const entry = listed(bad)
  const at = new Date('2026-11-20T13:00:00Z')
  const delisted = { ...entry, until: at, delistedAt: at, delistedReporters: 5 }
  const soon = { ...here, now: new Date('2026-11-20T14:00:00Z') }
  expect(judgeCandidate(bad, delisted, soon)).toBe('delisted')
  const one = { ...bad, lastSeen: new Date('2026-11-20T13:30:00Z') }
  expect(judgeCandidate({ ...one, independentReporters: 7.9 }, delisted, soon)).toBe('delisted')
  expect(judgeCandidate({ ...one, independentReporters: 8 }, delisted, soon)).toMatchObject({
    times: 2,
    delistedAt: at,
  })
})

test('old evidence fades: after a month half of it is forgotten', () => {
  const at = new Date('2026-11-20T13:00:00Z')
  const delisted = { ...listed(bad), until: at, delistedAt: at, delistedReporters: 10 }
  const later = { ...here, now: new Date('2026-12-20T13:00:00Z') }
  const news = { ...bad, lastSeen: new Date('2026-12-20T12:00:00Z') }
  const judged = (independentReporters: number) =>
    judgeCandidate({ ...news, independentReporters }, delisted, later)
  expect(judged(7.9)).toBe('delisted')
  expect(judged(8.1)).toMatchObject({ times: 2 })
})

test.for<[string, ListCandidate | undefined, boolean, Unlisted | undefined]>([
  ['stays with less evidence than it took', { ...bad, score: 0.6, weight: 4 }, false, undefined],
  ['goes when the score is too low', { ...bad, score: 0.59 }, false, 'low score'],
  ['goes when the evidence faded', { ...bad, weight: 3.9 }, false, 'little weight'],
  ['goes when nothing is known any more', undefined, false, 'little weight'],
  ['goes when it is welcome now', { ...bad, flags: ['welcome'] }, false, 'exempt'],
  ['goes when it is exempted', bad, true, 'exempt'],
  ['goes when it is ours now', { ...host, name: 'www.ours.example' }, false, 'our own'],
])('an entry %s', ([, candidate, isExempted, why]) => {
  const list = candidate?.kind === 'link-host' ? 'hosts' : 'addresses'
  expect(whyEnded({ list }, candidate, { ...here, isExempted })).toBe(why)
})
