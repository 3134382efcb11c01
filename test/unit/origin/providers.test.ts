import { expect, test } from 'vitest'
import { analyzeMessage } from '../../../src/pieces/analyze.ts'
import { providerProfiles } from '../../../src/origin/provider-profiles.ts'

const time = 'Tue, 3 Nov 2026 08:15:00 +0000'
const received = (lines: readonly string[]) =>
  lines.map((line) => `Received: ${line}; ${time}\r\n`).join('')

const analyze = (lines: readonly string[], above = '', below = '') =>
  analyzeMessage(Buffer.from(`${above}${received(lines)}${below}From: a@author.example\r\n\r\n.`), {
    trustedRelays: [],
    ignoreStamps: false,
  })

/** Forged lines that a sender may write below the lines of any provider. */
const claim = 'from bar (bar.example.org [203.0.113.9]) by foo.example.com with ESMTP id 9'

/** The lines that each provider writes above a message received from 192.0.2.7. */
const mailboxes = {
  Microsoft: [
    'from AB1.namprd10.prod.outlook.com (::1) by AB2.namprd20.prod.outlook.com with HTTPS',
    'from AB3.namprd04.prod.outlook.com (2603:10b6:208:558:cafe::97) by ' +
      'AB4.outlook.office365.com (2603:10b6:208:558::8) with Microsoft SMTP Server id 15.20.1.1',
    'from foo.example.com (192.0.2.7) by AB3.mail.protection.outlook.com (10.167.242.73) with ' +
      'Microsoft SMTP Server id 15.20.1.1 via Frontend Transport',
  ],
  Google: [
    'by 2002:a05:6a10:1:b0:4aa:1:2 with SMTP id 0csp1',
    'from foo.example.com (foo.example.com. [192.0.2.7]) by mx.google.com with ESMTPS id 1',
  ],
  Yahoo: [
    'from 10.222.142.79 by atlas112.aol.mail.bf1.yahoo.com with HTTP',
    'from 192.0.2.7 (EHLO foo.example.com) by 10.222.142.79 with SMTPs',
  ],
  Apple: [
    'from p00-icloudmta-smtpin-eu-west-1a-9 by p23-mailgateway-smtp-1a2b3c-x1 (mailgateway ' +
      '2634B97) with SMTP id 1',
    'from foo.example.com (foo.example.com [192.0.2.7]) by p00-icloudmta-smtpin-eu-west-1a-9 ' +
      '(Postfix) with ESMTPS id 2',
  ],
  Proton: [
    'from foo.example.com (foo.example.com [192.0.2.7]) by mailin034.protonmail.ch (Postfix) ' +
      'with ESMTPS id 1',
  ],
  'GMX and WEB.DE': [
    'from foo.example.com ([192.0.2.7]) by mx-ha.gmx.net (mxgmx016 [212.227.15.9]) with ESMTPS ' +
      '(Nemesis) id 1Mabc',
  ],
  Orange: [
    'from mwinf5c43 (mwinf5c43.orange.fr [10.223.111.93]) by mwinb1d05 with LMTPA',
    'from foo.example.com ([192.0.2.7]) by mwinf5c43 with ME id abc1',
  ],
  Free: [
    'from mx33-g26.priv.proxad.net (mx33-g26.priv.proxad.net [172.20.243.103]) by ' +
      'zimbra22-e7.priv.proxad.net (Postfix) with ESMTP id 1',
    'from foo.example.com ([192.0.2.7]) by mx1-g20.free.fr (MXproxy) with ESMTPS',
  ],
  SFR: [
    'from foo.example.com (foo.example.com [192.0.2.7]) by msfrf2201.sfr.fr (SMTP Server) with ' +
      'ESMTP id 1C0000000001',
  ],
  'La Poste': [
    'from mlpnf0107.laposte.net (mlpnf0107 [10.94.128.86]) by mlpnb0112 with LMTPA',
    'from foo.example.com ([192.0.2.7]) by mlpnf0107.laposte.net (SMTP Server) with ESMTP id 1',
  ],
  OVH: [
    'from in52.mail.ovh.net (172.16.2.4) by DAG1EX2.mxp5.local (172.16.2.2) with Microsoft SMTP ' +
      'Server id 15.1.1.1',
    'from foo.example.com (foo.example.com [192.0.2.7]) by in52.mail.ovh.net (Postfix) with ' +
      'ESMTPS id 1',
  ],
  'Mail.ru': [
    'from [192.0.2.7] (port=48290 helo=foo.example.com) by mx273.mail.ru with esmtp ' +
      '(envelope-from <a@author.example>) id 1abc-0',
  ],
  Yandex: [
    'from mxfront-17.iva.yp-c.yandex.net (mxfront-17.iva.yp-c.yandex.net [2a02:6b8:c0c:1::2]) by ' +
      'mailbox-3.iva.yp-c.yandex.net with LMTP id 1',
    'from foo.example.com (foo.example.com [192.0.2.7]) by mxfront-17.iva.yp-c.yandex.net ' +
      '(mxfront) with ESMTPS id 2',
  ],
  Zoho: [
    'from foo.example.com (foo.example.com [192.0.2.7]) by mx.zohomail.com with SMTPS id 17000.1',
  ],
  Fastmail: [
    'from phl-compute-05.internal (phl-compute-05.phl.internal [10.202.2.45]) by sloti9d2t09 ' +
      '(Cyrus 3.11) with LMTPA',
    'from phl-mx-03 ([10.202.2.202]) by phl-compute-05.phl.internal (LMTPProxy)',
    'from foo.example.com (foo.example.com [192.0.2.7]) by mx2.messagingengine.com (Postfix) ' +
      'with ESMTPS id 2',
  ],
} as const

