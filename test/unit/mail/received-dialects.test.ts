import { expect, test } from 'vitest'
import { parseReceived } from '../../../src/mail/received.ts'

const when = 'Tue, 3 Nov 2026 08:15:00 +0000'
const at = new Date('2026-11-03T08:15:00Z')
const ip = '192.0.2.25'
const ip6 = '2001:db8::25'
const mx = 'm.example.net'

test.for([
  [
    'Microsoft 365, from outside',
    `from a.example.com (${ip}) by DB1PEPF1.mail.protection.outlook.com (2603:10a6:8:1::5) with ` +
      `Microsoft SMTP Server (version=TLS1_3, cipher=X) id 15.20.9.1 via Frontend Transport; ${when}`,
    { helo: 'a.example.com', ip },
    { by: { host: 'DB1PEPF1.mail.protection.outlook.com', ip: '2603:10a6:8:1::5' } },
  ],
  [
    'Microsoft 365, inside',
    `from AB1.eurprd01.prod.outlook.com (2603:10a6:1:2::3) by AB2.eurprd01.prod.outlook.com with ` +
      `HTTPS; ${when}`,
    { helo: 'AB1.eurprd01.prod.outlook.com', ip: '2603:10a6:1:2::3' },
    { with: 'HTTPS' },
  ],
  [
    'the SMTP service of Windows',
    `from foo ([${ip}] unverified) by ${mx} with Microsoft SMTPSVC(8.5.9600.1);\t ${when}`,
    { helo: 'foo', ip },
    { with: 'Microsoft SMTPSVC' },
  ],
  [
    'Gmail, where a client submits',
    `from [10.0.0.5] (p.example.com. [${ip}]) by smtp.gmail.com with ESMTPSA id 5-7.1.2026.1; ` +
      when,
    { helo: '[10.0.0.5]', rdns: 'p.example.com', ip },
    { auth: 'ESMTPSA' },
  ],
  [
    'Gmail, where a program submits',
    `from 384836569573 named unknown by gmailapi.google.com with HTTPREST; ${when}`,
    { helo: '384836569573' },
    { with: 'HTTPREST' },
  ],
  [
    'Yahoo, where a client logged in',
    `from p.example.com (HELO foo) (u@${ip} with plain) by smtp1.mail.yahoo.com with SMTP; ${when}`,
    { helo: 'foo', rdns: 'p.example.com', ip, ident: 'u' },
    { auth: 'PLAIN' },
  ],
  [
    'Yahoo, between its machines',
    `from [${ip}] by nm2.bullet.mail.yahoo.com with NNFMP; ${when}`,
    { helo: `[${ip}]`, ip },
    { with: 'NNFMP' },
  ],
  [
    'Lotus Domino',
    `from foo ([${ip}])          by ${mx} (IBM Domino Release 9.0.1)          with ESMTP id ` +
      `2026110308150000-123 ;          ${when}`,
    { helo: 'foo', ip },
    { software: 'IBM Domino Release 9.0.1', id: '2026110308150000-123' },
  ],
  [
    'a gateway of IBM, with the return path behind the recipient',
    `from localhost by ${mx} with IBM ESMTP SMTP Gateway: Authorized Use Only! for ` +
      `<a@example.net> from <b@example.com>; ${when}`,
    { helo: 'localhost' },
    { for: 'a@example.net', envelopeFrom: 'b@example.com' },
  ],
  [
    'XMail',
    `from foo (${ip}:4321) by ${mx} (198.51.100.1:25) with [XMail 1.27 ESMTP Server] id <S7> for ` +
      `<a@example.net> from <b@example.com>; ${when}`,
    { helo: 'foo', ip, port: 4321 },
    { id: 'S7', envelopeFrom: 'b@example.com', by: { host: mx, ip: '198.51.100.1' } },
  ],
  [
    'Zimbra, through its filter',
    `from foo ([127.0.0.1]) by localhost (${mx} [127.0.0.1]) (amavis, port 10032) with ESMTP id ` +
      `x1; ${when}`,
    { helo: 'foo', ip: '127.0.0.1' },
    { by: { host: 'localhost', ip: '127.0.0.1' }, id: 'x1' },
  ],
  [
    'Mail.ru',
    `from [${ip}] (port=4321 helo=foo) by mx1.mail.ru with esmtps (envelope-from ` +
      `<b@example.com>) id 1vEXab-00000001abc-0AbC for a@example.net; ${when}`,
    { helo: 'foo', ip, port: 4321 },
    { id: '1vEXab-00000001abc-0AbC', envelopeFrom: 'b@example.com' },
  ],
  [
    'Exim, where the reverse name is the HELO',
    `from p.example.com ([${ip}]) by ${mx} with esmtps id 1vEXab-00000001abc-0AbC; ${when}`,
    { helo: 'p.example.com', rdns: 'p.example.com', ip },
    {},
  ],
  [
    'Exim of old, with the HELO in parentheses',
    `from p.example.com (foo) [${ip}.4321] (mail) by ${mx} with esmtp (Exim 3.35 #1 (Debian)) id ` +
      `1vEXab-0001vC-00; ${when}`,
    { helo: 'foo', rdns: 'p.example.com', ip, port: 4321 },
    {},
  ],
  [
    'Exim, from a program on the same machine',
    `from www-data by ${mx} with local (Exim 4.98) (envelope-from <b@example.com>) id 1vEX-1; ` +
      when,
    { helo: 'www-data' },
    { with: 'local' },
  ],
  [
    'Courier, which looks like Exim, with the identifier behind the date',
    `from foo ([::ffff:${ip}]) (AUTH: LOGIN u@example.com, TLS: TLS1.3,256bits,X) by ${mx} with ` +
      `esmtp; ${when} id 000000DB.4373`,
    { helo: 'foo', ip, account: 'u@example.com' },
    { auth: 'LOGIN', id: '000000DB.4373' },
  ],
  [
    'Yandex',
    `from foo (p.example.com [2001:DB8:0:0:0:0:0:25]) by mxfront1.mail.yandex.net ` +
      `(mxfront/Yandex) with ESMTPS id aBc-1; ${when}`,
    { helo: 'foo', rdns: 'p.example.com', ip: ip6 },
    { software: 'mxfront/Yandex' },
  ],
  [
    'Orange',
    `from foo ([${ip}]) by mwinf5c01 with ME id abc123; ${when}`,
    { helo: 'foo', ip },
    { by: { host: 'mwinf5c01' }, with: 'ME' },
  ],
  [
    'Free',
    `from foo (unknown [${ip}]) by mx1-g20.free.fr (Postfix) with ESMTP id 4A for ` +
      `<a@free.fr>; ${when} (CET)`,
    { helo: 'foo', ip },
    { for: 'a@free.fr' },
  ],
  [
    'qmail, where the HELO is the reverse name',
    `from p.example.com (joe@${ip}) by ${mx} with SMTP; 3 Nov 2026 08:15:00 -0000`,
    { helo: 'p.example.com', rdns: 'p.example.com', ip, ident: 'joe' },
    {},
  ],
  [
    'qmail, with an empty HELO',
    `from p.example.com (HELO ) (${ip}) by ${mx} with SMTP; 3 Nov 2026 08:15:00 -0000`,
    { rdns: 'p.example.com', ip },
    {},
  ],
  [
    'qmail with encryption',
    `from p.example.com (HELO foo) (${ip}) by ${mx} with (DHE-RSA-AES256-SHA encrypted) SMTP; ` +
      '3 Nov 2026 08:15:00 -0000',
    { helo: 'foo', rdns: 'p.example.com', ip },
    { with: 'SMTP' },
  ],
  [
    'the scanner of qmail',
    `from ${ip} by ${mx} (envelope-from <b@example.com>, uid 502) with qmail-scanner-2 ` +
      `(clamdscan: 0.80. Clear:RC:0(${ip}):. Processed in 0.2 secs); ${when}`,
    { helo: ip, ip },
    { envelopeFrom: 'b@example.com' },
  ],
  [
    'GMX',
    `from p.example.com (EHLO foo) [${ip}] by mail.gmx.net (mp010) with SMTP; ${when}`,
    { helo: 'foo', rdns: 'p.example.com', ip },
    { software: 'mp010' },
  ],
  [
    'ecelerity',
    `from [10.0.0.5] ([10.0.0.5:54932] helo=foo) by 10.249.227.20 (envelope-from ` +
      `<a=b@example.com>) (ecelerity 4.3.1 r(:)) with ESMTP id 7C/95; ${when}`,
    { helo: 'foo', ip: '10.0.0.5', port: 54_932 },
    { by: { ip: '10.249.227.20' }, envelopeFrom: 'a=b@example.com', id: '7C/95' },
  ],
  [
    'ZMailer',
    `from p.example.com ([${ip}]:4321 "EHLO foo" rhost-flags-OK-OK-OK-OK) by ${mx} with ESMTP id ` +
      `S1 (ORCPT <rfc822;a@example.net>); ${when}`,
    { helo: 'foo', rdns: 'p.example.com', ip, port: 4321 },
    {},
  ],
  [
    'a firewall that asks for names',
    `from p.example.com(${ip}), claiming to be "foo" via SMTP by ${mx}, id smtpd1; ${when}`,
    { helo: 'foo', rdns: 'p.example.com', ip },
    { by: { host: mx }, via: 'SMTP', id: 'smtpd1' },
  ],
  [
    'SquirrelMail',
    `from ${ip} (SquirrelMail authenticated user joe); by ${mx} with HTTP; ${when}`,
    { ip, account: 'joe' },
    { by: { host: mx }, auth: 'HTTP' },
  ],
  [
    'Critical Path',
    `from p.example.com (${ip}) by ${mx} (7.0.030.2) (authenticated as joe) id 41; ${when}`,
    { helo: 'p.example.com', ip },
    { auth: 'CriticalPath', software: '7.0.030.2' },
  ],
  [
    'CommuniGate, with a name that leads back',
    `from p.example.com ([${ip}] verified) by ${mx} (CommuniGate Pro SMTP 6.2) with ESMTP id 5; ` +
      when,
    { helo: 'p.example.com', rdns: 'p.example.com', ip },
    {},
  ],
  [
    'OpenSMTPD, from the same machine',
    `from localhost (h.example.com [local]) by h.example.com (OpenSMTPD) with ESMTPA id 5d; ${when}`,
    { helo: 'localhost', rdns: 'h.example.com' },
    { auth: 'ESMTPA' },
  ],
  [
    'Cyrus, over a socket',
    `from ${mx} ([unix socket]) by ${mx} (Cyrus 3.8) with LMTPA; ${when}`,
    { helo: mx },
    { auth: 'LMTPA', with: 'LMTPA' },
  ],
  [
    'Sendmail, from a program on the same machine',
    `(from joe@localhost) by ${mx} (8.17/8.17/Submit) id 5AB; ${when}`,
    undefined,
    { by: { host: mx }, id: '5AB' },
  ],
  [
    'SendGrid, with the date in the words',
    `from filter.example.com by ${mx} with SMTP 2026-11-03 08:15:00.123456789 +0000 UTC m=+12.6`,
    { helo: 'filter.example.com' },
    { with: 'SMTP' },
  ],
  [
    'a gateway that writes its whole peer in parentheses',
    `(from p.example.com [${ip}]) by ${mx} (NAVGW 2.5.2.12) with SMTP id M1 for ` +
      `<a@example.net>; ${when}`,
    { unprovenRdns: 'p.example.com', ip },
    { by: { host: mx }, id: 'M1', for: 'a@example.net' },
  ],
  [
    'qmail-ldap, where a client logged in',
    `from unknown (HELO foo) (authenticated:u@example.com@[${ip}]) (envelope-sender ` +
      `<b@example.com>) by ${mx} (qmail-ldap-1.03) with SMTP; 3 Nov 2026 08:15:00 -0000`,
    { helo: 'foo', ip, account: 'u@example.com' },
    { auth: 'qmail', envelopeFrom: 'b@example.com' },
  ],
  [
    'qmail, over LMTP',
    `from p.example.com (LHLO foo) (${ip}) by ${mx} with LMTP; ${when}`,
    { helo: 'foo', rdns: 'p.example.com', ip },
    { with: 'LMTP' },
  ],
  [
    'ofmipd, the submission server of qmail',
    `(ofmipd ${ip}); 3 Nov 2026 08:15:00 -0000`,
    { ip },
    { by: {}, software: `ofmipd ${ip}` },
  ],
  [
    'Sendmail, with a name from the ident protocol',
    `from foo (IDENT:joe@p.example.com [${ip}]) by ${mx} (8.9.3/8.9.3) with ESMTP id EAA1; ${when}`,
    { helo: 'foo', rdns: 'p.example.com', ip, ident: 'joe' },
    {},
  ],
  [
    'a carrier that writes a placeholder for a missing name',
    `from foo (<unknown.domain>[${ip}]) by <${mx}> (mx) with SMTP id <S1>; ${when}`,
    { helo: 'foo', ip },
    { by: { host: mx }, id: 'S1' },
  ],
  [
    'a service that writes a token before the address',
    `from example.com (dR+3/xQ ${ip6}) by example.com with Thrift id 42; ${when}`,
    { helo: 'example.com', ip: ip6 },
    { with: 'Thrift' },
  ],
  [
    'a server that writes no brackets around the address',
    `from foo (p.example.com ${ip}) by ${mx} with ESMTP id 42; ${when}`,
    { helo: 'foo', unprovenRdns: 'p.example.com', ip },
    {},
  ],
  [
    'a server that writes NULs around the address',
    `from foo ([\0${ip}\0]) by\0${mx} with ESMTP id 42;\0${when}`,
    { helo: 'foo', ip },
    { by: { host: mx } },
  ],
  [
    'GMX, for a customer',
    `from p.example.com (EHLO [10.0.0.5]) [${ip}] by mail.gmx.net (mp010) with SMTP; ${when}`,
    { helo: '[10.0.0.5]', rdns: 'p.example.com', ip },
    { auth: 'GMX' },
  ],
  [
    'CommuniGate without its own name',
    `from [${ip}] (account <joe> HELO foo) by (CommuniGate Pro SMTP 5.2.3) with ESMTPA id 19; ${when}`,
    { helo: 'foo', ip, account: 'joe' },
    { by: {}, with: 'ESMTPA', id: '19' },
  ],
  [
    'a server that writes the recipient last',
    `from foo ([${ip}]) by ${mx} (EzMTS) ; ${when} for <a@example.net>`,
    { helo: 'foo', ip },
    { for: 'a@example.net', dateText: when },
  ],
  ['a server that writes only the date', `; ${when}`, undefined, { by: {} }],
  [
    'a list server that names nobody',
    `with LISTS (v1.0; list announce); ${when} (UTC)`,
    undefined,
    { by: {}, with: 'LISTS' },
  ],
] as const)('a line of %s', ([, line, from, rest]) => {
  const field = parseReceived(line)
  expect(field?.from).toEqual(from)
  expect(field).toMatchObject(rest)
  expect(Math.floor((field?.at?.getTime() ?? 0) / 1000)).toBe(at.getTime() / 1000)
})

