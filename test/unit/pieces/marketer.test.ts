import { expect, test } from 'vitest'
import { phrase } from '../../../src/phrase.ts'
import type { DkimFinding } from '../../../src/origin/authenticity/dkim.ts'
import {
  createMarketerBook,
  type MarketerEvidence,
  type MarketerMarks,
} from '../../../src/pieces/marketer.ts'
import { expectEffort } from '../../support/effort.ts'

const none = {
  kind: 'marketer' as const,
  signers: [],
  ranges: [],
  listIds: [],
  authors: [],
  feedback: null,
}
const marketers: MarketerMarks[] = [
  { ...none, key: 'shop', name: 'Shop', signers: ['shop.example', '*.mail.shop.example'] },
  { ...none, key: 'post', name: 'Post', ranges: ['192.0.2.0/25', '2001:db8:7::/48'] },
  {
    ...none,
    key: 'news',
    name: 'News',
    ranges: ['198.51.100.0/24'],
    listIds: ['news.paper.example'],
  },
  {
    ...none,
    key: 'club',
    name: 'Club',
    signers: ['sends.example'],
    authors: ['club.example', '*.club.example'],
  },
  {
    ...none,
    key: 'guild',
    name: 'Guild',
    signers: ['sends.example'],
    listIds: ['*.guild.example'],
  },
  {
    ...none,
    kind: 'service',
    key: 'sends',
    name: 'Sends',
    signers: ['sends.example', '*.sends.example'],
    feedback: 'abuse@sends.example',
  },
]
const book = createMarketerBook(marketers)

function signature(domain: string, more: Partial<DkimFinding> = {}): DkimFinding {
  return { domain, selector: 's1', result: 'pass', aligned: true, why: 'unchanged', ...more }
}

function evidence(more: Partial<MarketerEvidence> & { dkim?: DkimFinding[] } = {}) {
  const { dkim = [], ...rest } = more
  const authentication: MarketerEvidence['authentication'] = { spf: null, dkim }
  return { authentication, origin: null, listId: null, authorDomain: null, ...rest }
}

function keyOf(seen: MarketerEvidence): string | undefined {
  return book.recognize(seen, 0.75).marketer?.key
}

const sure = (ip: string) => ({ origin: { ip, confidence: 0.9 } })

test.for<[string, MarketerEvidence, string | undefined]>([
  ['a verified signature of its own', evidence({ dkim: [signature('shop.example')] }), 'shop'],
  [
    'one of a name below, where that was declared',
    evidence({ dkim: [signature('a.b.mail.shop.example')] }),
    'shop',
  ],
  ['an address in its range', evidence(sure('192.0.2.127')), 'post'],
  ['an IPv6 address in its range', evidence(sure('2001:db8:7:ffff::1')), 'post'],
  [
    'a range with its List-Id',
    evidence({ ...sure('198.51.100.9'), listId: 'news.paper.example' }),
    'news',
  ],
  [
    'a shared signer with an author who signed too',
    evidence({
      dkim: [signature('club.example'), signature('sends.example', { aligned: false })],
      authorDomain: 'club.example',
    }),
    'club',
  ],
  [
    'a shared signer with a List-Id below its own',
    evidence({ dkim: [signature('sends.example', { aligned: false })], listId: 'x.guild.example' }),
    'guild',
  ],
])('a marketer is recognized by %s', ([, seen, key]) => {
  expect(keyOf(seen)).toBe(key)
})

test.for<[string, MarketerEvidence]>([
  ['a signature that failed', evidence({ dkim: [signature('shop.example', { result: 'fail' })] })],
  [
    'one whose key could not be asked for',
    evidence({ dkim: [signature('shop.example', { result: 'temperror' })] }),
  ],
  [
    'one that covers too little',
    evidence({ dkim: [signature('shop.example', { result: 'policy' })] }),
  ],
  ['a name below that was not declared', evidence({ dkim: [signature('a.shop.example')] })],
  ['the name above a wildcard', evidence({ dkim: [signature('mail.shop.example')] })],
  ['a name that only ends alike', evidence({ dkim: [signature('evil-shop.example')] })],
  ['its name in front of another', evidence({ dkim: [signature('shop.example.evil.example')] })],
  ['the From alone', evidence({ authorDomain: 'shop.example' })],
  ['the List-Id alone', evidence({ listId: 'news.paper.example' })],
  ['a range alone, where a List-Id narrows it', evidence(sure('198.51.100.9'))],
  ['the wrong List-Id', evidence({ ...sure('198.51.100.9'), listId: 'news.paper.example.evil' })],
  ['an address beside its range', evidence(sure('192.0.2.128'))],
  ['an origin that is not sure', evidence({ origin: { ip: '192.0.2.1', confidence: 0.74 } })],
  ['a shared signer alone', evidence({ dkim: [signature('sends.example', { aligned: false })] })],
  [
    'a shared signer with a From that nobody vouches for',
    evidence({
      dkim: [signature('sends.example', { aligned: false })],
      authorDomain: 'club.example',
    }),
  ],
  [
    'a signature when the DNS was not asked',
    { ...evidence({ authorDomain: 'shop.example' }), authentication: null },
  ],
])('a marketer is not recognized by %s', ([, seen]) => {
  expect(keyOf(seen)).toBeUndefined()
})

