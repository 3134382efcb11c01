import { expect, test } from 'vitest'
import type { Authentication } from '../../../src/origin/authenticity/authenticate.ts'
import {
  subjectsOf,
  SUBJECTS_MAX,
  type SubjectSource,
  withSystem,
} from '../../../src/verdict/subjects.ts'

const headers = { fromAddress: 'Chair@Bank.example' } as SubjectSource['headers']
const origin = { ip: '192.0.2.7', confidence: 0.9, hop: 1, why: [], names: [] }
const bare: SubjectSource = {
  origin: null,
  hops: [],
  headers,
  authentication: null,
  links: [],
  attachments: [],
  telephones: [],
}

const subjects = (more: Partial<SubjectSource>, originConfidenceMin = 0.8) =>
  subjectsOf({ ...bare, ...more }, { originConfidenceMin }).map(
    ({ kind, name }) => `${kind} ${name}`,
  )

function authentication(more: Partial<Authentication>): Authentication {
  const dmarc = { result: 'none', policy: null, domain: null, alignedBy: [] } as const
  const arc = { result: 'none', why: 'unchanged', seals: [] } as unknown as Authentication['arc']
  return {
    spf: null,
    dkim: [],
    passedOver: 0,
    arc,
    dmarc: { ...dmarc, alignedBy: [] },
    ...more,
  }
}

const signature = { selector: 's', why: 'unchanged' } as const
const link = (url: string) => ({ url, host: '', domain: null, where: 'text' as const })

test('an author is only claimed until the domain is authenticated', () => {
  expect(subjects({})).toEqual([
    'claimed-author chair@bank.example',
    'claimed-author-domain bank.example',
  ])
  const dkim = [{ ...signature, domain: 'bank.example', result: 'pass', aligned: true } as const]
  expect(subjects({ authentication: authentication({ dkim }) })).toEqual([
    'author chair@bank.example',
    'author-domain bank.example',
    'signer bank.example',
  ])
})

test('a signature of another domain counts for that domain, not for the author', () => {
  const dkim = [
    { ...signature, domain: 'sender.example', result: 'pass', aligned: false } as const,
    { ...signature, domain: 'bank.example', result: 'fail', aligned: true } as const,
  ]
  expect(subjects({ authentication: authentication({ dkim }) })).toEqual([
    'claimed-author chair@bank.example',
    'claimed-author-domain bank.example',
    'signer sender.example',
  ])
})

test('a return path counts when SPF passes for it', () => {
  const spf = { ip: '192.0.2.7', result: 'pass', domain: 'bounces.example' } as const
  const named = 'return-path-domain bounces.example'
  expect(subjects({ authentication: authentication({ spf }) })).toContain(named)
  const failed = { ...spf, result: 'softfail' } as const
  expect(subjects({ authentication: authentication({ spf: failed }) })).not.toContain(named)
})

test('a certain origin counts with its network, an uncertain one not at all', () => {
  expect(subjects({ origin })).toContain('address 192.0.2.7')
  expect(subjects({ origin })).toContain('network 192.0.2.0/24')
  expect(subjects({ origin: { ...origin, ip: '2001:db8:1:2::7' } })).toContain(
    'network 2001:db8:1::/48',
  )
  expect(subjects({ origin }, 0.95).join()).not.toContain('192.0.2')
})

test('a shared domain is not a subject, but one of its users is', () => {
  const gmail = { ...origin, ip: '209.85.218.41' }
  const dkim = [{ ...signature, domain: 'gmail.com', result: 'pass', aligned: true } as const]
  const spf = { ip: gmail.ip, result: 'pass', domain: 'gmail.com' } as const
  const links = [
    'https://www.facebook.com/letters.example',
    'https://bit.ly/3abcdef',
    'https://docs.google.com/forms/d/e/1FAIpQL/viewform',
    'https://customer.github.io/',
  ].map(link)
  const found = subjects({
    origin: gmail,
    headers: { fromAddress: 'ann@gmail.com' } as SubjectSource['headers'],
    authentication: authentication({ dkim, spf }),
    links,
  })
  expect(found.filter((one) => !one.startsWith('link '))).toEqual([
    'author ann@gmail.com',
    'link-host customer.github.io',
  ])
  expect(found).toContain('link bit.ly/3abcdef')
  expect(found.join()).toContain('link docs.google.com/forms/d/e/1FAIpQL/viewform')
})

test('an autonomous system counts only with a certain origin', () => {
  const sure = subjectsOf({ ...bare, origin }, { originConfidenceMin: 0.8 })
  expect(withSystem(sure, 64_500).at(-1)).toEqual({ kind: 'autonomous-system', name: '64500' })
  const unsure = subjectsOf(bare, { originConfidenceMin: 0.8 })
  expect(withSystem(unsure, 64_500)).toEqual(unsure)
})

