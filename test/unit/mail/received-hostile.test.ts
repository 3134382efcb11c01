import { expect, test } from 'vitest'
import { parseReceived } from '../../../src/mail/received.ts'
import { expectEffort } from '../../support/effort.ts'

const when = 'Tue, 3 Nov 2026 08:15:00 +0000'
const at = new Date('2026-11-03T08:15:00Z')
const ip = '192.0.2.25'
const lie = '198.51.100.9'
const mx = 'm.example.net'

test.for([
  ['a literal address', `from [${lie}] (foo [${ip}]) by ${mx} with SMTP id 1; ${when}`],
  ['a bare address', `from ${lie} (unknown [${ip}]) by ${mx} with SMTP id 1; ${when}`],
  ['a literal, at qmail', `from x (HELO [${lie}]) ([${ip}]) by ${mx} with SMTP; ${when}`],
  ['a mangled literal', `from x (HELO ?${lie}?) (${ip}) by ${mx} with SMTP; ${when}`],
  ['a literal, at Exim', `from x ([${ip}] helo=[${lie}]) by ${mx} with esmtp id 1; ${when}`],
  ['a literal, after the address', `from [${ip}] (helo=[${lie}]) by ${mx} with esmtp; ${when}`],
  ['a comment', `from a (x [${lie}]) (p.example.com [${ip}]) by ${mx} with SMTP id 1; ${when}`],
  ['a hand-over from an address', `from [${lie}] by b with SMTP [${ip}] by ${mx} id 1; ${when}`],
  ['a hand-over', `from a by b (x [${ip}]) by ${mx} with SMTP id 1; ${when}`],
  [
    'a whole line',
    `from a (x [${lie}]) by b with SMTP id 7 for <c@example.com> (x [${ip}]) by ${mx} with ` +
      `SMTP id 1; ${when}`,
  ],
  ['the word by', `from by (x [${ip}]) by ${mx} with SMTP id 1; ${when}`],
  ['the word with', `from with (x [${ip}]) by ${mx} with SMTP id 1; ${when}`],
  ['a semicolon', `from a;b (x [${ip}]) by ${mx} with SMTP id 1; ${when}`],
  ['a parenthesis that never closes', `from a( (x [${ip}]) by ${mx} with SMTP id 1; ${when}`],
  ['a parenthesis that never opened', `from a) (x [${ip}]) by ${mx} with SMTP id 1; ${when}`],
  ['NULs', `from a\0\0 (x\0 [${ip}]) by ${mx} with SMTP id 1; ${when}`],
  ['bytes beyond ASCII', `from \xe4\xff\xa0 (x [${ip}]) by ${mx} with SMTP id 1; ${when}`],
] as const)('a HELO of %s does not hide the peer', ([, line]) => {
  const field = parseReceived(line)
  expect(field?.from?.ip).toBe(ip)
  expect(field?.by.host).toBe(mx)
  expect(field?.at).toEqual(at)
})

test.for([
  ['an address before that of the host', `(IDENT:[${lie}]@[${ip}])`],
  ['an address before its name', `(IDENT:[${lie}]@p.example.com [${ip}])`],
  ['an address with a port', `([${lie}]:25@[${ip}])`],
  ['a bracket that never closes', `(IDENT:[${lie}@[${ip}])`],
  ['a bare address', `(${lie}@[${ip}])`],
  ['blanks', `(IDENT:a [${lie}] b@[${ip}])`],
  ['an IPv6 address', `(IDENT:[IPv6:2001:db8::9]@[${ip}])`],
  ['a name glued to an address', `(IDENT:a[${lie}]@b[${ip}])`],
  ['a comment', `(IDENT:(x [${lie}])@[${ip}])`],
  ['a parenthesis that never closes', `(IDENT:x [${lie}] (@[${ip}])`],
  ['an address, at qmail', `(a@${lie}@${ip})`],
  ['an address, at Exim', `([${ip}] helo=x ident=[${lie}])`],
  ['blanks, at Exim', `([${ip}] helo=x ident=a [${lie}] b)`],
  ['blanks in the HELO', `([${ip}] HELO a [${lie}] b)`],
  ['a comment behind the address', `(p.example.com [${ip}] (x [${lie}]))`],
] as const)('an ident or comment of %s is not taken for the address', ([, comment]) => {
  const field = parseReceived(`from a ${comment} by ${mx} with SMTP id 1; ${when}`)
  expect(field?.from?.ip).toBe(ip)
  expect(field?.by.host).toBe(mx)
})

test.for([
  ['a protocol', 'with SMTP by fake.example id 1'],
  ['a protocol of two words', 'with Microsoft SMTP by fake.example id 1'],
  ['a protocol and its encryption', 'with ESMTPS (TLS1.3 cipher X) by fake.example id 1'],
  ['an identifier', 'with SMTP id 1 by fake.example'],
  ['a recipient', 'with SMTP id 1 for <a@example.net> by fake.example'],
  ['a link', 'via TCP by fake.example with SMTP id 1'],
  ['an address of the receiver', `(mx [198.51.100.1]) with SMTP by fake.example`],
  ['several', 'with by by fake.example by other.example id 1'],
] as const)('a second "by" behind %s names no receiver', ([, rest]) => {
  for (const peer of [`a (x [${ip}])`, `[${ip}]`, `x (HELO a) (${ip})`]) {
    const field = parseReceived(`from ${peer} by ${mx} ${rest}; ${when}`)
    expect(field?.by.host, peer).toBe(mx)
    expect(field?.from?.ip, peer).toBe(ip)
  }
})