test('SPF also proves the author, but only of exactly that domain', () => {
  const spf = { ip: '203.0.113.1', result: 'pass' as const, domain: 'club.example' }
  const dkim = [signature('sends.example', { aligned: false })]
  const of = (domain: string) => ({
    ...evidence({ authorDomain: 'club.example' }),
    authentication: { spf: { ...spf, domain }, dkim },
  })
  expect(keyOf(of('club.example'))).toBe('club')
  expect(keyOf(of('sends.example'))).toBeUndefined()
})

test('the reason for a recognition is the same each time', () => {
  const seen = evidence({ dkim: [signature('shop.example')], ...sure('192.0.2.1') })
  expect(book.recognize(seen, 0.75)).toEqual({
    marketer: {
      key: 'shop',
      name: 'Shop',
      by: 'signature',
      proof: 'shop.example',
      feedback: null,
      why: [phrase('marketer-signature', { domain: 'shop.example', marketer: 'Shop' })],
    },
    service: null,
  })
})

test('a service is recognized by a verified signature, beside its marketer', () => {
  const by = (dkim: DkimFinding[], more: Partial<MarketerEvidence> = {}) =>
    book.recognize(evidence({ dkim, ...more }), 0.75)
  const foreign = { aligned: false }
  expect(by([signature('u1.sends.example', foreign), signature('shop.example')])).toMatchObject({
    marketer: { key: 'shop' },
    service: {
      key: 'sends',
      proof: 'u1.sends.example',
      feedback: 'abuse@sends.example',
      why: [phrase('service-signature', { domain: 'u1.sends.example', service: 'Sends' })],
    },
  })
  const unknown = by([signature('sends.example', foreign), signature('nobody.example')])
  expect(unknown).toMatchObject({ marketer: null, service: { key: 'sends' } })
  const claims = { listId: 'news.sends.example', authorDomain: 'sends.example' }
  for (const result of ['fail', 'temperror', 'neutral'] as const) {
    expect(by([signature('sends.example', { result })], claims).service).toBeNull()
  }
  const nothing = book.recognize({ ...evidence(claims), authentication: null }, 0.75)
  expect(nothing.service).toBeNull()
})

const nobody = { marketer: null, service: null }

test('malformed input is not recognized, and does not throw', () => {
  const odd = createMarketerBook([{ ...none, key: 'odd', name: 'Odd', ranges: ['no range', ''] }])
  expect(odd.recognize(evidence({ origin: { ip: 'x', confidence: 1 } }), 0.75)).toEqual(nobody)
  expect(odd.recognize(evidence(sure('192.0.2.1')), 0.75)).toEqual(nobody)
})

test('recognition takes little time, however many marketers there are', async () => {
  const many = Array.from({ length: 10_000 }, (_, at): MarketerMarks => {
    const block = `10.${at >> 8}.${at & 255}.0/24`
    const name = `m${at}.example`
    return { ...none, key: `m${at}`, name, signers: [name, `*.${name}`], ranges: [block] }
  })
  const large = createMarketerBook(many)
  const seen = evidence({
    dkim: [signature('a.m9999.example'), signature('b.c.nobody.example')],
    ...sure('10.39.15.7'),
    listId: 'x.y.z.example',
    authorDomain: 'm9999.example',
  })
  expect(large.recognize(seen, 0.75).marketer?.key).toBe('m9999')
  const rounds = 20_000
  const microsecondsMax = 20
  await expectEffort(
    () => {
      for (let round = 0; round < rounds; round++) large.recognize(seen, 0.75)
    },
    (rounds * microsecondsMax) / 1_000,
  )
})
