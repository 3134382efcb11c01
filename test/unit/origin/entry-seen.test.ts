import { expect, test } from 'vitest'
import { analyzeMessage } from '../../../src/pieces/analyze.ts'

const time = 'Tue, 3 Nov 2026 08:15:00 +0000'

async function entrySeen(lines: readonly string[]) {
  const received = lines.map((line) => `Received: ${line}; ${time}\r\n`).join('')
  const raw = Buffer.from(`${received}From: a@x.example\r\n\r\nText`)
  const { origin } = await analyzeMessage(raw, { trustedRelays: [], ignoreStamps: true })
  return origin?.why.find(({ code }) => code.startsWith('entry-'))
}

const border = 'by AB1.mail.protection.outlook.com (10.1.1.1) with Microsoft SMTP Server id 15.20.1'
const atGoogle = 'by mx.google.com with ESMTPS id 1'

test.for([
  ['Microsoft', `from AB3.outbound.protection.outlook.com (40.107.1.1) ${border}`],
  ['Microsoft', `from AB3.outbound.protection.outlook.com (2a01:111:f403::1) ${border}`],
  ['Google', `from mail-a.google.com (mail-a.google.com [209.85.128.50]) ${atGoogle}`],
  ['SFR', 'from smtp26.sfr.fr (smtp26.sfr.fr [93.17.128.1]) by msfrf2201.sfr.fr with ESMTP id 1'],
] as const)(
  '%s is not described as unrelated to the machines that it sends from',
  async ([name, line]) => {
    expect(await entrySeen([line])).toMatchObject({
      code: 'entry-of-provider',
      params: { line: 1, witness: name },
    })
  },
)

test.for([
  ['Microsoft', `from x.example (192.0.2.7) ${border}`],
  ['Microsoft', `from mail-a.google.com (209.85.128.50) ${border}`],
  ['Google', `from x (x.outbound.protection.outlook.com. [40.107.1.1]) ${atGoogle}`],
] as const)('%s saw a machine that it does not run', async ([name, line]) => {
  expect(await entrySeen([line])).toMatchObject({
    code: 'entry-foreign',
    params: { line: 1, witness: name },
  })
})

test('lines are counted from 1, from the top', async () => {
  const inner = 'by 2002:a05:6a10:1:b0:4aa:1:2 with SMTP id 0'
  const lines = [inner, `from x (x [192.0.2.7]) ${atGoogle}`]
  expect(await entrySeen(lines)).toMatchObject({ params: { line: 2 } })
})
