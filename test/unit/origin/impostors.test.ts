import { expect, test } from 'vitest'
import { type AnalysisOptions, analyzeMessage } from '../../../src/pieces/analyze.ts'

/** In each case, a spammer at 198.51.100.9 tries to have 203.0.113.4 accused, which must fail. */
const innocent = '203.0.113.4'
const time = 'Tue, 3 Nov 2026 08:15:00 +0000'
const lineAt = (writer: string, rest = 'with ESMTPS id C1') =>
  `from innocent.example.net (innocent.example.net [${innocent}]) by ${writer} ${rest}`
const atHome = 'by mail.home.example (Postfix) with ESMTPS id B1 for <reader@home.example>'
const atMicrosoft =
  'from AM0PR01.eurprd01.prod.exchangelabs.com (2603:10a6:208::1) by ' +
  'DB9PR01.eurprd01.prod.exchangelabs.com (2603:10a6:10::2) with Microsoft SMTP Server id 15.20.1'
const viaGmail = `from mail-a.google.com (mail-a.google.com [209.85.128.50]) ${atHome}`
const viaTenant =
  'from EUR01.outbound.protection.outlook.com (eur01.outbound.protection.outlook.com ' +
  `[40.107.1.1]) ${atHome}`

type Attack = readonly [string, readonly string[], Partial<AnalysisOptions>?, string?]

