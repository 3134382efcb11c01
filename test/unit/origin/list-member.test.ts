import { expect, test } from 'vitest'
import { askAbout } from '../../../src/origin/authenticity/ask-dns.ts'
import { analyzeMessage } from '../../../src/pieces/analyze.ts'
import { isRelayed, subjectsOf } from '../../../src/verdict/subjects.ts'
import { fakeDns, type FakeZone, rsaKey, signed } from '../../support/signing.ts'

const key = rsaKey()
const options = { trustedRelays: [], ignoreStamps: false }
const time = 'Mon, 16 Nov 2026 10:00:00 +0000'

/** A post to a mailing list, signed by its author's domain, as the list passes it on. */
async function listedPost(): Promise<Buffer> {
  const post = [
    `Received: from poster.example.com (poster.example.com [192.0.2.7])`,
    ` by lists.example.org (Postfix) with ESMTPS id 2; ${time}`,
    'From: Poster <poster@example.com>',
    'To: garden@lists.example.org',
    'Subject: Cheap watches',
    `Date: ${time}`,
    'Message-ID: <1@example.com>',
    '',
    'Buy cheap watches.',
    '',
  ].join('\r\n')
  const covering = 'From:To:Subject:Date:Message-ID'
  const whole = await signed(Buffer.from(post), { domain: 'example.com', key, covering })
  const byList = [
    'Return-Path: <garden-bounces@lists.example.org>',
    'Received: from lists.example.org (lists.example.org [198.51.100.20])',
    ` by mx.provider.example (Postfix) with ESMTPS id 1; ${time}`,
    'List-Id: Garden <garden.lists.example.org>',
    '',
  ].join('\r\n')
  return Buffer.concat([Buffer.from(byList), whole])
}

const zone: FakeZone = {
  'TXT s1._domainkey.example.com': [key.record],
  'TXT lists.example.org': ['v=spf1 ip4:198.51.100.20 -all'],
  'PTR 7.2.0.192.in-addr.arpa': ['poster.example.com'],
}

test.for([
  ['its reverse DNS name is of the author', zone, '192.0.2.7', false],
  [
    'its reverse DNS name is of somebody else',
    { ...zone, 'PTR 7.2.0.192.in-addr.arpa': ['host-7.example.net'] },
    '198.51.100.20',
    true,
  ],
  [
    'the signature is broken',
    { ...zone, 'TXT s1._domainkey.example.com': 'unknown' },
    '198.51.100.20',
    true,
  ],
] as const)('the machine that posted to a list is the origin, or not: %s', async ([, ...one]) => {
  const [records, ip, relayed] = one
  const raw = await listedPost()
  const { resolve, asked } = fakeDns(records)
  const tools = { resolve, listings: () => Promise.resolve([]) }
  const dns = await askAbout(raw, options, tools, new AbortController().signal)
  expect(asked).toContain('PTR 7.2.0.192.in-addr.arpa')
  const analysis = await analyzeMessage(raw, { ...options, dns })
  expect(analysis.origin?.ip).toBe(ip)
  const subjects = subjectsOf({ ...analysis, telephones: [] }, { originConfidenceMin: 0.7 })
  expect(isRelayed(subjects)).toBe(relayed)
})
