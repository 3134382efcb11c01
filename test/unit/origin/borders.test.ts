import { expect, test } from 'vitest'
import { parseHeader } from '../../../src/mail/header.ts'
import { readHops } from '../../../src/origin/hop.ts'
import { findOrigin, type OriginClues } from '../../../src/origin/origin.ts'
import { relayCandidates } from '../../../src/verdict/relays.ts'

const time = 'Tue, 3 Nov 2026 08:15:00 +0000'

function walk(lines: readonly string[], clues: Partial<OriginClues> = {}) {
  const received = lines.map((line) => `Received: ${line}; ${time}\r\n`).join('')
  const { fields } = parseHeader(Buffer.from(`${received}From: a@author.example\r\n\r\n`))
  return findOrigin(fields, readHops(fields), { trustedRelays: [], ...clues })
}

const border = '198.51.100.25'
const fromBorder =
  `from mx.hoster.example (mx.hoster.example [${border}]) by mail.home.example (Postfix) with ` +
  'ESMTPS id 4A1 for <reader@home.example>'
const toBorder =
  'from mail.spammer.example (mail.spammer.example [192.0.2.9]) by mx.hoster.example (Postfix) ' +
  'with ESMTP id 4A2 for <reader@home.example>'

test('a relay of another domain that received the message from outside is asked about', () => {
  const { origin, originObstacle, hops } = walk([fromBorder, toBorder])
  expect(origin).toBeNull()
  expect(originObstacle?.code).toBe('peer-may-receive')
  expect(relayCandidates(hops)[0]).toMatchObject({ ip: border })
})

test('so is one whose next line has another name, but the same recipient', () => {
  const lower = toBorder.replace('by mx.hoster.example', 'by inside.example')
  expect(walk([fromBorder, lower]).origin).toBeNull()
})

test('it is passed once it is confirmed, and the origin once it is denied', () => {
  const cidr = `${border}/32`
  expect(walk([fromBorder, toBorder], { trustedRelays: [cidr] }).origin).toMatchObject({
    ip: '192.0.2.9',
    confidence: 0.9,
  })
  expect(walk([fromBorder, toBorder], { deniedRelays: [cidr] }).origin).toMatchObject({
    ip: border,
    confidence: 0.9,
  })
})

test.for([
  ['a client of its own network', 'from pc (pc [10.1.1.1]) by mx.hoster.example id 2'],
  ['a user who authenticated', toBorder.replace('with ESMTP ', 'with ESMTPSA ')],
  ['a machine of its own domain', toBorder.replaceAll('mail.spammer.example', 'a.hoster.example')],
  ['a program', 'by mx.hoster.example (Postfix, from userid 1000) id 2'],
  ['nobody, by its lines', 'from b (b [192.0.2.9]) by unrelated.example with ESMTP id 2'],
] as const)('a peer that received the message from %s is the origin', ([, line]) => {
  expect(walk([fromBorder, line]).origin).toMatchObject({ ip: border, confidence: 0.9 })
})

const exchangers = (...names: string[]) => ({
  exchangers: { domain: 'home.example', names, addresses: [] },
})

test('the MX records of the reporter tell which relay is theirs, by name or by address', () => {
  const found = { ip: '192.0.2.9', confidence: 0.9 }
  expect(walk([fromBorder, toBorder], exchangers('mx.hoster.example')).origin).toMatchObject(found)
  const unnamed = fromBorder.replace('(mx.hoster.example [', '(unknown [')
  const atAddress = {
    exchangers: { ...exchangers('mx2.hoster.example').exchangers, addresses: [border] },
  }
  expect(walk([unnamed, toBorder], atAddress).origin).toMatchObject(found)
})

test.for([
  ['another machine of the same domain', 'mx2.hoster.example'],
  ['the domain itself', 'hoster.example'],
] as const)('an MX record of %s does not make a relay the reporter’s', ([, name]) => {
  expect(walk([fromBorder, toBorder], exchangers(name)).originObstacle?.code).toBe(
    'peer-may-receive',
  )
})