test('every known provider has a case here', () => {
  expect(Object.keys(mailboxes)).toEqual(providerProfiles.map(({ name }) => name))
})

test.for(Object.entries(mailboxes))('a mailbox at %s is recognized', async ([name, lines]) => {
  const { origin, hops } = await analyze([...lines, claim])
  expect(origin).toMatchObject({ ip: '192.0.2.7', hop: lines.length - 1, confidence: 0.98 })
  expect(origin?.why[0]).toEqual({ code: 'received-by', params: { provider: name } })
  expect(hops.at(-1)?.trust).toBe('claimed')
})

const olderMailboxes = [
  [
    'Apple',
    'from st43p00im-ztfb10073301.me.com by p23-mailgateway-smtp-1a2b3c-x1 (mailgateway 2403B92) ' +
      'with SMTP id 1',
    'from foo.example.com (foo.example.com [192.0.2.7]) by st43p00im-ztfb10073301.me.com ' +
      '(Postfix) with ESMTPS id 2',
  ],
  [
    'Yandex',
    'from mxfront9m.mail.yandex.net ([127.0.0.1]) by mxfront9m.mail.yandex.net with LMTP id 1',
    'from foo.example.com (foo.example.com [192.0.2.7]) by mxfront9m.mail.yandex.net ' +
      '(nwsmtp/Yandex) with ESMTPS id 2',
  ],
] as const

test.for(olderMailboxes)('a mailbox at %s that writes other lines', async ([name, ...lines]) => {
  const { origin } = await analyze([...lines, claim])
  expect(origin).toMatchObject({ ip: '192.0.2.7', hop: 1, confidence: 0.98 })
  expect(origin?.why[0]).toEqual({ code: 'received-by', params: { provider: name } })
})

