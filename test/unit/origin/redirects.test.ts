import { expect, test } from 'vitest'
import { parseHeader } from '../../../src/mail/header.ts'
import { readHops } from '../../../src/origin/hop.ts'
import { findOrigin, type OriginClues } from '../../../src/origin/origin.ts'

const time = 'Tue, 3 Nov 2026 08:15:00 +0000'
const spammer = '192.0.2.9'
const fromSpammer = `from mail.spammer.example (mail.spammer.example [${spammer}])`
const forwarder = '198.51.100.25'
const fromOld = `from mail.old.example (mail.old.example [${forwarder}])`
const toMailbox = 'by mx.home.example (Postfix) with ESMTPS id 4A1'
const toOld = `${fromSpammer} by mail.old.example (Postfix) with ESMTPS id 4A2`

/** Received lines are strings without a name; the others are fields between them. */
function headerOf(lines: readonly string[], from = 'a@spammer.example'): Buffer {
  const fields = lines.map((line) => {
    return /^(from|by|\() ?/.test(line) ? `Received: ${line}; ${time}` : line
  })
  return Buffer.from([...fields, `From: ${from}`, '', ''].join('\r\n'))
}

function walk(lines: readonly string[], clues: Partial<OriginClues> = {}, from?: string) {
  const { fields } = parseHeader(headerOf(lines, from))
  const reporterAddresses = ['me@home.example']
  return findOrigin(fields, readHops(fields), { trustedRelays: [], reporterAddresses, ...clues })
}

const records = {
  exchangers: { domain: 'home.example', names: ['mx.home.example'], addresses: [] },
}
const letter = { borders: ['mx.home.example'] }
const confirmed = { trustedRelays: [`${forwarder}/32`] }

const redirects: Record<string, readonly string[]> = {
  'a Sieve script, which names the mailbox': [
    `${fromOld} ${toMailbox}`,
    'X-Sieve: Pigeonhole Sieve 0.5.21',
    'X-Sieve-Redirected-From: me@old.example',
    toOld,
  ],
  'a mailbox to which it was delivered before': [
    'Delivered-To: me@home.example',
    `${fromOld} ${toMailbox}`,
    'Delivered-To: me@old.example',
    toOld,
  ],
  'an alias, by the line of its border': [
    'Return-Path: <a@spammer.example>',
    'Delivered-To: me@home.example',
    `${fromOld} ${toMailbox}`,
    `${toOld} for <info@shop.example>`,
  ],
  'an alias, where nothing else names the recipient': [
    `${fromOld} ${toMailbox}`,
    `${toOld} for <info@shop.example>`,
  ],
  'a rule of Exchange, which sends it again': [
    `${fromOld} ${toMailbox} for <me@home.example>`,
    'Resent-From: "Me" <me@old.example>',
    toOld,
  ],
  'a mailbox of qmail, whose lines about itself name no machine': [
    `${fromOld} ${toMailbox}`,
    'Delivered-To: me@old.example',
    '(qmail 1234 invoked from network)',
    `from mail.spammer.example (HELO x) (${spammer}) by mail.old.example with SMTP`,
  ],
  'an inner machine behind its border': [
    `from out.old.example (out.old.example [${forwarder}]) ${toMailbox}`,
    'from imap (imap [10.1.1.4]) by out.old.example (Postfix) with ESMTP id 4A3',
    'X-Sieve-Redirected-From: me@old.example',
    'from mx (mx [10.1.1.3]) by imap.old.example with LMTP id 4A4',
    `${fromSpammer} by mx.old.example (Postfix) with ESMTPS id 4A2`,
  ],
  'a forwarder that rewrites the return path': [
    'Return-Path: <SRS0=ab12=CD=spammer.example=a@old.example>',
    `${fromOld} ${toMailbox}`,
    toOld,
  ],
}

test.for(Object.entries(redirects))(
  'a message that came through %s, accuses nobody before the forwarder is confirmed',
  ([, lines]) => {
    for (const known of [{}, records, letter]) {
      expect(walk(lines, known).origin?.confidence ?? 0).toBeLessThan(0.7)
      expect(walk(lines, { ...known, ...confirmed }).origin).toMatchObject({ ip: spammer })
    }
  },
)

test.for([
  ['names no other recipient', []],
  ['was for the same recipient', ['Delivered-To: me@home.example']],
  ['was for another name in the same domain', ['X-Original-To: info@home.example']],
] as const)('a relay that %s is the origin, if the receiver is known', ([, fields]) => {
  for (const known of [records, letter]) {
    const { origin } = walk([`${fromOld} ${toMailbox}`, ...fields, toOld], known)
    expect(origin).toMatchObject({ ip: forwarder, confidence: 0.9 })
  }
})

test('a field below the line at which a message came from outside says nothing', () => {
  const lines = [`${fromOld} ${toMailbox}`, toOld, 'X-Sieve-Redirected-From: me@bank.example']
  expect(walk(lines, records).origin).toMatchObject({ ip: forwarder, confidence: 0.9 })
})

const google = '209.85.218.41'
const throughGoogle = [
  `from mail-a.google.com (mail-a.google.com [${google}]) ${toMailbox} for <me@home.example>`,
  'by mail-a.google.com with SMTP id 2 for <me@home.example>',
  'X-Forwarded-For: me@gmail.com me@home.example',
  `${fromSpammer} by mx.google.com with ESMTPS id 3 for <me@gmail.com>`,
]

test('a large provider that forwards to the reporter is not accused with certainty', () => {
  expect(walk(throughGoogle, records).origin).toMatchObject({ ip: google, confidence: 0.54 })
  const toOther = { ...records, reporterAddresses: ['other@home.example'] }
  expect(walk(throughGoogle, toOther).origin).toMatchObject({ confidence: 0.9 })
  const byCustomer = throughGoogle.with(3, 'from pc ([192.0.2.7]) by smtp.gmail.com with ESMTPSA')
  expect(walk(byCustomer, records).origin).toMatchObject({ ip: google, confidence: 0.9 })
  const ofList = [...throughGoogle, 'List-Id: <garden.list.example>']
  expect(walk(ofList, records).origin).toMatchObject({ ip: google, confidence: 0.9 })
})

const fromList = `from lists.club.example (lists.club.example [${forwarder}])`
const byList = 'by lists.club.example (Postfix) with ESMTPS id'
const inside = `from mx.club.example (mx.club.example [198.51.100.26]) ${byList} 4A3`
const listFields = ['List-Id: <garden.club.example>', 'List-Post: <mailto:garden@club.example>']

const lists: Record<string, readonly string[]> = {
  'its line': [`${fromSpammer} ${byList} 4A2 for <garden@club.example>`],
  'a loop through its program': [
    `from lists.club.example (localhost [127.0.0.1]) ${byList} 0C3BD4BC1D`,
    'Delivered-To: garden@club.example',
    `${fromSpammer} ${byList} 0A3BD4BC1C for <garden@club.example>`,
  ],
  'a filter': [
    `from lists.club.example (localhost [127.0.0.1]) ${byList} 0E3BD4BC1F`,
    'from lists.club.example ([127.0.0.1]) by localhost (lists.club.example [127.0.0.1]) ' +
      '(amavis, port 10024) with ESMTP id aB3-x',
    `${fromSpammer} ${byList} 0A3BD4BC1C for <garden@club.example>`,
  ],
  'a program of Exim': [
    'from localhost ([127.0.0.1] helo=lists.club.example) by lists.club.example with esmtp ' +
      '(Exim 4.96) id 1tGabc-0001Aa-1X for me@home.example',
    'from mail.spammer.example ([192.0.2.9]) by lists.club.example with esmtps (Exim 4.96) id ' +
      '1tGabc-0001AY-0Z for garden@club.example',
  ],
  'only the field of its delivery': [
    'Delivered-To: garden@club.example',
    `${fromSpammer} ${byList} 4A2`,
  ],
}

test.for(Object.entries(lists))(
  'who posted to a mailing list is named once its host is confirmed: by %s',
  ([, lines]) => {
    const all = [`${fromList} ${toMailbox} for <me@home.example>`, ...lines, ...listFields]
    for (const known of [{}, records, letter]) {
      expect(walk(all, known).origin?.confidence ?? 0).toBeLessThan(0.7)
      expect(walk(all, { ...known, ...confirmed }).origin).toMatchObject({
        ip: spammer,
        confidence: 0.9,
      })
    }
  },
)

test('below a confirmed machine, what is known of the receiver accuses nobody', () => {
  const lower = `${fromSpammer} by mx.club.example id 4A2 for <garden@club.example>`
  const first = `${fromList} ${toMailbox} for <me@home.example>`
  const lines = [first, `${inside} for <garden@club.example>`, lower, ...listFields]
  for (const known of [records, letter]) {
    expect(walk(lines, { ...known, ...confirmed }).origin?.confidence ?? 0).toBeLessThan(0.7)
  }
  const atGoogle = first.replace(toMailbox, 'by mx.google.com with ESMTPS id a1')
  const found = walk([atGoogle, ...lines.slice(1)], confirmed).origin
  expect(found?.confidence ?? 0).toBeLessThan(0.7)
})

test('the author’s signature also proves a poster whom the border of a list recorded', () => {
  const lower = `${fromSpammer} by mx.club.example (Postfix) with ESMTPS id 4A2`
  const lines = [`${fromList} ${toMailbox}`, inside, lower, ...listFields]
  const poster = { author: 'spammer.example', names: ['mail.spammer.example'] }
  expect(walk(lines, { poster }).origin).toMatchObject({ ip: spammer, confidence: 0.81 })
})
