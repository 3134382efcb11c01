import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shownBytes, shownLine, shownText } from '../../../src/mail/text.ts'
import { duration } from '../../../src/texts/messages.ts'
import { parseBase64, urlencodedField } from '../../../src/web/bodies/body-tasks.ts'
import { chooseLanguage } from '../../../src/texts/choose-language.ts'
import { createMultipartParser, type FormParser } from '../../../src/web/bodies/multipart.ts'
import { localPath } from '../../../src/web/pages/render.ts'
import { parseRemarks } from '../../../src/web/submit.ts'
import { createUrlencodedParser } from '../../../src/web/bodies/urlencoded.ts'

/**
 * Returns the result of a parser for a body that arrives in chunks of the given number of bytes.
 */
async function partsOf(parser: FormParser, body: Buffer, chunkBytes = body.length) {
  for (let at = 0; at < body.length; at += chunkBytes) {
    await parser.write(body.subarray(at, at + chunkBytes))
  }
  return parser.end()
}

const formLimits = { partBytesMax: 1_000, partsMax: 10 }

function urlencodedParts(body: string | Buffer, chunkBytes?: number) {
  return partsOf(createUrlencodedParser(formLimits), Buffer.from(body), chunkBytes)
}

test.for<[string, string, string | undefined]>([
  ['plain', 'YWJj', 'abc'],
  ['wrapped', 'YW\r\nJj\n', 'abc'],
  ['padded', 'YWI=', 'ab'],
  ['with the padding left out', 'YWI', 'ab'],
  ['empty', '', ''],
  ['of one character', 'Y', undefined],
  ['of padding alone', '==', undefined],
  ['with padding in the middle', 'YW=I', undefined],
  ['with three pads', 'YQ===', undefined],
  ['url-safe', 'YW-_', undefined],
  ['with a stray byte', 'YWJj\u00e9', undefined],
])('base64 %s', ([, text, expected]) => {
  expect(parseBase64(text)?.toString('latin1')).toBe(expected)
})

test('base64 decodes to the original bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      const raw = Buffer.from(bytes)
      expect(parseBase64(raw.toString('base64'))?.equals(raw)).toBe(true)
    }),
  )
})

test('an urlencoded form is parsed byte for byte, however its body is split', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array(), fc.integer({ min: 1, max: 9 }), async (bytes, chunkBytes) => {
      const raw = Buffer.from(bytes)
      const escaped = [...raw].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
      const [, field] = await urlencodedParts(`a=1&user%5Bx%5D=${escaped}`, chunkBytes)
      expect(field?.name).toBe('user[x]')
      expect(field?.content.equals(raw)).toBe(true)
    }),
  )
})

test('an urlencoded form has the same fields, however its body is split', async () => {
  const pieces = fc.constantFrom('&', '=', '%', '%4', '%41', '%zz', '+', 'a', 'bc', '\0', '\xff')
  await fc.assert(
    fc.asyncProperty(
      fc.array(pieces, { maxLength: 9 }),
      fc.integer({ min: 1, max: 5 }),
      async (texts, chunkBytes) => {
        const body = Buffer.from(texts.join(''), 'latin1')
        expect(await urlencodedParts(body, chunkBytes)).toEqual(await urlencodedParts(body))
      },
    ),
  )
})

test('a plus sign is a space in a form, and literal in a plug-in message', async () => {
  const body = Buffer.from('message=a+b c%2B')
  expect((await urlencodedParts(body))[0]?.content.toString()).toBe('a b c+')
  expect(urlencodedField(body, 'message')).toBe('a+b+c+')
})

test('percent signs that escape nothing are literal', async () => {
  const parts = await urlencodedParts('a=100%&b=%zz%4')
  expect(parts.map(({ content }) => `${content}`)).toEqual(['100%', '%zz%4'])
})

test('a field is cut at its maximum, and marked as cut', async () => {
  const [cut, whole] = await urlencodedParts(`a=${'x'.repeat(1_001)}&b=${'y'.repeat(1_000)}`, 100)
  expect([cut?.isCut, cut?.content.length]).toEqual([true, 1_000])
  expect([whole?.isCut, whole?.content.length]).toEqual([false, 1_000])
})

