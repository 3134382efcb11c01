import fc from 'fast-check'
import { expect, test } from 'vitest'
import { authenticated } from '../../../support/authenticated.ts'
import { spamMessage } from '../../../support/messages.ts'
import {
  deadDns,
  ed25519Key,
  fakeDns,
  onTop,
  replaced,
  rsaKey,
  signed,
  type SigningOptions,
} from '../../../support/signing.ts'

const rsa = rsaKey()
const ed = ed25519Key()
const weak = rsaKey(768)
const other = rsaKey()
const name = 'TXT s1._domainkey.shop.example'
const zone = { [name]: [rsa.record] }

const good = await sign()

function sign(more: Partial<SigningOptions> = {}, mark = 'signed') {
  return signed(spamMessage(mark), { domain: 'shop.example', key: rsa, ...more })
}

async function dkim(raw: Buffer, records: Parameters<typeof authenticated>[1] = zone) {
  return (await authenticated(raw, records)).dkim
}

test('a valid signature passes, and says whose it is', async () => {
  expect(await dkim(good)).toEqual([
    {
      domain: 'shop.example',
      selector: 's1',
      result: 'pass',
      aligned: true,
      why: 'unchanged',
    },
  ])
})

test('a message whose body was rebuilt has no signature result', async () => {
  const { dkim, arc, dmarc } = await authenticated(good, zone, { isRebuilt: true })
  expect(dkim).toEqual([])
  expect([arc.result, dmarc.result]).not.toContain('pass')
  const spoiled = replaced(good, /$/, 'More.')
  expect((await authenticated(spoiled, zone, { isRebuilt: true })).dkim).toEqual([])
})

test.for(['relaxed/relaxed', 'relaxed/simple', 'simple/relaxed', 'simple/simple'])(
  'a signature in %s passes, and so does its copy with bare LF',
  async (canonicalization) => {
    const body = 'Two  spaces, a\ttab and some at the end \t \r\n\r\n  x\r\n \r\n\r\n'
    const raw = Buffer.concat([spamMessage(canonicalization), Buffer.from(body)])
    const made = await signed(raw, { domain: 'shop.example', key: rsa, canonicalization })
    const bare = Buffer.from(made.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')
    expect((await dkim(made))[0]?.result).toBe('pass')
    expect((await dkim(bare))[0]?.result).toBe('pass')
  },
)

test('whatever the white space and line ends, a signature by the library passes', async () => {
  const piece = fc.constantFrom(' ', '\t', '\r\n', '\n', '\r', 'a', '.', '\u00a0', '\0')
  const bodies = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''))
  const canons = fc.constantFrom('relaxed/relaxed', 'simple/simple')
  await fc.assert(
    fc.asyncProperty(bodies, canons, async (body, canonicalization) => {
      const raw = Buffer.concat([spamMessage('any'), Buffer.from(body, 'latin1')])
      const made = await signed(raw, { domain: 'shop.example', key: ed, canonicalization })
      expect(await dkim(made, { [name]: [ed.record] })).toMatchObject([{ result: 'pass' }])
    }),
    { numRuns: 300 },
  )
})

test('an Ed25519 signature passes', async () => {
  const raw = await sign({ key: ed })
  expect((await dkim(raw, { [name]: [ed.record] }))[0]?.result).toBe('pass')
})

test('fields that mail programs and providers prepend change nothing', async () => {
  const stored = onTop(
    good,
    'From - Mon Nov 16 10:00:01 2026',
    'X-Mozilla-Status: 0001',
    'X-Mozilla-Status2: 00000000',
    'Received: by 192.0.2.77; Mon, 16 Nov 2026 10:00:05 +0000',
    'X-Spam-Score: 3',
  )
  expect((await dkim(stored))[0]?.result).toBe('pass')
})

test('a message whose lines end in CR alone passes', async () => {
  const raw = Buffer.from(good.toString('latin1').replaceAll('\r\n', '\r'), 'latin1')
  expect((await dkim(raw))[0]?.result).toBe('pass')
})

test('the key is found among other records of its name', async () => {
  const records = { [name]: ['some-site-verification=1', rsa.record] }
  expect((await dkim(good, records))[0]?.result).toBe('pass')
})

const why = {
  body: 'body-changed',
  header: 'header-changed',
}

test.for<[string, (raw: Buffer) => Buffer, string]>([
  ['body', (raw) => replaced(raw, 'Buy at', 'Buy it at'), why.body],
  ['subject', (raw) => replaced(raw, 'Cheap watches', 'Cheap  whisky'), why.header],
  ['author', (raw) => replaced(raw, '"Great Offers"', '"Your Bank"'), why.header],
  ['signature', (raw) => replaced(raw, / b=(.)/, ' b=Zz$1'), why.header],
])('a change of the %s fails', async ([, change, reason]) => {
  expect(await dkim(change(good))).toMatchObject([{ result: 'fail', why: reason }])
})

test('a signature by the second of two authors does not count for the first', async () => {
  const found = await authenticated(onTop(good, 'From: boss@bank.example'), zone)
  expect(found.dkim).toMatchObject([{ domain: 'shop.example', result: 'pass', aligned: false }])
  expect(found.dmarc.result).toBe('none')
})

