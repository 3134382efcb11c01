import { expect, test } from 'vitest'
import { authenticated } from '../../../support/authenticated.ts'
import { spamMessage } from '../../../support/messages.ts'
import {
  deadDns,
  fakeDns,
  onTop,
  replaced,
  rsaKey,
  sealed,
  signed,
} from '../../../support/signing.ts'

const key = rsaKey()
const author = rsaKey()
const zone = {
  'TXT arc._domainkey.alumni.example': [key.record],
  'TXT arc._domainkey.lists.example': [key.record],
  'TXT arc._domainkey.provider.example': [key.record],
  'TXT s1._domainkey.shop.example': [author.record],
}

/** The authentication results recorded by two forwarders, each with the address of its client. */
const saw = {
  alumni:
    'mx.alumni.example; spf=pass (mx.alumni.example: domain of offers@shop.example designates ' +
    '203.0.113.9 as permitted sender) smtp.mailfrom=offers@shop.example; ' +
    'dkim=pass header.d=shop.example',
  lists: 'lists.example; arc=pass smtp.remote-ip=198.51.100.23; spf=fail; dkim=none',
}

const raw = await signed(spamMessage('sealed'), { domain: 'shop.example', key: author })
const once = await sealed(raw, { domain: 'alumni.example', key, says: saw.alumni })
const twice = await sealed(once, { domain: 'lists.example', key, says: saw.lists, cv: 'pass' })

test('a valid chain gives its sealers and what each of them saw', async () => {
  const { arc, dkim } = await authenticated(twice, zone)
  expect(dkim).toMatchObject([{ result: 'pass', aligned: true }])
  expect(arc).toEqual({
    result: 'pass',
    why: 'match',
    seals: [
      {
        instance: 1,
        domain: 'alumni.example',
        clientIp: '203.0.113.9',
        spf: 'pass',
        dkim: [{ result: 'pass', domain: 'shop.example' }],
      },
      {
        instance: 2,
        domain: 'lists.example',
        clientIp: '198.51.100.23',
        spf: 'fail',
        dkim: [{ result: 'none', domain: null }],
      },
    ],
  })
})

test('the copy of a sealed message with bare LF is valid', async () => {
  const bare = Buffer.from(twice.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')
  expect((await authenticated(bare, zone)).arc.result).toBe('pass')
})

test.for<[string, (raw: Buffer) => Buffer]>([
  ['a changed body', (raw) => replaced(raw, 'Buy at', 'Buy it at')],
  ['a changed result', (raw) => replaced(raw, 'spf=fail', 'spf=pass')],
  ['a changed result of an earlier sealer', (raw) => replaced(raw, '203.0.113.9', '203.0.113.8')],
  ['a gap', (raw) => replaced(raw, /^ARC-Seal: i=1/m, 'ARC-Seal: i=3')],
  ['a set without its results', (raw) => replaced(raw, /^ARC-Auth(.*)i=2(.|\r\n )*?\r\n/m, '')],
  ['a set twice', (raw) => replaced(raw, /^ARC-Seal: i=1/m, 'ARC-Seal: i=2')],
  ['a seal that says the chain was broken', (raw) => replaced(raw, 'cv=pass', 'cv=fail')],
])('a chain with %s fails, and no sealer is trusted', async ([, change]) => {
  const { arc } = await authenticated(change(twice), zone)
  expect(arc).toMatchObject({ result: 'fail', seals: [] })
})

test('a chain whose key does not exist fails', async () => {
  const { arc } = await authenticated(once, {})
  expect(arc).toMatchObject({ result: 'fail', seals: [] })
})

test.for([
  ['too short', rsaKey(768).record],
  ['revoked', 'v=DKIM1; p='],
  ['broken', 'v=DKIM1; p=AAAA'],
  ['another one', author.record],
] as const)('a chain with a key that is %s fails', async ([, record]) => {
  const { arc } = await authenticated(twice, {
    ...zone,
    'TXT arc._domainkey.lists.example': [record],
  })
  expect(arc).toMatchObject({ result: 'fail', seals: [] })
})

test('a chain whose keys cannot be looked up is not known to be broken', async () => {
  expect((await authenticated(twice, deadDns)).arc.result).toBe('temperror')
  const partly = { ...zone, 'TXT arc._domainkey.alumni.example': 'unknown' as const }
  expect((await authenticated(twice, partly)).arc.result).toBe('temperror')
})

test('a chain of the receiver alone is not looked up, as it repeats its fields', async () => {
  const raw = await sealed(spamMessage('own'), {
    domain: 'provider.example',
    key,
    says: 'mx.provider.example; spf=pass',
  })
  const { resolve, asked } = fakeDns(zone)
  expect((await authenticated(raw, resolve)).arc.result).toBe('unchecked')
  expect(asked).not.toContain('TXT arc._domainkey.provider.example')
})

test('the receiver’s seal over that of a forwarder is verified with it', async () => {
  const both = { domain: 'provider.example', key, says: 'provider.example; arc=pass', cv: 'pass' }
  const { arc } = await authenticated(await sealed(once, both), zone)
  expect(arc.seals.map(({ domain }) => domain)).toEqual(['alumni.example', 'provider.example'])
})

test('a message without seals has no chain', async () => {
  expect((await authenticated(spamMessage('plain'), zone)).arc.result).toBe('none')
})

test.for<[string, string, string | null]>([
  ['Microsoft', 'mx 1; spf=fail (sender ip is 2001:DB8::1) smtp.mailfrom=a.b', '2001:db8::1'],
  [
    'Google',
    'mx; spf=softfail (g.example: domain of transitioning a@b.c does not designate 192.0.2.1 as permitted sender)',
    '192.0.2.1',
  ],
  [
    'Google of a neutral domain',
    'mx; spf=neutral (g.example: 192.0.2.1 is neither permitted nor denied by best guess record for domain of a@b.c)',
    '192.0.2.1',
  ],
  ['RFC 8617', 'mx; arc=none smtp.remote-ip=192.0.2.1; spf=none', '192.0.2.1'],
  ['nobody', 'mx; spf=pass smtp.mailfrom=a.b', null],
  [
    'a return path that poses as an address',
    'mx; spf=pass (mx: domain of "sender ip is 192.0.2.1"@b.c designates it as permitted sender)',
    null,
  ],
])('the address that the sealer saw is parsed as %s writes it', async ([, says, ip]) => {
  const raw = await sealed(spamMessage('said'), { domain: 'alumni.example', key, says })
  const { arc } = await authenticated(raw, zone)
  expect(arc.seals).toMatchObject([{ clientIp: ip }])
})

test('an overlong chain is not verified', async () => {
  const sets = Array.from({ length: 11 }, (_, index) => [
    `ARC-Seal: i=${index + 1}; a=rsa-sha256; cv=pass; d=a.example; s=arc; b=AAAA`,
    `ARC-Message-Signature: i=${index + 1}; a=rsa-sha256; d=a.example; s=arc; h=from; bh=A; b=A`,
    `ARC-Authentication-Results: i=${index + 1}; a.example; spf=pass`,
  ])
  const { resolve, asked } = fakeDns(zone)
  const { arc } = await authenticated(onTop(spamMessage('long'), ...sets.flat()), resolve)
  expect(arc.result).toBe('unchecked')
  expect(asked).not.toContain('TXT arc._domainkey.a.example')
})