const attacks: readonly Attack[] = [
  [
    'with a name of his own where the receiver has a short one',
    [
      'from mx by mx with LMTP id A1',
      'from mail.spammer.example (mail.spammer.example [198.51.100.9]) by mx with ESMTPS id B1',
      lineAt('mail.spammer.example (Postfix)'),
    ],
  ],
  [
    'behind a gateway, calling himself by his own name',
    [
      `from mail.spammer.example (unknown [172.17.0.1]) ${atHome}`,
      lineAt('mail.spammer.example (Postfix)'),
    ],
  ],
  [
    "behind a gateway, writing a provider's line",
    [
      'from mail.spammer.example (unknown [172.17.0.1]) by mail (Postfix) with ESMTPS id B1',
      lineAt('mx.google.com'),
    ],
  ],
  [
    'behind a gateway, writing as the machine itself',
    [`from mail.spammer.example (unknown [172.17.0.1]) ${atHome}`, lineAt('localhost (Postfix)')],
  ],
  [
    'as a user of the machine, by sendmail',
    [
      'by web7.hoster.example (Postfix, from userid 1033) id B1',
      lineAt('web7.hoster.example (Postfix)'),
    ],
  ],
  [
    'as a user of the machine, by qmail',
    ['(qmail 2412 invoked by uid 1033)', lineAt('web7.hoster.example (Postfix)')],
  ],
  [
    'as a user of the machine, by Exim',
    [
      'from someone by web7.hoster.example with local (Exim 4.96) id 1rABCD-0001aB-2c',
      lineAt('web7.hoster.example (Postfix)'),
    ],
  ],
  [
    'calling himself a machine of Orange',
    ['from mwinf5c99 ([198.51.100.9]) by mwinf5c23 with ME id B1', lineAt('mwinf5c99', 'with ME')],
  ],
  [
    'calling himself a machine of La Poste',
    [
      'from x.laposte.net (x [198.51.100.9]) by mlpnf0112.laposte.net with ESMTP id B1',
      lineAt('mlpnb0112'),
    ],
  ],
  [
    'as a customer of Gmail who calls himself a machine of Google',
    [
      'by 2002:a05:6a10:1234:b0:5f1:1111:2222 with SMTP id A1',
      'from x.google.com (x.spam.example. [198.51.100.9]) by smtp.gmail.com with ESMTPSA id B1',
      lineAt('mx.google.com'),
    ],
  ],
  [
    'as a customer of Microsoft who calls himself one of its machines',
    [
      atMicrosoft,
      'from x.prod.outlook.com (198.51.100.9) by AM0PR01.eurprd01.prod.exchangelabs.com ' +
        '(2603:10a6:208::1) with Microsoft SMTP Server id 15.20.1',
      `from x.example.net (${innocent}) by AM0.mail.protection.outlook.com (10.1.2.3) with ` +
        'Microsoft SMTP Server id 15.20.1',
    ],
  ],
  [
    'handing Gmail a whole message by its API',
    [
      viaGmail,
      'by mail-a.google.com with SMTP id A1',
      'from 1234 named unknown by gmailapi.google.com with HTTPREST',
      lineAt('mx.google.com', 'with ESMTPS id C1 for <reader@home.example>'),
    ],
    { reporterAddresses: ['reader@home.example'] },
  ],
  [
    "with a mailbox at Microsoft under another's name",
    [
      viaTenant,
      atMicrosoft,
      'from AM0PR01.eurprd01.prod.exchangelabs.com ([fe80::1]) by ' +
        'AM0PR01.eurprd01.prod.exchangelabs.com ([fe80::1%7]) with mapi id 15.20.1',
      `from x.example.net (${innocent}) by AM0.mail.protection.outlook.com (10.1.2.3) with ` +
        'Microsoft SMTP Server id 15.20.1',
    ],
    {},
    'X-OriginatorOrg: tenant.example\r\n',
  ],
  [
    "from a customer's line of Orange",
    [
      `from x (lfbn-par-1-234.w90-1.abo.wanadoo.fr [198.51.100.9]) ${atHome}`,
      lineAt('smtp.orange.fr', 'with ESMTP id C1 for <reader@home.example>'),
    ],
    { reporterAddresses: ['reader@home.example'] },
  ],
  [
    'calling himself by the domain of an Exchange that looks no name up',
    [
      'from relay.home.example (198.51.100.9) by ex1.home.example (10.0.0.5) with Microsoft SMTP ' +
        'Server id 15.2.1',
      lineAt('relay.home.example (Postfix)'),
    ],
    {
      dns: {
        answers: {},
        spf: { ip: innocent, result: 'pass', domain: 'spammer.example' },
        listings: [],
      },
    },
  ],
  ...(
    [
      ['a tunnel of the machine itself', 'localhost [127.0.0.1]'],
      ['a tunnel under the full name', 'localhost.localdomain [127.0.0.1]'],
      ['a tunnel from another loopback address', 'unknown [127.8.0.9]'],
      ['a tunnel by IPv6', 'localhost [IPv6:::1]'],
      ['a tunnel by mapped IPv6', 'localhost [::ffff:127.0.0.1]'],
      ['a tunnel by mapped IPv6 in groups', 'localhost [IPv6:::ffff:7f00:1]'],
      ['a tunnel whose address bears the name of the machine', 'mail.home.example [127.0.1.1]'],
    ] as const
  ).flatMap(([gateway, peer]) =>
    ['mail.spammer.example', 'mail.home.example', 'localhost', 'localhost.localdomain'].map(
      (writer): Attack => [
        `behind ${gateway}, writing as ${writer}`,
        [`from ${writer} (${peer}) ${atHome}`, lineAt(`${writer} (Postfix)`)],
      ],
    ),
  ),
  [
    'behind a tunnel, writing the lines of a content filter',
    [
      `from localhost (localhost [127.0.0.1]) ${atHome}`,
      'from mail.home.example ([127.0.0.1]) by localhost (mail.home.example [127.0.0.1]) ' +
        '(amavisd-new, port 10024) with ESMTP id C1',
      lineAt('mail.home.example (Postfix)'),
    ],
  ],
  [
    'behind a tunnel, writing as Google',
    [
      'from mx.google.com (localhost [127.0.0.1]) by mail (Postfix) with ESMTPS id B1',
      lineAt('mx.google.com'),
    ],
  ],
  [
    'logged in from inside, with lines brought along',
    [
      'from pc7 (pc7.home.example [10.0.0.7]) (Authenticated sender: bob) by mail.home.example ' +
        '(Postfix) with ESMTPSA id B1',
      lineAt('pc7.home.example (Postfix)'),
    ],
  ],
  [
    'with a mailbox at Microsoft, writing to a colleague',
    [
      atMicrosoft,
      'from AM0PR01.eurprd01.prod.exchangelabs.com ([fe80::1]) by ' +
        'AM0PR01.eurprd01.prod.exchangelabs.com ([fe80::1%7]) with mapi id 15.20.1',
      `from x.example.net (${innocent}) by AM0.mail.protection.outlook.com (10.1.2.3) with ` +
        'Microsoft SMTP Server id 15.20.1',
    ],
  ],
  [
    "with a mailbox at Microsoft, writing as if it were the reporter's",
    [
      viaTenant,
      atMicrosoft,
      'from AM0PR01.eurprd01.prod.exchangelabs.com ([fe80::1]) by ' +
        'AM0PR01.eurprd01.prod.exchangelabs.com ([fe80::1%7]) with mapi id 15.20.1',
      `from x.example.net (${innocent}) by AM0.mail.protection.outlook.com (10.1.2.3) with ` +
        'Microsoft SMTP Server id 15.20.1 for <reader@home.example>',
    ],
    { reporterAddresses: ['reader@home.example'] },
  ],
  [
    "logged in at Apple from one of Apple's machines, writing as if it were the reporter's",
    [
      `from out1.me.com (out1.me.com [17.58.6.1]) ${atHome}`,
      'from smtpclient.apple (in1.me.com [17.57.155.23]) by out1.me.com (Postfix) with ESMTPSA ' +
        'id C1',
      lineAt('in1.me.com', 'with ESMTPS id D1 for <reader@home.example>'),
    ],
    { reporterAddresses: ['reader@home.example'] },
  ],
  [
    "logged in at Zoho from inside, writing as if it were the reporter's",
    [
      `from sender1.zohomail.com (sender1.zohomail.com [136.143.188.9]) ${atHome}`,
      'from x (x [10.30.1.2]) (Authenticated sender: x) by sender1.zohomail.com with ESMTPA id C1',
      lineAt('mx.zohomail.com', 'with ESMTPS id D1 for <reader@home.example>'),
    ],
    { reporterAddresses: ['reader@home.example'] },
  ],
  [
    "as a user of Fastmail's web mail, writing as if it were the reporter's",
    [
      `from out1.messagingengine.com (out1.messagingengine.com [66.111.4.25]) ${atHome}`,
      'by mailuser.nyi.internal (Postfix, from userid 501) id C1',
      lineAt('mx1.messagingengine.com', 'with ESMTPS id D1 for <reader@home.example>'),
    ],
    { reporterAddresses: ['reader@home.example'] },
  ],
  [
    'as a user of the machine, by sSMTP',
    ['by web7.hoster.example (sSMTP sendmail emulation)', lineAt('web7.hoster.example (Postfix)')],
  ],
  ['without an address, as localhost', [`from localhost ${atHome}`, lineAt('relay.example.org')]],
  [
    'from a machine of the same hoster',
    [
      'from s17.hoster.example (s17.hoster.example [198.51.100.9]) by s9.hoster.example ' +
        'with ESMTP id B1',
      lineAt('s17.hoster.example (Postfix)'),
    ],
  ],
  [
    'calling himself by the domain of the receiver',
    [
      `from relay.home.example (unknown [198.51.100.9]) ${atHome}`,
      lineAt('relay.home.example (Postfix)'),
    ],
  ],
  [
    'under a reverse name that may be forged',
    [
      'from relay.home.example (relay.home.example [198.51.100.9] (may be forged)) by ' +
        'mail.home.example (8.17.1/8.17.1) with ESMTP id B1',
      lineAt('relay.home.example (Postfix)'),
    ],
  ],
]

test.for(attacks)(
  'a spammer %s cannot have another network accused',
  async ([, lines, options, fields = '']) => {
    const received = lines.map((line) => `Received: ${line}; ${time}\r\n`).join('')
    const raw = Buffer.from(
      `Return-Path: <x@spammer.example>\r\n${received}${fields}From: <x@bank.example>\r\n\r\n.`,
    )
    const settings = { trustedRelays: [], ignoreStamps: false, ...options }
    const { origin, submitter } = await analyzeMessage(raw, settings)
    // Below this confidence the reporter is asked and no abuse desk is notified.
    if (origin?.ip === innocent) expect(origin.confidence).toBeLessThan(0.7)
    if (submitter?.ip === innocent) expect(submitter.confidence).toBeLessThan(0.7)
    expect(origin?.hop ?? -1).toBeLessThan(lines.length)
  },
)
