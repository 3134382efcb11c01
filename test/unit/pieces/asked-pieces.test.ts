import { describe, expect, test } from 'vitest'
import { analyzeMessage } from '../../../src/pieces/analyze.ts'
import {
  askedPieces,
  guessKind,
  questionKinds,
  type QuestionName,
} from '../../../src/pieces/questions.ts'
import { withLaterShingles } from '../../../src/pieces/shingles/take-apart.ts'
import { unpackShingles } from '../../../src/pieces/shingles/packed-shingles.ts'
import { analysisOf, type Written } from '../../support/shingles.ts'

const words = 'One two three four five six seven. Eight nine ten eleven twelve thirteen fourteen.'
const passage = `${words}\n\n${words.toUpperCase()}`

/**
 * Values to look up, each with a message that contains it and the expected types of its counted
 * pieces.
 */
const asked: [QuestionName, string, Written, readonly string[]][] = [
  [
    'link',
    'https://www.shop.example/offer/1?utm_source=a&id=7',
    { text: 'See https://www.shop.example/offer/1?utm_source=a&id=7 now' },
    ['link', 'link-path', 'link-host', 'link-organization', 'link-pattern', 'link-parameters'],
  ],
  [
    'link',
    'https://shop.example/form',
    { html: '<form action="https://shop.example/form">a b c d e</form>' },
    ['link', 'form-organization'],
  ],
  [
    'link',
    'https://img.shop.example/a.png?n=1&m=2',
    { html: '<img src="https://img.shop.example/a.png?n=1&amp;m=2"> a b c d e' },
    ['image-link', 'image-link-organization'],
  ],
  ['link', 'http://192.0.2.9/x', { text: 'http://192.0.2.9/x' }, ['link-ip', 'link-network']],
  [
    'link',
    'https://u.shop.example/1',
    { fields: ['List-Unsubscribe: <https://u.shop.example/1>'] },
    ['unsubscribe-host', 'unsubscribe-organization'],
  ],
  [
    'address',
    'Offers7@Mail.Shop.Example',
    { from: 'Shop <offers7@mail.shop.example>', text: 'write to offers7@mail.shop.example' },
    [
      ...['author-address', 'author-domain', 'author-organization', 'author-local-part'],
      ...['body-address', 'body-address-organization'],
    ],
  ],
  [
    'address',
    "o'brien@shop.example",
    { from: "<o'brien@shop.example>", fields: ["Reply-To: <o'brien@shop.example>"] },
    ['author-address', 'reply-to-address', 'reply-to-domain', 'reply-to-organization'],
  ],
  [
    'address',
    'b-4711-you=provider.example@bounces.shop.example',
    {},
    ['return-path-address', 'return-path-domain', 'return-path-organization'],
  ],
  [
    'domain',
    'shop.example',
    { fields: ['List-Id: <shop.example>', 'DKIM-Signature: v=1; d=shop.example; s=k'] },
    [
      ...['author-domain', 'author-organization', 'message-id-domain', 'list-organization'],
      ...['origin-rdns-organization', 'origin-helo-organization', 'claimed-signer-domain'],
    ],
  ],
  ['ip', '192.0.2.7', {}, ['origin-ip', 'origin-network']],
  ['network', '192.0.2.0/24', {}, ['origin-network']],
  [
    'subject',
    'Re: Your parcel 4711 is waiting for you',
    { subject: 'Your parcel 4711 is waiting for you' },
    ['subject', 'subject-template', 'subject-start', 'subject-words'],
  ],
  [
    'subject',
    'Été 2026: вы выиграли',
    { subject: '=?utf-8?B?w4l0w6kgMjAyNjog0LLRiyDQstGL0LjQs9GA0LDQu9C4?=' },
    ['subject', 'subject-template'],
  ],
  ['name', 'Great, "Offers"', { from: '"Great, \\"Offers\\"" <a@shop.example>' }, ['author-name']],
  [
    'name',
    'Your Bank <a@shop.example>',
    { from: 'Your Bank <a@shop.example>' },
    ['author-name', 'author-name-and-organization'],
  ],
  ['telephone', '+44 20 7946 0958', { text: 'Call +44 20 7946 0958 now' }, ['telephone']],
  [
    'payment',
    'GB33 BUKB 2020 1555 5555 55',
    { text: 'To GB33BUKB20201555555555' },
    ['bank-account'],
  ],
  ['text', passage, { text: passage }, ['text', 'text-letters', 'paragraph', 'sentence', 'words']],
  ['text', 'Eight nine ten eleven twelve thirteen fourteen.', { text: passage }, ['sentence']],
  [
    'list',
    'Shop News <news.shop.example>',
    { fields: ['List-Id: Shop News <news.shop.example>'] },
    ['list-id', 'list-organization'],
  ],
  ['feedback-id', 'a:b:c:d', { fields: ['Feedback-ID: a:b:c:d'] }, ['feedback-id']],
  [
    'signer',
    'k1._domainkey.shop.example',
    { fields: ['DKIM-Signature: v=1; d=shop.example; s=k1'] },
    ['claimed-signer-key', 'claimed-signer-domain', 'claimed-signer-organization'],
  ],
  ['helo', 'mail7.shop.example', {}, ['origin-helo', 'origin-helo-organization']],
  ['rdns', 'mail7.shop.example', {}, ['origin-rdns', 'origin-rdns-organization']],
  ['message-id', '<4711.abc@shop.example>', {}, ['message-id-domain', 'message-id-shape']],
  ['message-id', 'shop.example', {}, ['message-id-domain', 'message-id-organization']],
  ['mailer', 'Bulk 4.2', { fields: ['X-Mailer: Bulk 4.2'] }, ['mailer', 'mailer-family']],
]

