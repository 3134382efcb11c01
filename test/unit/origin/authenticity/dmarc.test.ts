import { expect, test } from 'vitest'
import { authenticated } from '../../../support/authenticated.ts'
import { spamMessage } from '../../../support/messages.ts'
import { fakeDns, type FakeZone, rsaKey, signed } from '../../../support/signing.ts'

const key = rsaKey()
const keys = (...domains: string[]) =>
  Object.fromEntries(domains.map((domain) => [`TXT s1._domainkey.${domain}`, [key.record]]))

/** Composes a message by `author`, sent with `returnPath`, signed by each of `signers`. */
async function message(author: string, returnPath: string, ...signers: string[]): Promise<Buffer> {
  const text = spamMessage('policy')
    .toString()
    .replace('Return-Path: <offers@shop.example>', `Return-Path: <${returnPath}>`)
    .replace('From: "Great Offers" <offers@shop.example>', `From: <a@${author}>`)
  let raw: Buffer = Buffer.from(text)
  for (const domain of signers) raw = await signed(raw, { domain, key })
  return raw
}

async function dmarc(raw: Buffer, zone: FakeZone) {
  return (await authenticated(raw, zone)).dmarc
}

const pass = ['v=spf1 ip4:198.51.100.23 -all']

test.for<[string, FakeZone, string, object]>([
  [
    'the signature of the author’s own domain passes',
    { 'TXT _dmarc.shop.example': ['v=DMARC1; p=reject'] },
    'shop.example',
    { result: 'pass', policy: 'reject', domain: 'shop.example', alignedBy: ['dkim'] },
  ],
  [
    'one of a subdomain passes where alignment is relaxed',
    { 'TXT _dmarc.shop.example': ['v=DMARC1; p=quarantine; adkim=r'] },
    'mail.shop.example',
    { result: 'pass', policy: 'quarantine', alignedBy: ['dkim'] },
  ],
  [
    'one of a subdomain fails where alignment is strict',
    { 'TXT _dmarc.shop.example': ['v=DMARC1; p=reject; adkim=s'] },
    'mail.shop.example',
    { result: 'fail', policy: 'reject', alignedBy: [] },
  ],
  [
    'one of a stranger fails',
    { 'TXT _dmarc.shop.example': ['v=DMARC1; p=none'] },
    'bulk.example',
    { result: 'fail', policy: 'none', alignedBy: [] },
  ],
  ['a domain without a policy has none', {}, 'shop.example', { result: 'none', policy: null }],
  [
    'two policies at one name are none',
    { 'TXT _dmarc.shop.example': ['v=DMARC1; p=none', 'v=DMARC1; p=reject'] },
    'shop.example',
    { result: 'none' },
  ],
])('%s', async ([, zone, signer, expected]) => {
  const raw = await message('shop.example', 'bounce@bulk.example', signer)
  expect(await dmarc(raw, { ...keys(signer), ...zone })).toMatchObject(expected)
})

test.for<[string, string, object]>([
  ['sp=', 'v=DMARC1; p=reject; sp=quarantine', { policy: 'quarantine', domain: 'shop.example' }],
  ['p= without sp=', 'v=DMARC1; p=reject', { policy: 'reject', domain: 'shop.example' }],
])('a subdomain has the organization’s policy, by its %s', async ([, record, expected]) => {
  const raw = await message('news.eu.shop.example', 'bounce@bulk.example')
  const found = await dmarc(raw, { 'TXT _dmarc.shop.example': [record] })
  expect(found).toMatchObject({ result: 'fail', ...expected })
})

test('a policy of its own takes precedence over the organization’s', async () => {
  const raw = await message('news.shop.example', 'bounce@bulk.example')
  const zone = {
    'TXT _dmarc.shop.example': ['v=DMARC1; p=reject'],
    'TXT _dmarc.news.shop.example': ['v=DMARC1; p=none'],
  }
  expect(await dmarc(raw, zone)).toMatchObject({ policy: 'none', domain: 'news.shop.example' })
})

test.for<[string, string, string, string[]]>([
  ['passes', 'shop.example', 'aspf=r', ['spf']],
  ['of a subdomain passes, relaxed', 'bounce.shop.example', 'aspf=r', ['spf']],
  ['of a subdomain does not, strictly', 'bounce.shop.example', 'aspf=s', []],
  ['of a stranger does not', 'bulk.example', 'aspf=r', []],
])('SPF of a return path %s', async ([, returnPath, mode, alignedBy]) => {
  const raw = await message('shop.example', `b@${returnPath}`)
  const found = await dmarc(raw, {
    [`TXT ${returnPath}`]: pass,
    'TXT _dmarc.shop.example': [`v=DMARC1; p=reject; ${mode}`],
  })
  expect(found).toMatchObject({ result: alignedBy.length > 0 ? 'pass' : 'fail', alignedBy })
})

test.for<[string, FakeZone]>([
  ['policy', { 'TXT _dmarc.shop.example': 'unknown' }],
  ['key of the author', { 'TXT s1._domainkey.shop.example': 'unknown' }],
  ['SPF record of the author', { 'TXT shop.example': 'unknown' }],
])('a %s that cannot be looked up is not a failure', async ([, missing]) => {
  const raw = await message('shop.example', 'a@shop.example', 'shop.example')
  const policy = { 'TXT _dmarc.shop.example': ['v=DMARC1; p=reject'] }
  expect(await dmarc(raw, { ...policy, ...missing })).toMatchObject({ result: 'unknown' })
})

test('without a return path it is unknown whether SPF would have passed', async () => {
  const raw = await message('shop.example', 'a@shop.example')
  const bare = Buffer.from(raw.toString().replace(/^Return-Path:.*\r\n/, ''))
  const policy = { 'TXT _dmarc.shop.example': ['v=DMARC1; p=reject'] }
  expect(await dmarc(raw, policy)).toMatchObject({ result: 'fail' })
  expect(await dmarc(bare, policy)).toMatchObject({ result: 'unknown' })
})

test('the policies of public suffixes are not queried', async () => {
  const { resolve, asked } = fakeDns({})
  await authenticated(await message('a.b.shop.co.uk', 'x@mail.shop.co.uk'), resolve)
  expect(asked.filter((name) => name.includes('_dmarc')).toSorted()).toEqual([
    'TXT _dmarc.a.b.shop.co.uk',
    'TXT _dmarc.b.shop.co.uk',
    'TXT _dmarc.mail.shop.co.uk',
    'TXT _dmarc.shop.co.uk',
  ])
})
