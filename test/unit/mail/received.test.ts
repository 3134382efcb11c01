import { expect, test } from 'vitest'
import { parseReceived } from '../../../src/mail/received.ts'

const when = 'Tue, 3 Nov 2026 08:15:00 +0000'
const ip = '192.0.2.25'

test.for([
  [
    'Postfix',
    `from mx.example.com (out.example.com [${ip}]) (using TLSv1.3 with cipher X (256/256 bits)) ` +
      `by mail.example.net (Postfix) with ESMTPS id 4Q for <a@example.net>; ${when} (UTC)`,
    { helo: 'mx.example.com', rdns: 'out.example.com', ip },
    { by: { host: 'mail.example.net' }, with: 'ESMTPS', id: '4Q', for: 'a@example.net' },
  ],
  [
    'Postfix, no reverse name',
    `from foo (unknown [IPv6:2001:db8::25]) by mail.example.net (Postfix) with SMTP; ${when}`,
    { helo: 'foo', ip: '2001:db8::25' },
    { with: 'SMTP', software: 'Postfix' },
  ],
  [
    'Postfix, authenticated',
    `from foo (p.example.com [${ip}]) (Authenticated sender: u@example.com) by ` +
      `m.example.net; ${when}`,
    { helo: 'foo', rdns: 'p.example.com', ip, account: 'u@example.com' },
    { auth: 'Postfix' },
  ],
  [
    'Exim',
    `from out.example.com ([${ip}]:4321 helo=foo) by m.example.net with esmtps (TLS1.3) tls X ` +
      `(Exim 4.98) (envelope-from <b@example.com>) id 1vEX-1 for a@example.net; ${when}`,
    { helo: 'foo', rdns: 'out.example.com', ip, port: 4321 },
    { id: '1vEX-1', for: 'a@example.net', envelopeFrom: 'b@example.com' },
  ],
  [
    'Exim, no reverse name, a HELO that poses as an address',
    `from [${ip}] (port=4321 helo=[10.0.0.1]) by m.example.net with esmtpa id 1; ${when}`,
    { helo: '[10.0.0.1]', ip, port: 4321 },
    { auth: 'ESMTPA' },
  ],
  [
    'Sendmail, with a name that does not lead back',
    `from foo (u@p.example.com [${ip}] (may be forged)) by m.example.net (8.17/8.17) ` +
      `with ESMTP id x; ${when}`,
    { helo: 'foo', ip, ident: 'u', unprovenRdns: 'p.example.com' },
    { id: 'x' },
  ],
  [
    'qmail',
    `from unknown (HELO foo) (joe@${ip}) by m.example.net with SMTP; 3 Nov 2026 08:15:00 -0000`,
    { helo: 'foo', ip, ident: 'joe' },
    { by: { host: 'm.example.net' } },
  ],
  [
    'qmail, with a reverse name and its mangling of IPv6',
    `from p.example.com (HELO foo) (?IPv6:2001:db8::25?) by m.example.net with SMTP; ${when}`,
    { helo: 'foo', rdns: 'p.example.com', ip: '2001:db8::25' },
    {},
  ],
  [
    'Exchange',
    `from foo.example.com (${ip}) by AB1.mail.protection.outlook.com (10.13.5.53) with Microsoft ` +
      `SMTP Server (version=TLS1_2, cipher=X) id 15.20.1.1 via Frontend Transport; ${when}`,
    { helo: 'foo.example.com', ip },
    {
      by: { host: 'AB1.mail.protection.outlook.com', ip: '10.13.5.53' },
      with: 'Microsoft SMTP Server',
      via: 'Frontend Transport',
      id: '15.20.1.1',
    },
  ],
  [
    'Gmail at its border',
    `from out.example.com (out.example.com. [${ip}]) by mx.google.com with ESMTPS id f7si.2 ` +
      `for <a@example.com> (version=TLS1_3 cipher=X bits=256/256); ${when}`,
    { helo: 'out.example.com', rdns: 'out.example.com', ip },
    { with: 'ESMTPS', for: 'a@example.com' },
  ],
  [
    'Gmail inside',
    `by 2002:a05:6a10:1:b0:4aa:1:2 with SMTP id p1csp9; ${when} (PST)`,
    undefined,
    { by: { ip: '2002:a05:6a10:1:b0:4aa:1:2' }, id: 'p1csp9' },
  ],
  [
    'Yahoo',
    `from 127.0.0.1  (EHLO foo.example.com) (${ip}) by atlas1.mail.yahoo.com with SMTPs; ${when}`,
    { helo: 'foo.example.com', ip },
    { with: 'SMTPs' },
  ],
  [
    'a web mailer',
    `from [${ip}] by web1.mail.example.com via HTTP; ${when}`,
    { ip },
    { via: 'HTTP', auth: 'HTTP' },
  ],
  [
    'PowerMTA, with a comment behind the date',
    `from foo (${ip}) by m.example.net id h1 for <a@example.net>; ${when} (envelope-from ` +
      `<b@example.com>)`,
    { helo: 'foo', ip },
    { id: 'h1', envelopeFrom: 'b@example.com' },
  ],
  [
    'OpenSMTPD',
    `from foo (p.example.com [${ip}]) by m.example.net (OpenSMTPD) with ESMTPSA id 1a ` +
      `(TLSv1.3:X:256:NO) for <a@example.net>; ${when}`,
    { helo: 'foo', rdns: 'p.example.com', ip },
    { auth: 'ESMTPSA', software: 'OpenSMTPD' },
  ],
  [
    'Haraka',
    `from foo (p.example.com [${ip}]) by m.example.net (Haraka/3.0.3) with ESMTPS id ` +
      `1B.1 envelope-from <b@example.com> (cipher=X); ${when}`,
    { helo: 'foo', rdns: 'p.example.com', ip },
    { software: 'Haraka/3.0.3', envelopeFrom: 'b@example.com' },
  ],
  [
    'CommuniGate',
    `from [${ip}] (account u@example.com HELO foo) by m.example.net (CommuniGate Pro ` +
      `SMTP 6.2) with ESMTPA id 5; ${when}`,
    { helo: 'foo', ip, account: 'u@example.com' },
    { auth: 'ESMTPA' },
  ],
  [
    'MDaemon',
    `from foo [${ip}] by m.example.net (MDaemon PRO v20) with ESMTP id 5; ${when}`,
    { helo: 'foo', ip },
    { software: 'MDaemon PRO v20' },
  ],
  [
    'LMTP',
    `from mx (localhost [127.0.0.1]) by imap (Dovecot) with LMTP id x; ${when}`,
    { helo: 'mx', rdns: 'localhost', ip: '127.0.0.1' },
    { with: 'LMTP' },
  ],
  [
    'a MAPI hand-over with a zone in the address',
    `from A.example.com ([fe80::1%4]) by B.example.com ([fe80::2%4]) with mapi id 15.20; ${when}`,
    { helo: 'A.example.com', ip: 'fe80::1' },
    { by: { host: 'B.example.com', ip: 'fe80::2' }, with: 'mapi' },
  ],
  [
    'fetchmail',
    `from pop.example.com [${ip}] by localhost with POP3 (fetchmail-6.4) for ` +
      `<a@localhost>; ${when}`,
    { helo: 'pop.example.com', ip },
    { with: 'POP3' },
  ],
] as const)('a line of %s', ([, line, from, rest]) => {
  const field = parseReceived(line)
  expect(field?.from).toEqual(from)
  expect(field).toMatchObject({ at: new Date('2026-11-03T08:15:00Z'), ...rest })
})

