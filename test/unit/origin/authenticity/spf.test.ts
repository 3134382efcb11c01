import { expect, test } from 'vitest'
import { checkSpf, type SpfQuestion } from '../../../../src/origin/authenticity/spf.ts'
import { authenticated } from '../../../support/authenticated.ts'
import { spamMessage } from '../../../support/messages.ts'
import { fakeDns, type FakeZone } from '../../../support/signing.ts'

const asked: SpfQuestion = { ip: '192.0.2.1', helo: 'mx.a.example', mailFrom: 'b@a.example' }

async function spf(zone: FakeZone, more: Partial<SpfQuestion> = {}) {
  const dns = fakeDns(zone)
  return { found: await checkSpf({ ...asked, ...more }, dns.resolve), asked: dns.asked }
}

const chain = (count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `TXT ${index === 0 ? 'a.example' : `r${index}.example`}`,
      [`v=spf1 include:r${index + 1}.example ?all`],
    ]),
  )

test.for<[string, FakeZone, string]>([
  ['an address that is listed', { 'TXT a.example': ['v=spf1 ip4:192.0.2.0/24 -all'] }, 'pass'],
  ['another address', { 'TXT a.example': ['v=spf1 ip4:192.0.2.9 -all'] }, 'fail'],
  ['a soft refusal', { 'TXT a.example': ['v=spf1 ~all'] }, 'softfail'],
  ['no opinion', { 'TXT a.example': ['v=spf1 ?all'] }, 'neutral'],
  ['no record', { 'TXT a.example': ['hello'] }, 'none'],
  ['no domain', {}, 'none'],
  ['two records', { 'TXT a.example': ['v=spf1 +all', 'v=spf1 -all'] }, 'permerror'],
  ['bad syntax', { 'TXT a.example': ['v=spf1 ipv4:192.0.2.1 -all'] }, 'permerror'],
  ['a server that does not answer', { 'TXT a.example': 'unknown' }, 'temperror'],
  [
    'an include',
    {
      'TXT a.example': ['v=spf1 include:b.example -all'],
      'TXT b.example': ['v=spf1 ip4:192.0.2.1 -all'],
    },
    'pass',
  ],
  [
    'a redirect',
    { 'TXT a.example': ['v=spf1 redirect=b.example'], 'TXT b.example': ['v=spf1 -all'] },
    'fail',
  ],
  [
    'an include that does not answer',
    { 'TXT a.example': ['v=spf1 include:b.example -all'], 'TXT b.example': 'unknown' },
    'temperror',
  ],
  [
    'the mail servers, in their order',
    {
      'TXT a.example': ['v=spf1 mx -all'],
      'MX a.example': ['mx1.a.example', 'mx2.a.example'],
      'A mx1.a.example': ['192.0.2.7'],
      'A mx2.a.example': ['192.0.2.1'],
    },
    'pass',
  ],
  [
    'the addresses of a name',
    { 'TXT a.example': ['v=spf1 a:mx.a.example -all'], 'A mx.a.example': ['192.0.2.1'] },
    'pass',
  ],
  [
    'macros',
    {
      'TXT a.example': ['v=spf1 exists:%{ir}.%{v}._spf.a.example -all'],
      'A 1.2.0.192.in-addr._spf.a.example': ['127.0.0.2'],
    },
    'pass',
  ],
])('SPF with %s', async ([, zone, result]) => {
  expect((await spf(zone)).found).toEqual({ ip: asked.ip, result, domain: 'a.example' })
})

const longest = 4_096
const policy = (chars: number) => `v=spf1${' '.repeat(chars - 10)}+all`