test('an unreadable address is not replaced by the claim of the peer', () => {
  const field = parseReceived(`from ${lie} (unknown [192.0.2]) by ${mx} with SMTP id 1; ${when}`)
  expect(field?.from).toEqual({ helo: lie })
})

test('a name that does not resolve back is kept apart', () => {
  const field = parseReceived(`from a (bank.example.com [${ip}] (may be forged)) by ${mx}; ${when}`)
  expect(field?.from).toEqual({ helo: 'a', ip, unprovenRdns: 'bank.example.com' })
})

test.for([
  ['behind the address', `from a ([${ip}] bank.example.com) by ${mx} with SMTP id 1; ${when}`],
  ['beside the address', `from a (bank.example.com) [${ip}] by ${mx} with SMTP id 1; ${when}`],
])('a name %s may be a claim of the peer', ([, line]) => {
  const field = parseReceived(line ?? '')
  expect(field?.from).toMatchObject({ helo: 'a', ip })
  expect(field?.from?.rdns).toBeUndefined()
})

test('a quoted return path is not taken for the receiver', () => {
  const field = parseReceived(
    `from a (x [${ip}]) by ${mx} (Postfix) id 1 (envelope-from <" by evil.example.com"@x>); ${when}`,
  )
  expect(field?.by.host).toBe(mx)
})

test.for([
  ['nested comments', `from a (x [${ip}] (((y (z)))) (w)) by ${mx} (a (b) c); ${when}`],
  ['a semicolon in a comment', `from a (x [${ip}]) by ${mx} (b; c) with SMTP (d; e); ${when}`],
  ['an escaped parenthesis', `from a (x [${ip}]) by ${mx} (b \\) c) with SMTP; ${when}`],
  ['a comment behind the date', `from a (x [${ip}]) by ${mx} with SMTP; ${when} (a; b)`],
  ['tabs for blanks', `from\ta\t(x\t[${ip}])\tby\t${mx}\twith\tSMTP;\t${when}`],
] as const)('%s do not prevent parsing', ([, line]) => {
  const field = parseReceived(line)
  expect(field).toMatchObject({ from: { helo: 'a', rdns: 'x', ip }, by: { host: mx }, at })
})

const floods: readonly (readonly [string, (size: number) => string])[] = [
  ['comments', (size) => `from a ${'(x)'.repeat(size / 3)} by b; ${when}`],
  ['nested comments', (size) => `from a ${'('.repeat(size / 2)}${')'.repeat(size / 2)} by b`],
  ['parentheses that never close', (size) => `from a ${'('.repeat(size)}`],
  ['parentheses that never opened', (size) => `from a ${')'.repeat(size)} by b; ${when}`],
  ['brackets that never close', (size) => `from ${'['.repeat(size)}`],
  ['brackets with blanks', (size) => `from ${'[ '.repeat(size / 2)}`],
  ['angle brackets', (size) => `from a by b for ${'<a '.repeat(size / 3)}`],
  ['NULs', (size) => `from a${'\0'.repeat(size)} by b; ${when}`],
  ['NULs in a comment', (size) => `from a (${'\0'.repeat(size)}) by b; ${when}`],
  ['semicolons', (size) => `from a by b${';'.repeat(size)}`],
  ['keywords', (size) => 'from by '.repeat(size / 8)],
  ['receivers', (size) => `from a ${'by b '.repeat(size / 5)}`],
  ['protocols', (size) => `from a by b${' with esmtp'.repeat(size / 11)}`],
  ['settings', (size) => `from a (${'helo=x '.repeat(size / 7)}) by b; ${when}`],
  ['return paths', (size) => `from a by b (${'envelope-from '.repeat(size / 14)}); ${when}`],
  ['blanks in a comment', (size) => `from a (envelope-from${' '.repeat(size)}) by b; ${when}`],
  ['colons', (size) => `from ${':'.repeat(size)} (${':'.repeat(size)})`],
  ['dates', (size) => `from a by b; ${'Mon, 3 Nov '.repeat(size / 11)}`],
  ['one word', (size) => `from ${'x'.repeat(size)} by b; ${when}`],
]

test.for(floods)('a flood of %s takes linear time', async ([, flood]) => {
  const line = flood(60_000)
  await expectEffort(() => {
    for (let count = 0; count < 10; count++) parseReceived(line)
  }, 100)
})

test('the date survives a flood of comments', () => {
  const field = parseReceived(`from a ${'(x) '.repeat(5000)} by b; ${when}`)
  expect(field?.at).toEqual(at)
})

test('a line above 64 KiB is not parsed', () => {
  expect(parseReceived(`from a by b; ${when}${' '.repeat(70_000)}`)).toBeUndefined()
})
