import { expect, test } from 'vitest'
import { questionsOf } from '../../../../src/origin/authenticity/spf.ts'
import { authenticated } from '../../../support/authenticated.ts'
import { spamMessage } from '../../../support/messages.ts'
import { onTop, rsaKey, signed } from '../../../support/signing.ts'
import type { Resolve } from '../../../../src/world.ts'
import { expectEffort } from '../../../support/effort.ts'

const key = rsaKey()
const anyKey: Resolve = (name, type) =>
  Promise.resolve(
    type === 'TXT'
      ? { is: 'found', records: [name.includes('_domainkey') ? key.record : 'v=DMARC1; p=none'] }
      : { is: 'none' },
  )
const options = { trustedRelays: [], ignoreStamps: false }
const megabyte = 1024 * 1024

function signature(more = ''): string {
  const tags = 'v=1; a=rsa-sha256; c=relaxed/relaxed; d=shop.example; s=s1; h=From; bh=AAAA; b=AAAA'
  return `DKIM-Signature: ${tags}${more}`
}

const arcSet = (tags: string) => [
  `ARC-Seal: i=1; a=rsa-sha256; cv=none; d=a.example; s=s; ${tags}`,
  `ARC-Message-Signature: i=1; a=rsa-sha256; d=a.example; s=s; h=From; bh=A; b=A; ${tags}`,
  `ARC-Authentication-Results: i=1; a.example; spf=pass ${tags}`,
]

test.for<[string, Buffer]>([
  ['fifty signatures', onTop(spamMessage('a'), ...Array<string>(50).fill(signature()))],
  ['ten thousand', onTop(spamMessage('b'), ...Array<string>(10_000).fill(signature()))],
  [
    'body lengths that all differ',
    onTop(spamMessage('c'), ...Array.from({ length: 50 }, (_, l) => signature(`; l=${l}`))),
  ],
  ['a tag of a megabyte', onTop(spamMessage('d'), signature(`; z=${'a'.repeat(megabyte)}`))],
  ['a million tags', onTop(spamMessage('e'), signature(';a'.repeat(megabyte)))],
  ['a million names to sign', onTop(spamMessage('f'), signature(`; x${':From'.repeat(megabyte)}`))],
  ['a header of four megabytes', onTop(spamMessage('g'), `X: ${'a'.repeat(4 * megabyte)}`)],
  [
    'a hundred thousand fields',
    onTop(spamMessage('h'), ...Array<string>(100_000).fill('X: y'), signature()),
  ],
  ['a megabyte of spaces', onTop(spamMessage('i'), `${signature()}; x=${' '.repeat(megabyte)}`)],
  ['a megabyte of authors', onTop(spamMessage('j'), `From: ${'a@b.example,'.repeat(80_000)}`)],
  ['a thousand ARC sets', onTop(spamMessage('k'), ...Array(1_000).fill(arcSet('')).flat())],
  ['an ARC set of a megabyte', onTop(spamMessage('l'), ...arcSet('a'.repeat(megabyte)))],
  ['names from a nightmare', onTop(spamMessage('m'), signature().replace('shop', '\0.-.\u00e9'))],
  ['names of objects', onTop(spamMessage('n'), signature('; __proto__=x; constructor=y'))],
])('%s take little time and give an answer', async ([, raw]) => {
  // The limit is thirty times the duration on a slow idle machine; a quadratic parser would take
  // minutes.
  const { dkim, arc } = await expectEffort(() => authenticated(raw, anyKey), 3_000)
  expect(dkim.length).toBeLessThanOrEqual(4)
  expect(arc.seals).toEqual([])
})

test('overlong white space is reduced in linear time', async () => {
  const body = `${' \t'.repeat(megabyte)}\r\n${' \r\n'.repeat(megabyte / 4)}x\r\n`
  const raw = await signed(Buffer.concat([spamMessage('o'), Buffer.from(body)]), {
    domain: 'shop.example',
    key,
  })
  const { dkim } = await expectEffort(() => authenticated(raw, anyKey), 3_000)
  expect(dkim).toMatchObject([{ result: 'pass' }])
})

test('however many signatures there are, there are few queries', () => {
  const domains = Array.from({ length: 200 }, (_, n) =>
    signature().replace('shop.example', `${'a.'.repeat(100)}d${n}.shop.example`),
  )
  const { texts } = questionsOf(onTop(spamMessage('p'), ...domains), options)
  expect(texts.length).toBeLessThanOrEqual(30)
  for (const name of texts) expect(name.length).toBeLessThanOrEqual(253)
})

test('input that is not a mail has no queries and an empty answer', async () => {
  for (const raw of ['', '\0\0\0', 'DKIM-Signature:', '\r\n\r\n', signature()]) {
    expect(questionsOf(Buffer.from(raw), options).spf).toBeUndefined()
    expect((await authenticated(Buffer.from(raw), anyKey)).dmarc.result).toBe('none')
  }
})
