import { expect, test } from 'vitest'
import {
  createFirstFilter,
  envelopeSubjects,
  flaggedVerdict,
} from '../../../src/judging/first-filter.ts'
import type { BlacklistEntry } from '../../../src/mail/dnsbl.ts'

const nothing = { helo: undefined, hostname: undefined, recipients: [], user: undefined }
const envelope = {
  ...nothing,
  ip: '203.0.113.9',
  returnPath: 'bounces@news.shop.co.uk',
  queueId: undefined,
}

test('an envelope counts against its client and the domain of its return path', () => {
  expect(envelopeSubjects(envelope)).toEqual([
    { kind: 'address', name: '203.0.113.9' },
    { kind: 'return-path-domain', name: 'news.shop.co.uk' },
    { kind: 'return-path-domain', name: 'shop.co.uk' },
  ])
  const registered = { ...envelope, ip: undefined, returnPath: 'Us@BÜCHER.example' }
  expect(envelopeSubjects(registered)).toEqual([
    { kind: 'return-path-domain', name: 'xn--bcher-kva.example' },
  ])
  expect(envelopeSubjects({ ...envelope, ip: undefined, returnPath: '' })).toEqual([])
  expect(envelopeSubjects({ ...envelope, user: 'ann' })).toEqual([])
})

test.for([
  ['nobody known is let on', [], [], undefined],
  ['a listed client needs no look at the message', ['listed'], [], 'spam'],
  ['so does a listed return path', [], ['listed'], 'spam'],
  ['but not from a client that is welcome', ['welcome'], ['listed'], undefined],
  ['nor from one that is exempt', ['listed', 'exempt'], [], undefined],
  ['a welcome return path excuses nobody: anybody may write it', ['listed'], ['welcome'], 'spam'],
  ['other flags say nothing', ['new'], ['awake'], undefined],
] as const)('%s', ([, ofClient, ofPath, expected]) => {
  const known = [{ flags: ofClient }, { flags: ofPath }]
  expect(flaggedVerdict(envelopeSubjects(envelope), known)?.class).toBe(expected)
})

const entry = (category: BlacklistEntry['category'], zone = 'bl.example') => {
  return { zone, subject: envelope.ip, codes: ['127.0.0.2'], category, meaning: 'It is listed.' }
}
const spam = [entry('spam')]

test.for([
  ['a blacklisted client', {}, { flags: [], score: 0 }, spam, 'blacklist'],
  ['a hijacked machine', {}, { flags: [], score: -0.3 }, [entry('compromised')], 'blacklist'],
  ['a client without an entry', {}, { flags: [], score: 0 }, [], undefined],
  ['a dynamic address', {}, { flags: [], score: 0 }, [entry('dynamic')], undefined],
  ['an entry against a welcome list', {}, {}, [...spam, entry('welcome', 'wl.example')], undefined],
  ['a welcome client', {}, { flags: ['welcome'], score: 0 }, spam, undefined],
  ['a client with a good reputation', {}, { flags: [], score: 0.5 }, spam, undefined],
  ['a mailbox provider', { hostname: 'mail-ed1-f41.google.com' }, {}, spam, undefined],
  ['a listed client', {}, { flags: ['listed'], score: -1 }, spam, 'reputation'],
] as const)('%s is settled by %5$s', async ([, more, client, listings, by]) => {
  const known = { flags: [], score: 0, ...client }
  const filter = createFirstFilter(
    (subjects) => Promise.resolve(subjects.map(() => known)),
    () => Promise.resolve(listings),
  )
  const { settled } = await filter({ ...envelope, ...more })
  expect(settled?.by).toBe(by)
  if (by) expect(settled?.verdict.symbols).toMatchObject([{ name: 'FIRST_FILTER' }])
})

test('blacklists are asked only about clients that the reputation does not settle', async () => {
  const asked: string[] = []
  const ask = (ip: string) => {
    asked.push(ip)
    return Promise.resolve(spam)
  }
  const filter = (flags: 'listed'[]) =>
    createFirstFilter((all) => Promise.resolve(all.map(() => ({ flags, score: 0 }))), ask)
  const notAsked = { settled: undefined, listings: null }
  expect(await filter([])({ ...envelope, user: 'ann' })).toEqual(notAsked)
  expect(await filter([])({ ...envelope, ip: undefined })).toEqual(notAsked)
  await filter(['listed'])(envelope)
  expect(asked).toEqual([])
  expect((await filter([])(envelope)).listings).toBe(spam)
  expect(asked).toEqual([envelope.ip])
})