test.for([
  [
    'a machine outside that calls itself by an inner name',
    ['from p00-icloudmta-smtpin-a by p9.mail.icloud.com (Postfix) with ESMTP id 1', claim],
  ],
  [
    'a user who submits',
    ['from p00-icloudmta-smtpin-a by p23-mailgateway-smtp-1 (mailgateway 1) with ESMTPSA', claim],
  ],
  [
    'a machine whose name the next line does not have',
    [
      'from foo by p23-mailgateway-smtp-1 (mailgateway 1) with SMTP id 1',
      'from a (a [192.0.2.7]) by p00-icloudmta-smtpin-a (Postfix) with ESMTPS id 2',
    ],
  ],
] as const)('a line of a provider without an address is not passed for %s', async ([, lines]) => {
  expect((await analyze(lines)).origin).toBeNull()
})

const toProton = (peer: string) =>
  `from ${peer} by mailin034.protonmail.ch (Postfix) with ESMTPS id 1`
const viaGoogle = toProton('mail-a.google.com (mail-a.google.com [209.85.219.48])')
const viaMicrosoft = toProton('AB5.outbound.protection.outlook.com (unknown [52.100.156.204])')
const insideMicrosoft =
  'from AB6.namprd03.prod.outlook.com (2603:10b6:408:13f::29) by ' +
  'AB7.namprd19.prod.outlook.com (2603:10b6:a03:45b::20) with Microsoft SMTP Server id 15.20.1.1'
const mailboxOfMicrosoft =
  'from AB7.namprd19.prod.outlook.com ([fe80::8711:1732:dfdb:e239]) by ' +
  'AB7.namprd19.prod.outlook.com ([fe80::8711:1732:dfdb:e239%7]) with mapi id 15.20.1.1'
const borderOfMicrosoft =
  'from mail.example.com (192.0.2.44) by AB8.mail.protection.outlook.com (10.13.177.54) with ' +
  'Microsoft SMTP Server id 15.20.1.1 via Frontend Transport'
const atGmail = 'from desk ([192.0.2.44]) by smtp.gmail.com with ESMTPSA id 3'

test.for([
  ['a client of Gmail', [viaGoogle, 'by mail-a.google.com with SMTP id 2', atGmail], 0.95],
  ['a machine behind Microsoft', [viaMicrosoft, insideMicrosoft, borderOfMicrosoft], 0.95],
  [
    'one behind a mailbox that sends on',
    [viaMicrosoft, insideMicrosoft, mailboxOfMicrosoft, borderOfMicrosoft],
    0.66,
  ],
] as const)('the submitter is %s', async ([, lines, confidence]) => {
  const { submitter, origin, hops } = await analyze([...lines, claim])
  expect(submitter).toMatchObject({ ip: '192.0.2.44', confidence })
  expect(submitter?.how).toMatchObject({
    code: expect.stringMatching(/^submitter-(customer|client)$/) as string,
    params: {
      line: expect.any(Number) as number,
      provider: expect.stringMatching(/^(Google|Microsoft)$/) as string,
      ip: '192.0.2.44',
    },
  })
  expect(origin?.hop).toBe(0)
  expect(hops.at(lines.length - 1)?.trust).toBe('believed')
  expect(hops.at(-1)?.trust).toBe('claimed')
})

const submitted = 'from desk (client.example.com [192.0.2.44])'

test.for([
  ['Free', 'smtp3-g21.free.fr [212.27.42.3]', [`${submitted} by smtp3-g21.free.fr (Postfix)`]],
  [
    'La Poste',
    'smtp-outgoing.laposte.net [160.92.124.99]',
    [
      'from outgoing-mail.laposte.net (localhost.localdomain [127.0.0.1]) by ' +
        'mlpnf0103.laposte.net (SMTP Server) with ESMTP id 1',
      `${submitted} by mlpnf0103.laposte.net (SMTP Server) with ESMTPSA id 2`,
    ],
  ],
  [
    'SFR',
    'smtp24.services.sfr.fr [93.17.128.82]',
    [
      'from filter.sfr.fr (localhost [127.0.0.1]) by msfrf2408.sfr.fr (SMTP Server) with ESMTP ' +
        'id 1',
      `${submitted} by msfrf2408.sfr.fr (SMTP Server) with SMTP id 2`,
    ],
  ],
  [
    'GMX and WEB.DE',
    'mout.web.de [212.227.15.14]',
    ['from [10.0.0.4] ([192.0.2.44]) by smtp.web.de (mrweb001) with ESMTPSA (Nemesis) id 1'],
  ],
  [
    'Fastmail',
    'out1.messagingengine.com [66.111.4.25]',
    [
      'from compute1.nyi.internal (compute1.nyi.internal [10.202.2.41]) by ' +
        'out1.messagingengine.com (Postfix) with ESMTP id 1',
      `${submitted} by mail.messagingengine.com (Postfix) with ESMTPSA id 2`,
    ],
  ],
] as const)('a client of %s is found in the lines that it writes', async ([name, peer, lines]) => {
  const { submitter } = await analyze([toProton(`out (${peer})`), ...lines, claim])
  expect(submitter).toMatchObject({ ip: '192.0.2.44', how: { params: { provider: name } } })
})

