import { expect, test } from 'vitest'
import { codedParts } from '../../../src/evidence/link-writer.ts'
import { composeFeedback } from '../../../src/parsing/compose-report.ts'
import { analyzePlainly } from '../../../src/pieces/analyze.ts'
import { textHash } from '../../../src/pieces/shingles/hash.ts'
import { type LinkWitness, sharedParts } from '../../../src/verdict/reputation/shared-parts.ts'
import { contentOf } from '../../support/feedback-reports.ts'

test.for<[string, string[]]>([
  ['https://shop.example/offers/2026', []],
  ['https://shop.example/c/8f3KqZ1x9/index.html?m=77123456', ['8f3KqZ1x9', '77123456']],
  ['https://a9x8f7q2.shop.example/buy', ['a9x8f7q2']],
  ['https://go.example/?u=https%3A%2F%2Fshop.example%2F8f3KqZ1x9', ['8f3KqZ1x9']],
  [`https://shop.example/${'x9'.repeat(150)}`, []],
  ['tel:+49301234567', []],
])('the coded parts of %s are %s', ([url, parts]) => {
  expect(codedParts([url])).toEqual(parts)
})

const hashesOf = (...parts: string[]) =>
  Buffer.from(BigUint64Array.from(parts.map(textHash)).buffer)

function witness(at: number, parts: string[], more: Partial<LinkWitness> = {}): LinkWitness {
  return {
    ...{ reporterId: `r${at}`, isVouched: false, signUpDay: at, circle: 0 },
    ...{ recipient: Buffer.of(0, 0, 0, 0, 0, 0, 0, at), parts: hashesOf(...parts) },
    ...more,
  }
}

test('a part is shared that three independent reporters received', () => {
  const three = [1, 2, 3].map((at) => witness(at, ['page', `token ${at}`]))
  expect(sharedParts(three)).toEqual(hashesOf('page'))
  expect(sharedParts(three.slice(1))).toEqual(Buffer.of())
})

test.for<[string, Partial<LinkWitness>, boolean]>([
  ['sign up on one day', { signUpDay: 7 }, false],
  ['are in one circle', { circle: 9 }, false],
  ['got it at one address', { recipient: Buffer.alloc(8) }, false],
  ['have accounts of an operator', { signUpDay: 7, circle: 9, isVouched: true }, true],
])('reporters who %s: independent %s', ([, same, isIndependent]) => {
  const shared = sharedParts([1, 2, 3].map((at) => witness(at, ['page'], same)))
  expect(shared.length > 0).toBe(isIndependent)
})

const secret = 'zoe.quarry4711@reporters.example'
const inBase64 = Buffer.from(secret).toString('base64url')
const raw = Buffer.from(
  [
    'Received: from mail.shop.example (mail.shop.example [198.51.100.23])',
    ' by mx.provider.example with ESMTPS; Mon, 16 Nov 2026 10:00:00 +0000',
    'From: offers@shop.example',
    `To: ${secret}`,
    'Subject: Offers',
    '',
    'Look: https://shop.example/8f3KqZ1x9/Tk77Lm20qX.html and https://e5f6a7b8.shop.example/ and',
    `https://shop.example/u/${inBase64} and`,
    'https://shop.example/?m=quarry.zoe.77x88y',
    '',
  ].join('\r\n'),
)

test('a shared part is shown, and never one with the identity of the reporter', async () => {
  const analysis = await analyzePlainly(raw, { trustedRelays: [], ignoreStamps: false })
  const others = [inBase64, 'zoe.quarry4711', 'quarry.zoe.77x88y']
  const parts = hashesOf('8f3KqZ1x9', 'e5f6a7b8', ...others)
  const content = contentOf(1, { sharedParts: parts })
  const text = (await composeFeedback(raw, analysis, content)).raw.toString().replace(/=\r\n/g, '')
  expect(text).toMatch(/https:\/\/shop\.example\/8f3KqZ1x9\/redacted-[a-z2-7]{16}\.html/)
  expect(text).toContain('https://e5f6a7b8.shop.example/')
  for (const hidden of ['Tk77Lm20qX', inBase64, 'quarry.zoe']) expect(text).not.toContain(hidden)
  const without = (await composeFeedback(raw, analysis, contentOf(1))).raw.toString()
  expect(without).not.toContain('8f3KqZ1x9')
})

test.for(['4711', 'f00d', '007', 'win9', '3rdx'])(
  'what only looks like a page number or a word, %s, is a code where it unsubscribes',
  async (token) => {
    const uris = [
      `https://list.shop.example/u/${token}`,
      `https://list.shop.example/off/${token}.html`,
      `https://list.shop.example/off?u=${token}`,
      `https://list.shop.example/off?${token}`,
      `https://list.shop.example/off#${token}`,
      `https://list.shop.example/off?u=list-${token}`,
      `https://${token}.shop.example/off`,
      `mailto:leave-${token}@shop.example`,
      `mailto:leave@shop.example?subject=leave%20${token}`,
    ]
    for (const uri of uris) {
      const text = await reportOn(
        ['From: offers@shop.example', `List-Unsubscribe: <${uri}>`],
        [uri, `https://shop.example/buy/${token}`, 'https://shop.example/offers/2026'],
      )
      expect(text, uri).toContain('redacted-')
      expect(text, uri).toContain('https://shop.example/offers/2026')
      expect(text.replaceAll(/redacted-[a-z2-7]+/g, ''), uri).not.toContain(token)
    }
    const other = await reportOn(['From: offers@shop.example'], [`https://shop.example/u/${token}`])
    expect(other).toContain(`https://shop.example/u/${token}`)
  },
)

test('a number that unsubscribes is shown if independent reporters share it', async () => {
  const fields = ['From: offers@shop.example', 'List-Unsubscribe: <https://shop.example/u/4711>']
  const uris = ['https://shop.example/u/4711']
  expect(codedParts(uris, uris)).toEqual(['4711'])
  const sharedParts = hashesOf('4711')
  const text = await reportOn(fields, ['https://shop.example/u/4711'], { sharedParts })
  expect(text).toContain('List-Unsubscribe: <https://shop.example/u/4711>')
})

/** The feedback report on a message with these fields and links, as text. */
async function reportOn(
  fields: readonly string[],
  links: readonly string[],
  content: Parameters<typeof contentOf>[1] = {},
): Promise<string> {
  const message = Buffer.from(
    [
      'Received: from mail.shop.example (mail.shop.example [198.51.100.23])',
      ' by mx.provider.example with ESMTPS; Mon, 16 Nov 2026 10:00:00 +0000',
      ...[...fields, `To: ${secret}`, 'Subject: Offers', '', ...links, ''],
    ].join('\r\n'),
  )
  const analysis = await analyzePlainly(message, { trustedRelays: [], ignoreStamps: false })
  const { raw } = await composeFeedback(message, analysis, contentOf(1, content))
  return raw.toString().replace(/=\r\n/g, '')
}