test.for<[string, FakeZone, string]>([
  ['as long as may be', { 'TXT a.example': [policy(longest)] }, 'pass'],
  ['longer', { 'TXT a.example': [policy(longest + 1)] }, 'permerror'],
  [
    'longer, in an include',
    { 'TXT a.example': ['v=spf1 include:b.example -all'], 'TXT b.example': [policy(60_000)] },
    'permerror',
  ],
  [
    'short, beside long records about something else',
    { 'TXT a.example': [...Array<string>(20).fill('x'.repeat(60_000)), 'v=spf1 +all'] },
    'pass',
  ],
  ['one of a thousand', { 'TXT a.example': Array<string>(1_000).fill('v=spf1 +all') }, 'permerror'],
])('a policy that is %s', async ([, zone, result]) => {
  expect((await spf(zone)).found?.result).toBe(result)
})

test('the first hundred addresses of a name count', async () => {
  const others = Array.from({ length: 150 }, (_, host) => `198.51.100.${host}`)
  const zone = (at: number) => ({
    'TXT a.example': ['v=spf1 a -all'],
    'A a.example': others.with(at, '192.0.2.1'),
  })
  expect((await spf(zone(99))).found?.result).toBe('pass')
  expect((await spf(zone(100))).found?.result).toBe('fail')
})

test('an IPv6 address is compared with AAAA records', async () => {
  const zone = { 'TXT a.example': ['v=spf1 a -all'], 'AAAA a.example': ['2001:db8::1'] }
  expect((await spf(zone, { ip: '2001:db8::1' })).found?.result).toBe('pass')
})

test('a circular include ends as an error of its domain', async () => {
  const zone = {
    'TXT a.example': ['v=spf1 include:b.example -all'],
    'TXT b.example': ['v=spf1 include:a.example -all'],
  }
  const { found, asked } = await spf(zone)
  expect(found?.result).toBe('permerror')
  expect(asked.length).toBeLessThanOrEqual(11)
})

test.for([
  [10, 'neutral'],
  [11, 'permerror'],
] as const)('%i terms with DNS queries are %s', async ([count, result]) => {
  const last = { [`TXT r${count}.example`]: ['v=spf1 -all'] }
  expect((await spf({ ...chain(count), ...last })).found?.result).toBe(result)
})

test.for([
  [2, 'fail'],
  [3, 'permerror'],
] as const)('%i void answers are %s', async ([count, result]) => {
  const terms = Array.from({ length: count }, (_, index) => `a:void${index}.example`)
  const zone = { 'TXT a.example': [`v=spf1 ${terms.join(' ')} -all`] }
  expect((await spf(zone)).found?.result).toBe(result)
})

test('a null return path is judged by the HELO name', async () => {
  const zone = { 'TXT mx.a.example': ['v=spf1 ip4:192.0.2.1 -all'] }
  expect((await spf(zone, { mailFrom: '' })).found).toEqual({
    ip: asked.ip,
    result: 'pass',
    domain: 'mx.a.example',
  })
  expect((await spf(zone, { mailFrom: '', helo: undefined })).found).toBeUndefined()
})

const oddNames = ['[192.0.2.1]', 'localhost', 'a..b', '\u00e9\u0000.example', 'x'.repeat(2_000)]

test.for(oddNames)('a HELO name that cannot be looked up is not an error: %s', async (helo) => {
  const { found } = await spf({}, { mailFrom: '', helo })
  expect(['none', 'permerror']).toContain(found?.result)
  expect(found?.domain.length).toBeLessThanOrEqual(253)
  expect(found?.domain).not.toContain('\0')
})

test('the address is that of the origin, and the return path that of the message', async () => {
  const zone = { 'TXT shop.example': ['v=spf1 ip4:198.51.100.23 -all'] }
  const { spf: found } = await authenticated(spamMessage('whole'), zone)
  expect(found).toMatchObject({ result: 'pass', domain: 'shop.example' })
})

test('without a known origin there is no result', async () => {
  const raw = Buffer.from('From: a@shop.example\r\nSubject: x\r\n\r\nHello\r\n')
  expect((await authenticated(raw)).spf).toBeNull()
})
