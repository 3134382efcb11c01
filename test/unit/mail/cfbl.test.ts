import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { analyzePlainly } from '../../../src/pieces/analyze.ts'
import { askAbout } from '../../../src/origin/authenticity/ask-dns.ts'
import { type CfblSignature, judgeCfbl, parseCfblAddress } from '../../../src/mail/cfbl.ts'
import { parseHeader } from '../../../src/mail/header.ts'
import {
  fakeDns,
  type FakeZone,
  onTop,
  rsaKey,
  signed,
  type SigningOptions,
} from '../../support/signing.ts'
import { anyText } from '../../support/any-text.ts'

const key = rsaKey()
const domains = ['shop.example', 'mailer.example', 'news.shop.example', 'co.uk']
const zone: FakeZone = Object.fromEntries(
  domains.map((domain) => [`TXT s1._domainkey.${domain}`, [key.record]]),
)
const whole = 'From:Subject:Date:CFBL-Address:CFBL-Feedback-ID'
const bare = 'From:Subject:Date'

function message(...lines: readonly string[]): Buffer {
  const header = [
    'Received: from mail.shop.example (mail.shop.example [192.0.2.7])',
    '\tby mx.provider.example; Mon, 16 Nov 2026 10:00:00 +0000',
    ...(lines.some((line) => line.startsWith('From:')) ? [] : ['From: Shop <news@shop.example>']),
    'To: reader@provider.example',
    'Subject: Offers',
    'Date: Mon, 16 Nov 2026 09:59:57 +0000',
    'Message-ID: <1@shop.example>',
    ...lines,
  ]
  return Buffer.from(`${header.join('\r\n')}\r\n\r\nBuy now.\r\n`)
}

async function sign(raw: Buffer, ...signers: readonly Partial<SigningOptions>[]): Promise<Buffer> {
  let made = raw
  for (const one of signers) {
    made = await signed(made, { domain: 'shop.example', key, covering: whole, ...one })
  }
  return made
}

async function cfblOf(raw: Buffer, records: FakeZone = zone) {
  const options = { trustedRelays: [], ignoreStamps: false }
  const { resolve } = fakeDns(records)
  const listings = () => Promise.resolve([])
  const dns = await askAbout(raw, options, { resolve, listings }, new AbortController().signal)
  return (await analyzePlainly(raw, { ...options, dns })).cfbl
}

const own = 'CFBL-Address: fbl@shop.example; report=xarf'
const others = 'CFBL-Address: fbl@mailer.example'
const id = 'CFBL-Feedback-ID: 111:222 :33(when)3'

describe('an address of the author’s own domain', () => {
  test('gets complaints in the requested format if the author signed it', async () => {
    expect(await cfblOf(await sign(message(own, id), {}))).toEqual({
      addresses: [{ address: 'fbl@shop.example', format: 'xarf' }],
      feedbackId: '111:222:333',
      obstacle: null,
    })
  })

  test.for([
    ['nothing signs', message(own), []],
    ['the signature covers no such field', message(own), [{ covering: bare }]],
    ['only a stranger signs', message(own), [{ domain: 'mailer.example' }]],
    ['the id is not covered', message(own, id), [{ covering: `${bare}:CFBL-Address` }]],
    ['the signature had expired', message(own), [{ expiresAt: new Date('2026-11-16T09:59:59Z') }]],
    ['only the beginning of the body is signed', message(own), [{ bodyBytesMax: 3 }]],
  ] as const)('gets no complaints if %s', async ([, raw, signers]) => {
    expect(await cfblOf(await sign(raw, ...signers))).toMatchObject({
      addresses: [],
      obstacle: expect.stringMatching(/signature|covered/) as string,
    })
  })

  test('gets no complaints if the body was changed', async () => {
    const raw = (await sign(message(own), {})).toString('latin1').replace('Buy now', 'Buy it')
    expect(await cfblOf(Buffer.from(raw, 'latin1'))).toMatchObject({ addresses: [] })
  })

  test('gets no complaints if the key is gone', async () => {
    expect(await cfblOf(await sign(message(own), {}), {})).toMatchObject({ addresses: [] })
  })

  test('gets no complaints if another field was added after the signature', async () => {
    const raw = onTop(await sign(message(own), {}), 'CFBL-Address: eve@shop.example')
    expect(await cfblOf(raw)).toMatchObject({ addresses: [] })
  })

  test('gets complaints together with the other covered addresses', async () => {
    const second = 'CFBL-Address: more@shop.example'
    const covering = `${whole}:CFBL-Address`
    expect((await cfblOf(await sign(message(own, second), { covering })))?.addresses).toEqual([
      { address: 'fbl@shop.example', format: 'xarf' },
      { address: 'more@shop.example', format: 'arf' },
    ])
  })
})