test('a host that the MX records name recorded the origin with certainty', () => {
  expect(walk([fromBorder, toBorder], exchangers('mail.home.example')).origin).toMatchObject({
    ip: border,
    confidence: 0.9,
  })
})

test('mail to the domain of MX records came through their hosts or from a stranger', () => {
  const records = exchangers('mx.filter.example')
  const found = walk([fromBorder, toBorder], records).origin
  expect(found).toMatchObject({ ip: border, confidence: 0.9 })
  const elsewhere = fromBorder.replace('reader@home.example', 'reader@other.example')
  expect(walk([elsewhere, toBorder], records).origin).toBeNull()
})

test.for(['mx.filter.example', 'in7.filter.example'])(
  'a line below by %s, in the domain of an MX record, makes the peer doubtful',
  (writer) => {
    const lower = toBorder.replace('by mx.hoster.example', `by ${writer}`)
    expect(walk([fromBorder, lower], exchangers('mx.filter.example')).origin).toBeNull()
  },
)

test('a machine that calls itself by an MX name at another address is not accused', () => {
  const moved = fromBorder.replace('(mx.hoster.example [', '(vps-7.rented.example [')
  const { origin } = walk([moved, toBorder], exchangers('mx.hoster.example', 'mail.home.example'))
  expect(origin).toBeNull()
})

/** Names under which gateways deliver and write, and an MX name of each, by their documentation. */
const gateways = [
  ['us-smtp-delivery-1.mimecast.com', 'relay.mimecast.com', 'us-smtp-inbound-1.mimecast.com'],
  ['mx0a-0012ab01.pphosted.com', 'mx0a-0012ab01.pphosted.com', 'mxb-0012ab01.gslb.pphosted.com'],
  ['dispatch1-us1.ppe-hosted.com', 'mx1-us1.ppe-hosted.com', 'mx2-us1.ppe-hosted.com'],
  [
    'mail1.bemta24.messagelabs.com',
    'server-3.tower-1.messagelabs.com',
    'cluster5.us.messagelabs.com',
  ],
  [
    'outbound-ip7a.ess.barracudanetworks.com',
    'mx-inbound1.us-east-2a.ess.barracudanetworks.com',
    'd1.ess.barracudanetworks.com',
  ],
  ['esa1.hc42-1.iphmx.com', 'esa1.hc42-1.iphmx.com', 'mx1.hc42-1.iphmx.com'],
  ['repost01.tmes.trendmicro.com', 'pre01.tmes.trendmicro.com', 'home.in.tmes.trendmicro.com'],
  ['delivery5.antispamcloud.com', 'mx12.antispamcloud.com', 'mx2.antispamcloud.com'],
  [
    'mx-relay07-hz1.antispameurope.com',
    'mx-gate07-hz1.hornetsecurity.com',
    'mx01.hornetsecurity.com',
  ],
] as const

const behind = ([host, writer]: (typeof gateways)[number], rest: string) => [
  `from ${host} (${host} [203.0.113.25]) ${rest}`,
  `from mail.spammer.example (mail.spammer.example [192.0.2.9]) by ${writer} with ESMTPS id a-1`,
]
const receivers = [
  ['Postfix', 'by mail.home.example (Postfix) with ESMTPS id 1 for <reader@home.example>', 0.9],
  ['Google', 'by mx.google.com with ESMTPS id a1si2 for <reader@home.example>', 0.98],
] as const

test.for(gateways.flatMap((gateway) => receivers.map((receiver) => [gateway, receiver] as const)))(
  'the gateway %s is not accused, and known by the MX records it is passed',
  ([gateway, [, rest, confidence]]) => {
    const lines = behind(gateway, rest)
    expect(walk(lines).origin?.confidence ?? 0).toBeLessThan(0.7)
    expect(relayCandidates(walk(lines).hops)[0]).toMatchObject({ ip: '203.0.113.25' })
    expect(walk(lines, exchangers(gateway[2])).origin).toMatchObject({
      ip: '192.0.2.9',
      confidence,
    })
  },
)