test.for(asked)(
  '%s %s has the same pieces as counted messages',
  async ([kind, value, written, types]) => {
    const { shingles } = await analysisOf(written)
    const counted = new Set(shingles.map(({ name, hash }) => `${name} ${hash}`))
    const pieces = askedPieces(kind, value)
    for (const type of types) {
      const own = pieces.filter(({ name }) => name === type)
      expect(own.length, type).toBeGreaterThan(0)
      expect(
        own.every(({ name, hash }) => counted.has(`${name} ${hash}`)),
        type,
      ).toBe(true)
    }
  },
)

test.for([
  ['reporter', 'reporterId', '0190a5b4-0000-7000-8000-00000000000a'],
  ['campaign', 'campaignId', '0190a5b4-0000-7000-8000-00000000000b'],
  ['as', 'originAsn', 64496],
  ['as', 'submitterAsn', 64496],
] as const)('%s has the pieces that %s counts beside messages', ([kind, circumstance, value]) => {
  const packed = withLaterShingles(Buffer.alloc(0), { [circumstance]: value })
  const hashes = askedPieces(kind, String(value).toUpperCase()).map(({ hash }) => hash)
  expect(hashes).toEqual(expect.arrayContaining(unpackShingles(packed).map(({ hash }) => hash)))
})

test('a file has the pieces of an attachment and of a picture', async () => {
  const part = (type: string, name: string) => [
    '--b',
    `Content-Type: ${type}`,
    `Content-Disposition: attachment; filename="${name}"`,
    'Content-Transfer-Encoding: base64',
    '',
    Buffer.from(`a file of more than twenty bytes, ${name}`).toString('base64'),
  ]
  const lines = [
    ...['From: a@shop.example', 'MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=b'],
    '',
    ...part('application/pdf', 'Invoice 17.pdf'),
    ...part('image/png', 'logo.png'),
    '--b--',
    '',
  ]
  const raw = Buffer.from(lines.join('\r\n'))
  const found = await analyzeMessage(raw, { trustedRelays: [], ignoreStamps: true })
  const counted = new Set(found.shingles.map(({ name, hash }) => `${name} ${hash}`))
  const isCounted = ({ name, hash }: { name: string; hash: string }) =>
    counted.has(`${name} ${hash}`)
  const [pdf, png] = found.attachments.map(({ sha256 }) => askedPieces('file', sha256))
  expect(pdf?.filter(isCounted).map(({ name }) => name)).toEqual(['attachment'])
  expect(png?.filter(isCounted).map(({ name }) => name)).toEqual(['image'])
  const names = askedPieces('file-name', 'Invoice 17.pdf')
  expect(names.map(({ name }) => name)).toEqual(['attachment-name', 'attachment-name-shape'])
  expect(names.every(isCounted)).toBe(true)
})