/** Returns the share of a complaint that counts against each subject of a relayed message. */
function answersOf(more: Partial<SubjectSource>): Record<string, number> {
  const hop = { from: { rdns: 'lists.club.example', helo: null, ip: origin.ip } }
  const hops = [hop, hop] as unknown as SubjectSource['hops']
  const claims = { listId: 'news.club.example', authorDomain: 'bank.example', oneClickSigners: [] }
  const found = subjectsOf({ ...bare, origin, hops, claims, ...more }, { originConfidenceMin: 0.8 })
  const answers = withSystem(found, 64_500).map(({ kind, name, answers: share = 1 }) => {
    return [`${kind} ${name}`, share] as const
  })
  return Object.fromEntries(answers)
}

const ofAuthor = { ...signature, domain: 'bank.example', result: 'pass', aligned: true } as const
const ofList = { ...signature, domain: 'club.example', result: 'pass', aligned: false } as const

test('the relay of a mailing list does not answer for an author who is verified', () => {
  expect(answersOf({ authentication: authentication({ dkim: [ofAuthor, ofList] }) })).toEqual({
    'address 192.0.2.7': 0,
    'network 192.0.2.0/24': 0,
    'author chair@bank.example': 1,
    'author-domain bank.example': 1,
    'signer bank.example': 1,
    'signer club.example': 0,
    'autonomous-system 64500': 0,
  })
})

test('without a verified author, the relay answers for a quarter', () => {
  const answers = answersOf({ authentication: authentication({ dkim: [ofList] }) })
  expect(answers).toMatchObject({ 'address 192.0.2.7': 0.25, 'signer club.example': 0.25 })
  expect(answers).toMatchObject({ 'claimed-author chair@bank.example': 1 })
})

test('a forwarder is known by its return path, if that is of its own domain', () => {
  const claims = { listId: null, authorDomain: 'bank.example', oneClickSigners: [] }
  const forwarded = (returnPath: string) =>
    answersOf({ claims, headers: { ...headers, returnPath } })['address 192.0.2.7']
  expect(forwarded('SRS0=ab=cd=bank.example=chair@club.example')).toBe(0.25)
  expect(forwarded('SRS0=ab=cd=bank.example=chair@other.example')).toBe(1)
  expect(forwarded('chair@club.example')).toBe(1)
})

test('a List-Id alone makes no relay, nor does a list of the author', () => {
  const claim = (listId: string, authorDomain = 'bank.example') =>
    answersOf({ claims: { listId, authorDomain, oneClickSigners: [] } })['address 192.0.2.7']
  expect(claim('news.other.example')).toBe(1)
  expect(claim('news.club.example', 'members.club.example')).toBe(1)
  expect(claim('news.club.example')).toBe(0.25)
})

test('links count by domain, host and whole, without disguise', () => {
  const links = [link('https://WWW.shop.example/a?utm_source=x&b=1'), link('hxxp://shop[.]example')]
  expect(subjects({ links }).slice(2)).toEqual([
    'link-domain shop.example',
    'link-host shop.example',
    'link shop.example/a?b=1',
  ])
})

test('an overlong link, which cannot be shared by others, is left out', () => {
  const links = [link(`https://shop.example/${'x'.repeat(300)}`)]
  expect(subjects({ links }).slice(2)).toEqual([
    'link-domain shop.example',
    'link-host shop.example',
  ])
})

test('files and telephone numbers count, and at most forty subjects in total', () => {
  const sha256 = 'ab'.repeat(32)
  const attachments = [{ name: 'a.pdf', type: 'application/pdf', bytes: 5_000, sha256 }]
  const telephones = ['33100000000']
  expect(subjects({ attachments, telephones })).toEqual(
    expect.arrayContaining([`file ${sha256}`, 'phone 33100000000']),
  )
  const many = Array.from({ length: 200 }, (_, index) => link(`https://a${index}.example/x`))
  expect(subjects({ origin, links: many, telephones }).length).toBeLessThanOrEqual(SUBJECTS_MAX)
})

test('a logo or an empty file is no subject; a file that claims to be a picture is one', () => {
  const file = (name: string | null, type: string, bytes: number) => {
    return { name, type, bytes, sha256: `${name}` }
  }
  const attachments = [
    file('logo.png', 'image/png', 5_000),
    file(null, 'image/gif', 5_000),
    file('ATT00001.txt', 'text/plain', 2),
    file('invoice.png.exe', 'image/png', 5_000),
    file('page.svg', 'image/svg+xml', 5_000),
  ]
  const files = subjects({ attachments }).filter((one) => one.startsWith('file'))
  expect(files).toEqual(['file invoice.png.exe', 'file page.svg'])
})

test('an author that cannot be written down is not a subject', () => {
  const odd = { fromAddress: 'a b\u0007@bank.example' } as SubjectSource['headers']
  expect(subjects({ headers: odd })).toEqual(['claimed-author-domain bank.example'])
})