test('at Exchange, which looks up no names, a gateway is known by the address of its name', () => {
  const [[host, writer, mx]] = gateways
  const lines = [
    `from ${host} (203.0.113.25) by A.mail.protection.outlook.com (10.1.1.1) with Microsoft SMTP ` +
      'Server id 15',
    `from mail.spammer.example (mail.spammer.example [192.0.2.9]) by ${writer} with ESMTPS id a-1`,
  ]
  expect(walk(lines, exchangers(mx)).origin?.confidence).toBeLessThan(0.7)
  const resolved = { ...exchangers(mx).exchangers, addresses: ['203.0.113.25'] }
  expect(walk(lines, { exchangers: resolved }).origin).toMatchObject({
    ip: '192.0.2.9',
    confidence: 0.98,
  })
})

test('a gateway of the author is the origin if the MX records name another host', () => {
  const [gateway] = gateways
  const [[, rest]] = receivers
  const { origin } = walk(behind(gateway, rest), exchangers('mail.home.example'))
  expect(origin).toMatchObject({ ip: '203.0.113.25', confidence: 0.9 })
})

test('records at a provider count only for mail to the domain whose records they are', () => {
  const lines = behind(gateways[0], receivers[1][1])
  const records = exchangers('aspmx.l.google.com')
  expect(walk(lines, records).origin).toMatchObject({ ip: '203.0.113.25', confidence: 0.98 })
  const others = { exchangers: { ...records.exchangers, domain: 'gmail.example' } }
  expect(walk(lines, others).origin?.confidence).toBeLessThan(0.7)
})

test('a machine with a bare name finds its domain by the recipient and its peer', () => {
  const inner =
    'from mx.home.example (mx.home.example [198.51.100.7]) by lists (Postfix) with ESMTP id 1 '
  const outer =
    'from mail.spammer.example (mail.spammer.example [192.0.2.9]) by mx.home.example id 2'
  const found = { ip: '192.0.2.9', confidence: 0.9 }
  expect(walk([`${inner}for <reader@home.example>`, outer]).origin).toMatchObject(found)
  expect(walk([`${inner}for <reader@other.example>`, outer]).origin).toBeNull()
})

const loop = (ids: readonly [string, string], name = 'mail.home.example') => [
  `from localhost (localhost [127.0.0.1]) by ${name} (Postfix) with ESMTP id ${ids[0]}`,
  `from ${name} ([127.0.0.1]) by localhost (${name} [127.0.0.1]) (amavisd-new, port 10024) with ` +
    'ESMTP id aB3-x',
  `from mail.spammer.example (mail.spammer.example [192.0.2.9]) by ${name} (Postfix) with ESMTPS ` +
    `id ${ids[1]} for <reader@home.example>`,
]

test.for([
  ['DF4BB4BA4A', 'EC2A34BC1C', 'Postfix'],
  ['4dFwqC3Zr2z1Bq3', '4dFwq72sWxz1Bpx', 'Postfix with long identifiers'],
  ['1vFabc-0000000AbcD-1x2Y', '1vFabb-0000000AbcC-0Zz9', 'Exim'],
  ['5B9DDo8Y068009', '5B9DDnxK068001', 'Sendmail'],
  ['0190a5b4-7c11-7d2e.2', '0190a5b4-7c11-7d2e.1', 'a session'],
  ['84f3', '84f2', 'a counter'],
] as const)(
  'a loop through a filter is no doubt if its identifiers agree: %s, %s',
  ([one, other]) => {
    expect(walk(loop([one, other])).origin).toMatchObject({ ip: '192.0.2.9', confidence: 0.9 })
  },
)