test.for<[string, readonly string[] | 'unknown' | undefined, string, string]>([
  ['another key', [other.record], 'fail', why.header],
  ['no key', undefined, 'permerror', 'key-missing'],
  ['a revoked key', ['v=DKIM1; k=rsa; p='], 'permerror', 'key-revoked'],
  ['a broken key', ['v=DKIM1; p=AAAA'], 'permerror', 'key-malformed'],
  ['a key for other services', [`${rsa.record}; s=tlsrpt`], 'permerror', 'key-not-for-mail'],
  ['no answer', 'unknown', 'temperror', 'key-not-looked-up'],
])('a signature with %s has its reason', async ([, records, result, reason]) => {
  const found = await dkim(good, records ? { [name]: records } : {})
  expect(found).toMatchObject([{ result, why: reason }])
})

test('a key under 1024 bits is too weak', async () => {
  const raw = await sign({ key: weak })
  expect(await dkim(raw, { [name]: [weak.record] })).toMatchObject([
    { result: 'policy', why: 'key-weak' },
  ])
})

test('a signature over part of the body does not count once text was added', async () => {
  const length = spamMessage('signed').toString('latin1').split('\r\n\r\n')[1]?.length ?? 0
  const raw = await sign({ bodyBytesMax: length })
  expect(await dkim(raw)).toMatchObject([{ result: 'pass' }])
  expect(await dkim(Buffer.concat([raw, Buffer.from('More.\r\n')]))).toMatchObject([
    { result: 'policy', why: 'body-partly-covered' },
  ])
})

test('expiry is judged at the time when the message arrived, not today', async () => {
  const at = (time: string) => new Date(`2026-11-16T${time}Z`)
  const live = await sign({ signedAt: at('09:59:00'), expiresAt: at('10:00:01') })
  const late = await sign({ signedAt: at('09:59:00'), expiresAt: at('09:59:59') })
  expect(await dkim(live)).toMatchObject([{ result: 'pass' }])
  expect(await dkim(late)).toMatchObject([{ result: 'neutral', why: 'expired' }])
})

test('without an arrival time no signature is expired', async () => {
  const raw = await sign({ expiresAt: new Date('2026-11-16T10:00:00Z') })
  expect(await dkim(replaced(raw, /^Received:(.|\r\n )*\r\n/m, ''))).toMatchObject([
    { result: 'pass' },
  ])
})

test('the author’s own signatures come first, and two of each kind are verified', async () => {
  const domains = ['a.example', 'b.example', 'c.example', 'mail.shop.example', 'shop.example']
  let raw: Buffer = spamMessage('many')
  for (const domain of [...domains, 'eu.shop.example'])
    raw = await signed(raw, { domain, key: rsa })
  const keys = Object.fromEntries(
    [...domains, 'eu.shop.example'].map((domain) => [`TXT s1._domainkey.${domain}`, [rsa.record]]),
  )
  const found = await authenticated(raw, keys)
  expect(found.dkim.map(({ domain, aligned, result }) => [domain, aligned, result])).toEqual([
    ['eu.shop.example', true, 'pass'],
    ['shop.example', true, 'pass'],
    ['c.example', false, 'pass'],
    ['b.example', false, 'pass'],
  ])
  expect(found.passedOver).toBe(2)
})

test('one signature without a key does not affect the others', async () => {
  const raw = await signed(good, { domain: 'list.example', key: rsa })
  expect(await dkim(raw)).toMatchObject([
    { domain: 'shop.example', result: 'pass' },
    { domain: 'list.example', result: 'permerror' },
  ])
})

test.for<[string, string | RegExp, string, string]>([
  ['SHA-1', 'a=rsa-sha256', 'a=rsa-sha1', 'sha1'],
  ['an unknown algorithm', 'a=rsa-sha256', 'a=rsa-md5', 'unknown-algorithm'],
  ['another version', 'v=1', 'v=2', 'unknown-version'],
  ['an unknown canonicalization', 'c=relaxed/relaxed', 'c=nofws', 'unknown-canonicalization'],
  ['no From', ': From;', ';', 'from-not-covered'],
])('a signature with %s is not verified', async ([, from, to, reason]) => {
  const [found] = await dkim(replaced(good, from, to))
  expect(found?.result).toBe('neutral')
  expect(found?.why).toBe(reason)
})

test('messages judged at the same time do not affect each other', async () => {
  const canons = ['relaxed/relaxed', 'simple/simple', 'relaxed/simple', 'relaxed/relaxed']
  const made = await Promise.all(
    canons.map((canonicalization, index) => sign({ canonicalization }, `m${index}`)),
  )
  const found = await Promise.all(made.map((raw) => dkim(raw)))
  expect(found.flat().map(({ result }) => result)).toEqual(['pass', 'pass', 'pass', 'pass'])
})

test('without a DNS everything is unknown, and nothing throws', async () => {
  const found = await authenticated(good, deadDns)
  expect(found.dkim).toMatchObject([{ result: 'temperror' }])
  expect(found.spf).toMatchObject({ result: 'temperror', domain: 'shop.example' })
  expect(found.dmarc.result).toBe('unknown')
})

test('only necessary records are queried', async () => {
  const { resolve, asked } = fakeDns(zone)
  await authenticated(good, resolve)
  expect(asked.toSorted()).toEqual([
    'TXT _dmarc.shop.example',
    'TXT s1._domainkey.shop.example',
    'TXT shop.example',
  ])
})
