import { describe, expect, test } from 'vitest'
import { composeFeedback } from '../../../src/parsing/compose-report.ts'
import { analyzePlainly } from '../../../src/pieces/analyze.ts'
import { address, copyOf, header, valuesOf } from '../../support/composed-copy.ts'
import { copyIn } from '../../support/copied-message.ts'
import { contentOf } from '../../support/feedback-reports.ts'

describe('a recipient is found', () => {
  const others = Array.from({ length: 60 }, (_, at) => `"A Person" <p${at}@others.example>`)

  test('by the name after more than fifty others in To', async () => {
    const to = `To: ${[...others, `"Ada Wonderfall" <${address}>`].join(',\r\n ')}`
    const copy = await copyOf([to], 'Dear Ada Wonderfall, dear Mrs. Wonderfall, buy now.')
    expect(copy.text).not.toMatch(/Ada|Wonderfall/)
  })

  test('by an address with quotes', async () => {
    const to = 'To: "ada.wonderfall"@alias.example, <"eve marley"@alias.example>'
    const received = 'Delivered-To: "ada.wonderfall"@alias.example'
    const text = 'Dear ada.wonderfall@alias.example, dear "eve marley"@alias.example!'
    const copy = await copyOf([received, to, `Subject: ${text}`], text)
    expect(copy.headerLines.map(({ line }) => line).join()).not.toMatch(/wonderfall|marley/)
    expect(copy.text).not.toMatch(/wonderfall|marley/)
    expect(valuesOf(copy, 'To').slice(1)).toEqual([
      expect.stringMatching(
        /^redacted-\S{16}@redacted\.invalid, redacted-\S{16}@redacted\.invalid$/,
      ),
    ])
  })

  test('by the clause of a Received field with quotes', async () => {
    const clause = 'for <"eve marley"@alias.example>; Tue, 3 Nov 2026 08:14:50 +0000'
    const copy = await copyOf([`Received: from a.example by b.example ${clause}`], 'Hi.')
    expect(valuesOf(copy, 'Received').join()).not.toMatch(/eve|marley/)
  })

  test('in enriched text, whose tags may be within words', async () => {
    const type = 'Content-Type: text/enriched; charset=utf-8'
    const text = 'Dear Z<bold>o</bold>e Q<color><param>red</param>uarr</color>y, buy now.'
    const copy = await copyOf([type], text)
    expect(copy.text).toMatch(/^Dear redacted-[a-z2-7]{16}, buy now\.\n/)
  })
})

describe('the address of the author stays although To repeats it', () => {
  const raw = Buffer.from(
    [
      ...header.filter((line) => !line.startsWith('To:')),
      'To: offers@shop.example',
      '',
      'Hi.',
    ].join('\r\n'),
  )
  const signature = { domain: 'shop.example', selector: 's1', result: 'pass', why: 'good' } as const

  test.for([
    { dmarc: 'pass', aligned: false, isShown: true },
    { dmarc: 'none', aligned: true, isShown: true },
    { dmarc: 'none', aligned: false, isShown: false },
    { dmarc: 'fail', aligned: true, isShown: false },
  ] as const)('if the domain proves it: %o', async ({ dmarc, aligned, isShown }) => {
    const plain = await analyzePlainly(raw, { trustedRelays: [], ignoreStamps: false })
    const authentication = {
      spf: null,
      dkim: [{ ...signature, aligned }],
      passedOver: 0,
      dmarc: { result: dmarc, policy: null, domain: null, alignedBy: [] },
      arc: { result: 'none' },
    } as unknown as typeof plain.authentication
    const mail = await composeFeedback(raw, { ...plain, authentication }, contentOf(1))
    const copy = await copyIn(mail.raw)
    const shown = copy.from?.value[0]?.address === 'offers@shop.example'
    expect(shown).toBe(isShown)
  })
})

test('the name of an account stays for the server that wrote it', async () => {
  const fields = [
    'Received: from [203.0.113.9] (Authenticated sender: web12345678) by mail.shop.example',
    ' with ESMTPSA id 5BF77AA01; Tue, 3 Nov 2026 08:14:56 +0000',
    'X-Job: 100012345',
    'Subject: Hi',
  ]
  const raw = Buffer.from([...header, ...fields, '', 'Hi.'].join('\r\n'))
  const plain = await analyzePlainly(raw, { trustedRelays: [], ignoreStamps: false })
  const dkim = [{ domain: 'shop.example', selector: 's', result: 'pass', aligned: true, why: '' }]
  const authentication = { spf: null, dkim, dmarc: { result: 'none' }, arc: {}, passedOver: 0 }
  const analysis = { ...plain, authentication: authentication as never }
  for (const keepsTokens of [true, false]) {
    const mail = await composeFeedback(raw, analysis, contentOf(1, { keepsTokens }))
    const copy = await copyIn(mail.raw)
    const names = `${valuesOf(copy, 'Received').join()} ${valuesOf(copy, 'X-Job').join()}`
    expect(names.includes('web12345678')).toBe(keepsTokens)
    expect(names.includes('5BF77AA01')).toBe(keepsTokens)
    expect(names.includes('100012345')).toBe(keepsTokens)
    expect(names).not.toContain('zoe')
  }
})