test.for([
  ['that are of another kind', 'DF4BB4BA4A', '5B9DDnxK068001'],
  ['with a time that no clock has', 'FFFFF4BA4A', 'EC2A34BC1C'],
  ['of a larger file system', 'DF4BB4BA4A', 'EC2A36BC1C'],
  ['of another process', '1vFabc-0000000AbcD-1x2Y', '1vFabb-0000000Zbc0-0Zz9'],
  ['of another day', '5B9DDo8Y068009', '58RDDnxK068001'],
  ['that nobody writes', 'A1', 'B1'],
  ['of another form that begin otherwise', '0190a5b4-7c11-7d2e.2', '0191c7d0-1b2a-4f11.1'],
  ['of another length', '84f3', '84f21'],
  ['of which one is known', 'DF4BB4BA4A', 'DF4BB4BA4x'],
  ['that are equal', 'DF4BB4BA4A', 'DF4BB4BA4A'],
] as const)('a loop with identifiers %s is asked about', ([, one, other]) => {
  expect(walk(loop([one, other])).origin?.confidence ?? 0).toBeLessThan(0.7)
})

test('a machine with an internal address and a reverse name of its own is no doubt', () => {
  const inner = (rdns: string) =>
    `from filter.home.example (${rdns} [10.0.0.7]) by mbox.home.example (Postfix) with ESMTPS id 1`
  const outer =
    'from mail.spammer.example (mail.spammer.example [192.0.2.9]) by filter.home.example id 2'
  const found = walk([inner('filter.internal.home.example'), outer]).origin
  expect(found).toMatchObject({ ip: '192.0.2.9', confidence: 0.9 })
  for (const rdns of ['unknown', '_gateway', 'router.lan']) {
    expect(walk([inner(rdns), outer]).origin?.confidence).toBeLessThan(0.7)
  }
  const claims = inner('mail.internal').replace('filter.home.example', 'mail.spammer.example')
  const forged = outer.replace('by filter.home.example', 'by mail.spammer.example')
  expect(walk([claims, forged]).origin?.confidence).toBeLessThan(0.7)
})

test('a stranger whose name was looked up cannot pass for a gateway by its greeting', () => {
  const [gateway] = gateways
  const lines = behind(gateway, receivers[1][1])
  const named = (lines[0] ?? '').replace(`(${gateway[0]} [`, '(mail.spammer.example [')
  expect(walk([named, ...lines.slice(1)]).origin).toMatchObject({ confidence: 0.98 })
})

test('a stranger that greets with the name of an MX host is the origin', () => {
  const greeting = fromBorder.replace('from mx.hoster.example', 'from mail.home.example')
  const { origin } = walk([greeting, toBorder], exchangers('mail.home.example', 'mx2.home.example'))
  expect(origin).toMatchObject({ ip: border, confidence: 0.9 })
})

test('a forwarder is asked about, also where a provider or the records know the receiver', () => {
  const lower = toBorder.replace('reader@home.example', 'alias@hoster.example')
  const atGoogle = fromBorder.replace(
    /by .*/,
    'by mx.google.com with ESMTPS id a1 for <r@gmail.com>',
  )
  expect(
    walk([atGoogle, toBorder.replace('reader@home.example', 'r@gmail.com')]).origin,
  ).toMatchObject({
    ip: border,
    confidence: 0.98,
  })
  expect(walk([atGoogle, lower]).origin?.confidence).toBeLessThan(0.7)
  expect(walk([fromBorder, lower], exchangers('mail.home.example')).origin).toBeNull()
})

test('a provider in the MX records hands mail on to the servers of its customer', () => {
  const lines = [
    'from mail-a1.google.com (mail-a1.google.com [209.85.160.1]) by mail.home.example (Postfix) ' +
      'with ESMTPS id 1 for <reader@home.example>',
    'from mail.spammer.example (mail.spammer.example [192.0.2.9]) by mx.google.com with ESMTPS id 2',
  ]
  expect(walk(lines, exchangers('mx2.home.example')).origin).toMatchObject({ confidence: 0.9 })
  expect(walk(lines, exchangers('aspmx.l.google.com')).origin).toBeNull()
})

