import { expect, test } from 'vitest'
import { delistingCourse } from '../../../../src/verdict/lists/questions.ts'
import {
  englishReasons,
  jsonFooter,
  jsonHeader,
  listedJson,
  publicReasons,
  roundedReporters,
} from '../../../../src/verdict/lists/judge-candidate.ts'
import {
  type Listing,
  zoneHeader,
  zoneLine,
  zoneTypeOf,
} from '../../../../src/verdict/lists/list.ts'

const now = new Date('2026-11-20T12:00:00Z')
const entry: Listing = {
  list: 'addresses',
  name: '192.0.2.7',
  category: 'spam',
  since: new Date('2026-11-18T09:30:00Z'),
  until: new Date('2026-11-27T00:00:00Z'),
  times: 1,
  reportersAtLeast: 10,
  lastSeen: new Date('2026-11-20T00:00:00Z'),
  delistedAt: null,
  delistedReporters: null,
}
const edition = {
  list: 'addresses',
  zone: 'addresses.bl.example',
  publicUrl: 'https://spam.example/$a',
  madeAt: now,
  expiresAt: new Date('2026-11-23T12:00:00Z'),
} as const

test.for([
  [5, 0],
  [6, 6],
  [9, 6],
  [10, 10],
  [49, 20],
  [99, 50],
  [1e9, 1000],
] as const)('%d reporters are shown as %d', ([reporters, told]) => {
  expect(roundedReporters(reporters)).toBe(told)
})

test('reasons are sentences with days and rounded numbers, and nothing else', () => {
  expect(englishReasons(publicReasons({ ...entry, times: 2, category: 'phishing' }))).toEqual([
    'It was reported for phishing by at least 10 independent reporters.',
    'The last report came on 2026-11-20.',
    'This is its 2nd listing.',
    'It stays listed until 2026-11-27 if there are no new reports.',
  ])
  const times = [1, 3, 11, 12, 21, 112].map(
    (n) => englishReasons(publicReasons({ ...entry, times: n }))[2],
  )
  expect(times).toEqual([
    'It stays listed until 2026-11-27 if there are no new reports.',
    'This is its 3rd listing.',
    'This is its 11th listing.',
    'This is its 12th listing.',
    'This is its 21st listing.',
    'This is its 112th listing.',
  ])
})

test('a data set begins with its name, its validity and its test entry', () => {
  expect(zoneHeader(edition, 'ip4set').split('\n')).toEqual([
    '# The list "addresses" (ip4set), made 2026-11-20T12:00:00.000Z',
    '$SOA 600 ns.addresses.bl.example hostmaster.addresses.bl.example 1795176000 10m 5m 3d 600',
    '$NS 600 ns.addresses.bl.example',
    '$TTL 600',
    '$TIMESTAMP 0 2026:11:23:12:00:00',
    ':127.0.0.2:Reported for spam, see https://spam.example/$$a/lookup?q=$',
    '127.0.0.2',
    '',
  ])
  expect(zoneHeader(edition, 'ip6trie')).toContain('\n::ffff:7f00:2\n')
  expect(zoneHeader({ ...edition, list: 'hosts' }, 'dnset')).toContain('\ntest\n')
})

test.for([
  [entry, '192.0.2.7\n', 'ip4set'],
  [{ ...entry, name: '2001:db8::7' }, '2001:db8::7\n', 'ip6trie'],
  [{ ...entry, list: 'domains', name: 'bad.example' }, '.bad.example\n', 'dnset'],
  [{ ...entry, list: 'hosts', name: 'www.bad.example' }, 'www.bad.example\n', 'dnset'],
  [
    { ...entry, category: 'malware' },
    '192.0.2.7 :127.0.0.5:Reported for malware, see https://spam.example/$$a/lookup?q=$\n',
    'ip4set',
  ],
] as const)('the line of an entry (%#)', ([listing, line, type]) => {
  expect(zoneLine(listing, { ...edition, list: listing.list })).toBe(line)
  expect(zoneTypeOf(listing)).toBe(type)
})

test('a list as JSON is complete, empty or not', () => {
  const empty = JSON.parse(jsonHeader(edition) + jsonFooter) as object
  expect(empty).toMatchObject({
    list: 'addresses',
    generated_at: '2026-11-20T12:00:00.000Z',
    expires_at: '2026-11-23T12:00:00.000Z',
    codes: { spam: '127.0.0.2', phishing: '127.0.0.4', malware: '127.0.0.5' },
    entries: [],
  })
  const one = JSON.stringify(listedJson(entry))
  const full = JSON.parse(`${jsonHeader(edition)}\n${one}${jsonFooter}`) as object
  expect(full).toMatchObject({
    entries: [{ name: '192.0.2.7', code: '127.0.0.2', since: '2026-11-18', until: '2026-11-27' }],
  })
  expect(Object.keys(listedJson(entry)).join()).toBe(
    'list,name,category,code,since,until,times,reasons',
  )
})

const old = new Date('2026-11-17T12:00:00Z')
const many = { ...entry, reportersAtLeast: 20 }
test.for([
  ['few reporters', entry, 'at once'],
  ['many reporters, but long ago', { ...many, lastSeen: old }, 'at once'],
  [
    'many reporters lately',
    { ...many, lastSeen: new Date(old.getTime() + 1) },
    'to administrators',
  ],
  ['phishing', { ...entry, category: 'phishing' }, 'to administrators'],
  ['malware', { ...entry, category: 'malware' }, 'to administrators'],
  ['a second time', { ...entry, delistedAt: old }, 'to administrators'],
  ['an entry that ended', { ...entry, until: now }, 'not listed'],
  ['nothing', undefined, 'not listed'],
] as const)('a delisting request for %s is decided as expected', ([, listing, course]) => {
  expect(delistingCourse(listing, now)).toBe(course)
})
