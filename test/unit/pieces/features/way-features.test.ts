import fc from 'fast-check'
import { expect, test } from 'vitest'
import { analyzeForCounting } from '../../../../src/pieces/analyze.ts'
import { isGenericName, type MessageFeatures } from '../../../../src/pieces/features/features.ts'
import type { DnsFindings, SpfFinding } from '../../../../src/origin/authenticity/dns-findings.ts'
import { featureMail, featuresOfHtml, featuresOfMail } from '../../../support/feature-mail.ts'
import { baseMessages, nastyMail } from '../../../support/nasty-mail.ts'
import { expectEffort } from '../../../support/effort.ts'

const provider =
  'by mx.provider.example (Postfix) with ESMTP id 4ABC; Mon, 16 Nov 2026 10:00:00 +0000'

test.for<[string, string[], Partial<MessageFeatures['origin']>]>([
  [
    'a mail server',
    [`from mx1.shop.example (mx1.shop.example [192.0.2.7]) ${provider}`],
    { found: true, hops: 1, hops_below: 0, rdns_generic: false, helo_fits_rdns: true },
  ],
  [
    'a line',
    [`from pc (host-203-0-113-9.dsl.isp.example [203.0.113.9]) ${provider}`],
    { rdns_generic: true, helo_bare: true, rdns_organization: 'isp.example' },
  ],
  ['a literal', [`from [192.0.2.7] (unknown [192.0.2.7]) ${provider}`], { helo_literal: true }],
  [
    'another literal',
    [
      `from mx1.shop.example (mx1.shop.example [192.0.2.7]) ${provider}`,
      'from [198.51.100.1] (unknown [203.0.113.3]) by mx1.shop.example with SMTP id 1; ' +
        'Mon, 16 Nov 2026 09:59:00 +0000',
    ],
    { hops: 2, hops_below: 1 },
  ],
  [
    'a later line below',
    [
      `from mx1.shop.example (mx1.shop.example [192.0.2.7]) ${provider}`,
      'from a.example (a.example [203.0.113.3]) by mx1.shop.example with SMTP id 1; ' +
        'Mon, 16 Nov 2026 19:59:00 +0000',
    ],
    { time_runs_backwards: true },
  ],
  [
    'encryption',
    [`from mx1.shop.example ([2001:db8::7]) ${provider.replace('ESMTP', 'ESMTPS')}`],
    { is_encrypted: true, is_ipv6: true, rdns_missing: true },
  ],
  ['nobody', [], { found: false, hops: 0, rdns_missing: false, helo_missing: false }],
])('an origin with %s', async ([, lines, expected]) => {
  expect((await featuresOfMail({ Received: lines })).origin).toMatchObject(expected)
})

test.for([
  ['host-203-0-113-9.dsl.isp.example', true],
  ['203.0.113.9.static.isp.example', true],
  ['cable12.isp.example', true],
  ['dhcp_7.isp.example', true],
  ['mail-203-0-113-9.shop.example', false],
  ['mx1.shop.example', false],
  ['a27-14.smtp-out.example', false],
  ['www.poolhouse.example', false],
  ['', false],
] as const)('whether %s is the name of an access line: %s', ([name, is]) => {
  expect(isGenericName(name)).toBe(is)
})

const spf = (result: SpfFinding['result'], domain: string): SpfFinding => {
  return { ip: '192.0.2.7', result, domain }
}

function findings(policy: string | undefined, finding: SpfFinding | undefined): DnsFindings {
  const none = { is: 'none' as const }
  const found = { is: 'found' as const, records: [`v=DMARC1; p=${policy ?? 'none'}`] }
  const answers = { 'TXT _dmarc.shop.example': policy === undefined ? none : found }
  return { answers, spf: finding, listings: [] }
}

test.for<[string, DnsFindings | undefined, Partial<MessageFeatures['authentication']>]>([
  ['nobody asked', undefined, { checked: false, spf: '', dmarc: '', author_stands_behind: false }],
  [
    'its domain stands behind it',
    findings('reject', spf('pass', 'shop.example')),
    { checked: true, spf: 'pass', spf_aligned: true, dmarc: 'pass', author_stands_behind: true },
  ],
  [
    'another domain stands behind it',
    findings('none', spf('pass', 'other.example')),
    { spf_aligned: false, author_stands_behind: false, author_disowns: false, dmarc: 'fail' },
  ],
  [
    'its domain disowns it',
    findings('reject', spf('fail', 'shop.example')),
    { spf: 'fail', dmarc: 'fail', dmarc_policy: 'reject', author_disowns: true },
  ],
  [
    'the DNS did not tell',
    findings('reject', spf('temperror', 'shop.example')),
    { spf: 'temperror', dmarc: 'unknown', author_disowns: false },
  ],
])('authentication when %s', async ([, dns, expected]) => {
  const fields = { 'Return-Path': '<b@shop.example>' }
  const { authentication } = await featuresOfMail(fields, undefined, dns ? { dns } : {})
  expect(authentication).toMatchObject(expected)
})

test('an unverified signature is only counted', async () => {
  const { authentication } = await featuresOfMail({ 'DKIM-Signature': ['v=1; d=a.example', 'x'] })
  expect(authentication).toMatchObject({ dkim_signatures: 2, dkim_passes: 0, signers: [] })
})

test('a bounce is automatic, an ordinary message is not', async () => {
  const report = 'multipart/report; report-type=delivery-status; boundary=b'
  const bounce = await featuresOfMail({ 'Content-Type': report }, '--b--')
  expect(bounce.message).toMatchObject({ kind: 'dsn', is_machine_answer: true })
  const { message } = await featuresOfMail()
  expect(message).toMatchObject({ kind: 'message', is_machine_answer: false, has_text: true })
})

test('no damaged mail gives a feature that is not a number', async () => {
  const options = { trustedRelays: [], ignoreStamps: false }
  await fc.assert(
    fc.asyncProperty(nastyMail(baseMessages()), async (raw) => {
      const { features } = await analyzeForCounting(raw, options)
      const values = Object.values(features).flatMap((group) => Object.values(group).flat())
      expect(
        values.filter((value) => typeof value === 'number' && !Number.isFinite(value)),
      ).toEqual([])
      expect(structuredClone(features)).toEqual(features)
      expect(Buffer.byteLength(JSON.stringify(features))).toBeLessThan(16_000)
    }),
    { numRuns: 60 },
  )
})

test.for([
  ['links without end', '<a href="https://a.example/">'.repeat(9_000)],
  ['links that end nowhere', '</a'.repeat(80_000)],
  ['labels', `<a>${'a.'.repeat(100_000)}</a>`],
  ['letters that pose', 'a\u0430'.repeat(100_000)],
  ['exclamation', '! '.repeat(100_000)],
  ['styles', '<p style="font-size: 0;">'.repeat(9_000)],
] as const)('a text of %s takes little time', async ([, html]) => {
  await expectEffort(() => featuresOfHtml(html), 1_500)
})

test.for([
  ['dots', { From: `"${'aa.'.repeat(1_300)}" <a@shop.example>` }],
  ['a long address', { From: `${'a'.repeat(2_000)}@${'b.'.repeat(900)}example` }],
  ['blanks', { Subject: `a${' '.repeat(1_900)}` }],
  ['many addresses', { To: 'ann@reader.example, '.repeat(800) }],
] as const)('a header with %s takes little time', async ([, fields]) => {
  const raw = featureMail(fields)
  const options = { trustedRelays: [], ignoreStamps: false }
  const { features } = await expectEffort(() => analyzeForCounting(raw, options), 500)
  expect(features.author.domain.length).toBeLessThanOrEqual(253)
})