test.for([
  ['whose own filter runs as a user', 'by mx.hoster.example (Postfix, from userid 1001) id'],
  ['with an inner machine', 'from inner (inner [10.0.0.8]) by mx.hoster.example with ESMTP id'],
] as const)('a relay %s is asked about', ([, step]) => {
  const at = (line: string, id: string) => line.replace(/id 4A\d/, `id ${id}`)
  const inner = step.includes('userid') ? 'mx.hoster.example' : 'inner.corp.lan'
  const lower = at(toBorder, '0A3BD4BC1C').replace('by mx.hoster.example', `by ${inner}`)
  expect(walk([fromBorder, `${step} 0C3BD4BC1D`, lower]).origin).toBeNull()
})

test('the name that a hoster gives to all its machines makes no spammer a neighbor', () => {
  const upper = fromBorder.replaceAll('mx.hoster.example', 'static.25.100.51.198.hoster.example')
  const lower = toBorder
    .replaceAll('mail.spammer.example', 'static.9.2.0.192.hoster.example')
    .replace('by mx.hoster.example', 'by static.25.100.51.198.hoster.example')
  expect(walk([upper, lower]).origin?.confidence).toBeLessThan(0.7)
})

test.for(['gateway.lan', '_gateway', 'host.docker.internal'])(
  'behind the router %s, which hides its clients, no line is certain',
  (router) => {
    const lines = [
      `from ${router} (${router} [172.17.0.1]) by mail.home.example (Postfix) with ESMTP id 1`,
      `from bank.example (bank.example [192.0.2.9]) by ${router} with ESMTP id 2`,
    ]
    expect(walk(lines).origin?.confidence ?? 0).toBeLessThan(0.7)
  },
)

test('a machine that a gateway gives to another customer is not the reporter’s', () => {
  const lines = behind(gateways[1], receivers[0][1])
  const { origin } = walk(lines, exchangers('mxa-00777777.gslb.pphosted.com'))
  expect(origin).toMatchObject({ ip: '203.0.113.25', confidence: 0.9 })
})

test('at a host that received a test letter, a peer is a stranger, but may be a forwarder', () => {
  const known = { borders: ['mail.home.example'] }
  expect(walk([fromBorder, toBorder], known).origin).toMatchObject({ ip: border, confidence: 0.9 })
  const lower = toBorder.replace('reader@home.example', 'alias@hoster.example')
  expect(walk([fromBorder, lower], known).origin).toBeNull()
  const [gateway] = gateways
  const [[, rest]] = receivers
  expect(walk(behind(gateway, rest), known).origin).toMatchObject({ confidence: 0.9 })
})

test('a gateway that received a test letter delivers under all its names', () => {
  const [gateway] = gateways
  const [[, rest]] = receivers
  expect(walk(behind(gateway, rest), { borders: [gateway[1]] }).origin).toMatchObject({
    ip: '192.0.2.9',
    confidence: 0.9,
  })
})

const fetched = (mailbox: string, border: string) => [
  'from pc (localhost [127.0.0.1]) by mail.home.example (Postfix) with ESMTP id 1 for <me@localhost>',
  `from ${mailbox} [203.0.113.143] by pc with IMAP (fetchmail-6.4.37) for <me@localhost>`,
  `from mail.spammer.example (mail.spammer.example [192.0.2.9]) by ${border} with ESMTPS id 2`,
]

test.for([
  ['at a known provider', 'imap.gmail.com', 'mx.google.com', 0.88],
  ['whose provider names itself', 'imap.hoster.example', 'mx.hoster.example', 0.81],
  ['whose lines have other names', 'imap.hoster.example', 'mx.elsewhere.example', 0.54],
] as const)('a message was fetched from a mailbox %s', ([, mailbox, mx, confidence]) => {
  expect(walk(fetched(mailbox, mx)).origin).toMatchObject({ ip: '192.0.2.9', confidence })
})

test('denying a neighbor of the receiver names nobody', () => {
  const near = fromBorder.replace('by mail.home.example', 'by mail.home.example (198.51.100.7)')
  const denied = { deniedRelays: [`${border}/32`] }
  expect(walk([near, toBorder], denied).originObstacle?.code).toBe('peer-denied-but-near')
  const far = near.replace('198.51.100.7', '203.0.113.7')
  expect(walk([far, toBorder], denied).origin).toMatchObject({ ip: border, confidence: 0.9 })
})