describe('an address below the author’s domain', () => {
  const below = 'CFBL-Address: fbl@news.shop.example'

  test('gets complaints if the author’s domain signed', async () => {
    expect(await cfblOf(await sign(message(below), {}))).toMatchObject({
      addresses: [{ address: 'fbl@news.shop.example' }],
    })
  })

  test('gets no complaints if only its own domain signed', async () => {
    const raw = await sign(message(below), { domain: 'news.shop.example' })
    expect(await cfblOf(raw)).toMatchObject({ addresses: [] })
  })

  test('gets complaints from a sibling domain if their parent domain signed', async () => {
    const from = 'From: Shop <a@news.shop.example>'
    expect(await cfblOf(await sign(message(from, below), {}))).toMatchObject({
      addresses: [{ address: 'fbl@news.shop.example' }],
    })
  })

  test('in a parent domain of the author needs its own signature', async () => {
    const from = 'From: Shop <a@news.shop.example>'
    const raw = message(from, 'CFBL-Address: fbl@shop.example')
    const lower = await sign(raw, { domain: 'news.shop.example' })
    expect(await cfblOf(lower)).toMatchObject({ addresses: [] })
    expect((await cfblOf(await sign(lower, {})))?.addresses).toHaveLength(1)
  })
})

describe('an address of another domain', () => {
  test.for([
    ['both sign both fields', [{}, { domain: 'mailer.example' }], 1],
    ['the author had signed before', [{ covering: bare }, { domain: 'mailer.example' }], 1],
    ['only the author signs', [{}], 0],
    ['only they sign', [{ domain: 'mailer.example' }], 0],
    ['theirs does not cover it', [{}, { domain: 'mailer.example', covering: bare }], 0],
    [
      'the author’s covers one field of two',
      [{ covering: `${bare}:CFBL-Address` }, { domain: 'mailer.example' }],
      0,
    ],
  ] as const)('if %s', async ([, signers, told]) => {
    const found = await cfblOf(await sign(message(others, id), ...signers))
    expect(found?.addresses).toHaveLength(told)
    expect(found?.obstacle === null).toBe(told === 1)
  })

  test('is found among many signatures', async () => {
    const crowd = ['a', 'b', 'c'].map((name) => ({ domain: `${name}.test`, covering: bare }))
    const raw = await sign(message(others), {}, { domain: 'mailer.example' }, ...crowd)
    expect((await cfblOf(raw))?.addresses).toHaveLength(1)
  })
})

test('a message without the field has no result', async () => {
  expect(await cfblOf(await sign(message(), {}))).toBeNull()
})

test('no one gets complaints if the DNS was not queried', async () => {
  const options = { trustedRelays: [], ignoreStamps: false }
  const { cfbl } = await analyzePlainly(await sign(message(own), {}), options)
  expect(cfbl).toMatchObject({ addresses: [] })
})

const valid = (domain: string, covered: string[]): CfblSignature => ({
  domain,
  covered,
  isValid: true,
})
const fieldsOf = (...lines: readonly string[]) => parseHeader(message(...lines)).fields

test('a field signed once more often than it occurs is covered', () => {
  const signature = valid('shop.example', ['from', 'cfbl-address', 'cfbl-address'])
  expect(judgeCfbl(fieldsOf(own), [signature])?.addresses).toHaveLength(1)
})

test('a signature by a shared public suffix does not count', () => {
  const fields = fieldsOf('From: a@shop.co.uk', 'CFBL-Address: fbl@shop.co.uk')
  expect(judgeCfbl(fields, [valid('co.uk', ['from', 'cfbl-address'])])?.addresses).toEqual([])
})

test.for([
  ['two authors', ['From: a@shop.example, b@other.example', own]],
  ['two From fields', ['From: a@shop.example', 'From: b@other.example', own]],
  ['too many addresses', Array.from({ length: 6 }, () => own)],
] as const)('%s do not count', ([, lines]) => {
  const covered = ['from', ...lines.map(() => 'cfbl-address')]
  expect(judgeCfbl(fieldsOf(...lines), [valid('shop.example', covered)])).toMatchObject({
    addresses: [],
    obstacle: expect.any(String) as string,
  })
})

test.for([
  ['fbl@shop.example', 'fbl@shop.example', 'arf'],
  [' fbl@SHOP.Example (desk (night)) ; report=arf', 'fbl@shop.example', 'arf'],
  ['fbl@shop.example; report=xarf', 'fbl@shop.example', 'xarf'],
  ['fbl@b\u00fcro.example', 'fbl@xn--bro-hoa.example', 'arf'],
] as const)('"%s" is %s', ([value, address, format]) => {
  expect(parseCfblAddress(value)).toEqual({ address, format })
})

test.for([
  '',
  'shop.example',
  'fbl@shop',
  'fbl@[192.0.2.1]',
  'a@shop.example, b@shop.example',
  'fbl@shop.example; report=json',
  'fbl@shop.example; report=arf; more=1',
  'fbl@shop.example; REPORT=ARF',
  'mailto:fbl@shop.example',
  'fbl@shop.example report=arf',
])('"%s" has no address', (value) => {
  expect(parseCfblAddress(value)).toBeUndefined()
})

test('any field value is handled without throwing', () => {
  fc.assert(
    fc.property(anyText(), fc.string(), (value, name) => {
      parseCfblAddress(value)
      const field = { name: 'CFBL-Address', key: 'cfbl-address', value, raw: '' }
      judgeCfbl([field, ...fieldsOf(id)], [valid(name, [name])])
    }),
  )
})