const head = (name: string) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n`
const multipart = 'multipart/form-data; boundary=b'

test.for<[string, () => FormParser, string]>([
  ['empty fields', () => createUrlencodedParser(formLimits), '&'],
  ['empty parts', () => createMultipartParser(multipart, formLimits), '--b\r\n\r\n\r\n'],
  ['parts without a header', () => createMultipartParser(multipart, formLimits), '--b\r\n'],
  ['a header without end', () => createMultipartParser(multipart, formLimits), 'a: b\r\n'],
  ['a text before the form', () => createMultipartParser(multipart, formLimits), 'hello\r\n'],
])('a form of %s is refused before most of it arrives', async ([, open, piece]) => {
  const parser = open()
  const start = Buffer.from(piece === 'a: b\r\n' ? head('a') : '')
  const body = Buffer.concat([start, Buffer.alloc(1_000_000, piece)])
  let read = 0
  const reading = async () => {
    for (let at = 0; at < body.length; at += 10_000) {
      await parser.write(body.subarray(at, at + 10_000))
      read = at
    }
  }
  await expect(reading()).rejects.toMatchObject({ name: 'ProblemError' })
  expect(read).toBeLessThan(300_000)
})

test('a multipart form has the same parts, however its body is split', async () => {
  const body = Buffer.from(`${head('a')}\r\none\r\n--\r\n${head('c')}\r\n\r\n--b--\r\nend\r\n`)
  const partsIn = (chunkBytes: number, type = multipart) =>
    partsOf(createMultipartParser(type, formLimits), body, chunkBytes)
  const whole = await partsIn(body.length)
  expect(whole.map(({ name, content }) => [name, `${content}`])).toEqual([
    ['a', 'one\r\n--'],
    ['c', ''],
  ])
  for (let bytes = 1; bytes < body.length; bytes++) {
    expect([bytes, await partsIn(bytes)]).toEqual([bytes, whole])
    expect([bytes, await partsIn(bytes, 'multipart/form-data')]).toEqual([bytes, whole])
  }
})

test.for([
  ['a=1&message=QQ', 'QQ'],
  ['mymessage=QQ', undefined],
  ['mymessage=QQ&message=Zg', 'Zg'],
  ['message', undefined],
] as const)('the field of %s', ([body, expected]) => {
  expect(urlencodedField(Buffer.from(body), 'message')).toBe(expected)
})

test('any multipart body gives parts or an error', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.constantFrom(
          '--b\r\n',
          '--b--\r\n',
          '\r\n',
          'Content-Disposition: form-data; name="a"\r\n',
          'Content-Disposition: form-data; name="a"; filename="x"\r\n',
          "Content-Disposition: form-data; name*=utf-8''%ff%zz\r\n",
          'Content-Type: text/plain; charset=utf-7\r\n',
          'x',
          '\0',
        ),
        { maxLength: 12 },
      ),
      async (pieces) => {
        const parser = createMultipartParser(multipart, { partBytesMax: 100, partsMax: 3 })
        const result = await partsOf(parser, Buffer.from(pieces.join(''))).then(
          () => 'parts',
          (error: unknown) => (error as { name: string }).name,
        )
        expect(['parts', 'ProblemError']).toContain(result)
      },
    ),
    { numRuns: 300 },
  )
})

test.for([
  ['a right-to-left override', 'exe\u202egpj', 'exe‹U+202E›gpj'],
  ['a zero-width space', 'pay\u200bpal', 'pay‹U+200B›pal'],
  ['a NUL', 'a\0b', 'a‹U+0000›b'],
  ['an escape sequence', '\u001b[31m', '‹U+001B›[31m'],
  ['a variation selector', 'a\u{e0139}b', 'a‹U+E0139›b'],
  ['tag characters', 'a\u{e0041}', 'a‹U+E0041›'],
  ['a picture made of several', '\u{1f468}\u200d\u{1f467}', '\u{1f468}\u200d\u{1f467}'],
  ['a picture in color', '\u2764\ufe0f', '\u2764\ufe0f'],
  ['a digit on a key', '1\ufe0f\u20e3', '1\ufe0f\u20e3'],
  ['a joiner after a picture alone', '\u2764\ufe0f\u200dpay', '\u2764\ufe0f‹U+200D›pay'],
  ['a second selector', '\u2764\ufe0f\ufe0f', '\u2764\ufe0f‹U+FE0F›'],
  ['a selector after a letter', 'pay\ufe0f', 'pay‹U+FE0F›'],
  ['line ends', 'one\r\n two', 'one two'],
  ['nothing at all', undefined, ''],
] as const)('%s is shown literally', ([, text, expected]) => {
  expect(shownLine(text)).toBe(expected)
})

test('shown text is bounded, in whole characters', () => {
  expect(shownLine('x'.repeat(1000), 10)).toBe(`${'x'.repeat(10)}…`)
  expect(shownText('😀😀', 3).isWellFormed()).toBe(true)
})

test('bytes are shown as UTF-8, else as Latin-1', () => {
  expect(shownBytes(Buffer.from('é\r\nà'), 100)).toBe('é\nà')
  expect(shownBytes(Buffer.from([0xe9, 0x0a]), 100)).toBe('é\n')
  expect(shownBytes(Buffer.from('aé'), 2)).toBe('a')
})

test.for([
  ['fr', undefined, 'en', 'fr', true],
  [undefined, 'ru', 'en', 'ru', true],
  [undefined, 'fr', 'en', 'fr', true],
  ['xx', 'yy', 'de, fr;q=0.5, en;q=0.4', 'fr', true],
  [undefined, undefined, 'en;q=0.2, fr-CA', 'fr', true],
  [undefined, undefined, 'fr;q=0, de', 'en', true],
  [undefined, undefined, 'ru, en', 'ru', true],
  [undefined, undefined, 'de', 'en', true],
  [['fr'], undefined, undefined, 'en', false],
  [undefined, undefined, '*', 'en', false],
  ['constructor', 'toString', '__proto__', 'en', true],
] as const)(
  'requested %s, stored %s, preferred %s: the language is %s',
  ([query, cookie, acceptLanguage, language, isStated]) => {
    const wishes = { query, cookie, acceptLanguage, account: undefined }
    expect(chooseLanguage(wishes)).toEqual({ language, isStated })
  },
)

test.for([
  ['what the account says goes before the browser', undefined, 'ru', 'fr', 'en', 'ru', true],
  ['the address of a page goes before the account', 'fr', 'ru', 'en', 'en', 'fr', true],
  [
    'an account that says nothing leaves it to the browser',
    undefined,
    null,
    'fr',
    'en',
    'fr',
    true,
  ],
  ['an account says nothing of what a program reads', undefined, 'ru', undefined, '*', 'ru', false],
] as const)('%s', ([, query, account, cookie, acceptLanguage, language, isStated]) => {
  const wishes = { query, account, cookie, acceptLanguage }
  expect(chooseLanguage(wishes)).toEqual({ language, isStated })
})

test.for([
  ['/reports/1?x=2', '/reports/1?x=2'],
  ['//evil.example', '/report'],
  ['/\\evil.example', '/report'],
  ['https://evil.example', '/report'],
  ['/a\r\nSet-Cookie: x=y', '/report'],
  [undefined, '/report'],
] as const)('after signing in, %s leads to %s', ([next, expected]) => {
  expect(localPath(next)).toBe(expected)
})

test('relays become CIDR blocks, however they are written', () => {
  expect(parseRemarks({ receivedVia: ['192.0.2.9/24, 198.51.100.1', '2001:db8::/32'] })).toEqual({
    kind: 'spam',
    comment: null,
    receivedVia: ['192.0.2.0/24', '198.51.100.1/32', '2001:db8::/32'],
  })
})

test.for([
  { kind: 'virus' },
  { comment: 'x'.repeat(2001) },
  { receivedVia: ['mx.example'] },
  { receivedVia: ['10.0.0.0/33'] },
  { receivedVia: ['169.254.0.9'] },
  { receivedVia: Array<string>(101).fill('192.0.2.1') },
])('refuses the entry %j', (given) => {
  expect(() => parseRemarks(given)).toThrow(expect.objectContaining({ status: 422 }) as Error)
})

test.for([
  ['0.0.0.0/0', 'received_via: 0.0.0.0/0 is too wide: at most a /16, or a /32 for IPv6.'],
  [
    '192.0.2.1, 8.0.0.0/8',
    'received_via: 8.0.0.0/8 is too wide: at most a /16, or a /32 for IPv6.',
  ],
  ['::/0', 'received_via: ::/0 is too wide: at most a /16, or a /32 for IPv6.'],
  ['mx', 'received_via: mx is neither an IP address nor a CIDR block, such as 192.0.2.0/24.'],
] as const)('of the relays %s the invalid one is named', ([text, sentence]) => {
  const refused = expect.objectContaining({ status: 422, message: sentence }) as Error
  expect(() => parseRemarks({ receivedVia: [text] })).toThrow(refused)
})

test.for([
  [0, '0 s'],
  [59.9, '59 s'],
  [60, '1 min'],
  [3_661, '1 h 1 min'],
  [90_000, '1 d 1 h'],
] as const)('%d seconds are shown as %s', ([seconds, text]) => {
  expect(duration('en', seconds)).toBe(text)
})