test.for(['HTTPS', 'HTTPREST', 'ESMTPS', 'Microsoft SMTP Server', 'mapi', 'local'])(
  'receiving a message by %s proves no peer',
  (protocol) => {
    const field = parseReceived(`from a (x [${ip}]) by ${mx} with ${protocol} id 1; ${when}`)
    expect(field?.auth).toBeUndefined()
  },
)

test.for([
  `IPv6:${ip6}`,
  `ipv6:2001:DB8::25`,
  `[IPv6:${ip6}]`,
  `[${ip6}]`,
  ip6,
  `${ip6}%eth0`,
  `[${ip6}]:4321`,
  '2001:db8:0000:0000:0000:0000:0000:0025',
  '2001:db8::0.0.0.37',
  `${ip6}.4321`,
])('an IPv6 address may be written %s', (text) => {
  const bracketed = text.startsWith('[') ? text : `[${text}]`
  for (const inside of [text, `p.example.com ${bracketed}`]) {
    const field = parseReceived(`from foo (${inside}) by ${mx} with ESMTP id 1; ${when}`)
    expect(field?.from?.ip).toBe(ip6)
  }
})

test.for([
  ['?IPv6:2001:db8::25?', ip6],
  [`::ffff:${ip}`, ip],
  [`IPv6:::ffff:${ip}`, ip],
  ['IPv6::1', '::1'],
  ['IPv6:::1', '::1'],
] as const)('%s is read as %s', ([text, expected]) => {
  const field = parseReceived(`from foo (HELO x) (${text}) by ${mx} with SMTP; ${when}`)
  expect(field?.from?.ip).toBe(expected)
})