test('the machines from which Apple sends are known', async () => {
  const inside =
    'from outbound.st.icloud.com (unknown [127.0.0.2]) by p00-icloudmta-asmtp-us-east-1a-7 ' +
    '(Postfix) with ESMTPS id 1'
  const { hops } = await analyze([toProton('out (unknown [57.103.77.251])'), inside])
  expect(hops[1]).toMatchObject({ trust: 'believed' })
})

test.for([
  ['the provider saw no address', [viaMicrosoft, insideMicrosoft, mailboxOfMicrosoft]],
  ['a stranger wrote the next line', [viaGoogle, claim]],
  [
    'a stranger calls himself by its name',
    [toProton('mail-a.google.com (unknown [192.0.2.7])'), 'by mail-a.google.com id 2', atGmail],
  ],
] as const)('there is no submitter if %s', async ([, lines]) => {
  expect((await analyze(lines)).submitter).toBeNull()
})

test.for([
  ['Orange is believed, though less', 'smtp-80.smtpout.orange.fr [80.12.242.80]', 0.6],
  ['anybody else is not', 'out.example.com [198.51.100.3]', undefined],
] as const)('a field with the client by %s', async ([, peer, confidence]) => {
  const line = toProton(`out (${peer})`)
  const { submitter } = await analyze([line], '', 'X-ME-IP: 192.0.2.44\r\n')
  expect(submitter?.confidence).toBe(confidence)
})

const connecting = 'X-MS-Exchange-CrossTenant-OriginalAttributedTenantConnectingIp: TenantId=1;Ip='
const results = (instance: number, sealer: string, spf: string) =>
  `ARC-Authentication-Results: i=${instance}; ${sealer} 1; spf=${spf} smtp.mailfrom=a;\r\n` +
  ' dmarc=none\r\n'
const seen = 'pass (sender ip is\r\n 192.0.2.44)'

test.for([
  ['the connecting address', `${connecting}[192.0.2.44];Helo=[foo]\r\n`, '192.0.2.44'],
  ['the results for its seal', results(1, 'mx.microsoft.com', seen), '192.0.2.44'],
  [
    'the results for its first seal, where it received its own mail',
    results(2, 'mx.microsoft.com', 'pass (sender ip is 40.107.1.1)') +
      results(1, 'mx.microsoft.com', seen),
    '192.0.2.44',
  ],
  ['nothing in the results of somebody else', results(1, 'mx.example.com', seen), undefined],
  ['nothing in results without an address', results(1, 'mx.microsoft.com', 'none'), undefined],
  ['nothing but its own machine', `${connecting}[40.95.7.7];Helo=[foo]\r\n`, undefined],
] as const)('Microsoft records a client without a verified seal: %s', async ([, stamps, ip]) => {
  const relayPool = toProton('AB5.rly.outbound.protection.outlook.com (unknown [40.95.7.7])')
  const { submitter } = await analyze([relayPool], '', stamps)
  expect(submitter?.ip).toBe(ip)
  expect(submitter?.confidence).toBe(ip === undefined ? undefined : 0.6)
})