describe('a disguise makes no difference', () => {
  test.for([
    ['link', 'hxxps://shop[.]example/a?utm_source=x', 'https://www.shop.example/a'],
    ['link', ' <HTTPS://SHOP.example:443/a#top> ', 'https://shop.example/a'],
    ['address', 'offers (at) shop [dot] example', 'offers@shop.example'],
    ['address', 'Offers <offers@SHOP.example>', 'offers@shop.example'],
    ['domain', 'Shop[.]Example.', 'shop.example'],
    ['ip', '192[.]0[.]2[.]7', '192.0.2.7'],
    ['ip', '[IPv6:2001:DB8:0::7]', '2001:db8::7'],
    ['subject', 'Yоur ѕecret prіze', 'your secret prize'],
    ['name', 'YOUR BАNK', 'Your Bank'],
    ['as', '64496', 'AS64496'],
  ] as const)('%s %s', ([kind, disguised, plain]) => {
    const hashes = (value: string) => askedPieces(kind, value).map(({ hash }) => hash)
    expect(hashes(plain).length).toBeGreaterThan(0)
    expect(hashes(disguised)).toEqual(hashes(plain))
  })
})

test.for(questionKinds)('the example of $name has counted pieces', ({ name, example }) => {
  expect(askedPieces(name, example).length).toBeGreaterThan(0)
})

test.for(questionKinds)('only the types of $name are looked up', ({ name, example, types }) => {
  for (const piece of askedPieces(name, example)) expect(types).toContain(piece.name)
  for (const piece of askedPieces(name, example)) expect(piece.hash).toMatch(/^[0-9a-f]{16}$/)
})

test.for([
  ['link', 'not a link'],
  ['link', 'mailto:you@provider.example'],
  ['address', 'nobody'],
  ['domain', '192.0.2.7'],
  ['domain', 'localhost'],
  ['ip', '300.1.2.3'],
  ['network', '192.0.2.0/16'],
  ['as', 'AS99999999999'],
  ['file', 'e3b0c442'],
  ['telephone', '12'],
  ['payment', 'GB00BUKB20201555555555'],
  ['reporter', 'ann'],
  ['signer', 'nobody'],
] as const)('a %s has no counted pieces: %s', ([kind, value]) => {
  expect(askedPieces(kind, value)).toEqual([])
})

test('every value has few pieces, and nothing throws', () => {
  const nasty = [
    '\0\uD800\u202E',
    '<'.repeat(5_000),
    `${'a.'.repeat(4_000)}example`,
    '"'.repeat(99),
  ]
  for (const { name } of questionKinds) {
    for (const value of [...nasty, 'word '.repeat(1_500)]) {
      expect(askedPieces(name, value).length).toBeLessThan(70)
      guessKind(value)
    }
  }
})

test.for([
  ['https://shop.example/a', 'link'],
  ['hxxp://shop[.]example', 'link'],
  ['www.shop.com', 'link'],
  ['shop.com/a', 'link'],
  ['shop.com', 'domain'],
  ['shop[.]com', 'domain'],
  ['offers@shop.com', 'address'],
  ['offers (at) shop (dot) com', 'address'],
  ['Your Bank <service@shop.com>', 'name'],
  ['192.0.2.7', 'ip'],
  ['2001:db8::7', 'ip'],
  ['192.0.2.0/24', 'network'],
  ['AS64496', 'as'],
  ['k1._domainkey.shop.com', 'signer'],
  ['e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 'file'],
  ['GB33 BUKB 2020 1555 5555 55', 'payment'],
  ['+44 20 7946 0958', 'telephone'],
  ['invoice 17.pdf', 'file-name'],
  ['Your parcel is waiting', 'subject'],
  ['Question from ann@shop.com about your parcel', 'subject'],
  [words.repeat(2), 'text'],
  [`https://shop.com/${'a'.repeat(500)}`, 'link'],
] as const)('the guessed kind of %s is %s', ([value, kind]) => {
  expect(guessKind(value)).toBe(kind)
})