test('the address is the one that the receiver saw, not the one that the peer claims', () => {
  const field = parseReceived(
    `from [198.51.100.1] (foo [${ip}]) by m.example.net with SMTP; ${when}`,
  )
  expect(field?.from).toEqual({ helo: '[198.51.100.1]', rdns: 'foo', ip })
})

test.for([
  ['glued to its name', `from 198.51.100.1 (unknown[${ip}]) by m.example.net; ${when}`, ip],
  [
    'that cannot be read',
    `from 198.51.100.1 (unknown [192.0.2]) by m.example.net; ${when}`,
    undefined,
  ],
  ['with the port behind a dot', `from a ([${ip}.1234]) by m.example.net with esmtp; ${when}`, ip],
  ['after an empty HELO', `from ([${ip}]) by m.example.net with ESMTP; ${when}`, ip],
  ['said by a proxy', `from a ([${ip}]) (proxying for 10.0.0.1) by m.example.net; ${when}`, ip],
  ['before another one', `from a (${ip}, 10.0.0.1) by m.example.net; ${when}`, ip],
] as const)('an address %s', ([, line, expected]) => {
  expect(parseReceived(line)).toMatchObject({ by: { host: 'm.example.net' } })
  expect(parseReceived(line)?.from?.ip).toBe(expected)
})

test('a local step of qmail is parsed and has no peer', () => {
  const field = parseReceived(`(qmail 123 invoked from network); 3 Nov 2026 08:15:00 -0000`)
  expect(field).toEqual({
    by: {},
    software: 'qmail 123 invoked from network',
    at: new Date('2026-11-03T08:15:00Z'),
  })
})

test('a HELO equal to a keyword is still a HELO', () => {
  const field = parseReceived(`from by (foo [${ip}]) by m.example.net with SMTP id 1; ${when}`)
  expect(field).toMatchObject({ from: { helo: 'by', ip }, by: { host: 'm.example.net' } })
})

test.for(['', '(comment)', 'nonsense; Tue, 3 Nov 2026 08:15:00 +0000', ';', 'x'.repeat(100_000)])(
  'a line without a peer is not parsed: %#',
  (line) => {
    expect(parseReceived(line)).toBeUndefined()
  },
)
