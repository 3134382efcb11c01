import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { leafText, leavesOf, parseMimeTree } from '../../../../src/mail/mime-tree.ts'
import { mayIdentify } from '../../../../src/mail/redaction/address-occurrences.ts'
import {
  createAddressIndex,
  placesInText,
} from '../../../../src/mail/redaction/address-redactor.ts'
import { latin1Of } from '../../../../src/mail/redaction/latin1.ts'
import { reporterNames } from '../../../../src/mail/redaction/reporter-names.ts'
import { createTextScan } from '../../../../src/mail/redaction/text-scan.ts'
import { textViews } from '../../../../src/mail/redaction/text-views.ts'
import { newField } from '../../../../src/mail/mime-tree.ts'
import { corpusFiles } from '../../../support/corpus.ts'

/** Reporters with domains and names of all lengths, in several alphabets. */
const people = [
  ['jane.doe@mailbox.example', 'Jane Doe'],
  ['max@pot', 'Max Li'],
  ['li@gmail.com', 'Ann-Maria Schmidt'],
  ['élodie+news@bücher.example', 'Élodie Müller'],
  ['ivan@пример.рф', 'Иван Петров'],
  ['x@b.co', 'Jo Ann'],
] as const

const indexes = people.map(([address, name]) => {
  const to = newField('To', Buffer.from(`"${name}" <${address}>`).toString('latin1'))
  const index = createAddressIndex([address], reporterNames([to], [address]))
  if (index === undefined) throw new Error(`no index of ${address}`)
  return { address, name, index }
})

const hex = (code: number) => code.toString(16).padStart(2, '0')
/** Ways to write one byte. */
const letterWays: readonly ((code: number) => string)[] = [
  (code) => String.fromCharCode(code),
  (code) => String.fromCharCode(code).toUpperCase().slice(0, 1),
  (code) => `%${hex(code)}`,
  (code) => `%25${hex(code).toUpperCase()}`,
  (code) => `=${hex(code).toUpperCase()}`,
  (code) => `=3D${hex(code)}`,
  (code) => `&#${code};`,
  (code) => `&#x${hex(code)}`,
  (code) => `&amp;#0${code};`,
  (code) => `\\u00${hex(code)}`,
  (code) => `\\x${hex(code)}`,
  (code) => (code === 0x40 ? '&commat;' : code === 0x2e ? '&period;' : String.fromCharCode(code)),
  (code) => (code === 0x40 ? '+AEA-' : String.fromCharCode(code)),
]
/** What may be between two letters and is not shown. */
const fillers = [
  ...['=\r\n', '\r\n ', '\r\n\t', '\0', '\0\0', '\xad', '\xe2\x80\x8b', '\xc2\xad', '\x01'],
  ...['<wbr>', '<wbr/>', '<b>', '</b>', '<!-- x -->', '<!-->', '<a title="x>y">', "<a b='>'>"],
  ...['&zwnj;', '&shy;', '&#8203;', '&amp;#173;', '%AD', '\\u200b', '<', '&', '=', '%', '\r\n'],
]
const whole: readonly ((secret: string) => string)[] = [
  (secret) => secret,
  (secret) => Buffer.from(secret, 'latin1').toString('base64'),
  (secret) => Buffer.from(secret, 'latin1').toString('hex'),
  (secret) =>
    Buffer.from(secret, 'latin1')
      .toString('utf16le')
      .replace(/[^\0-\xff]/g, ' '),
  (secret) => [...secret].join('\0'),
  (secret) => secret.split('@').toReversed().join('='),
  (secret) => secret.replace('@', ' (at) '),
  (secret) => secret.replace('@', '+tag@'),
  (secret) => secret.replace('@', '"@'),
  (secret) => `Dear ${secret.split('@')[0] ?? ''}, hello`,
  (secret) =>
    `${Buffer.from(`${'x'.repeat(50)}${secret}${'y'.repeat(40)}`, 'latin1')
      .toString('base64')
      .replace(/.{60}/g, '$&\r\n')}`,
]

const plain = fc.constantFrom(...letterWays.slice(0, 1))
const mostlyPlain = (share: number) =>
  fc.oneof(
    { weight: share, arbitrary: plain },
    { weight: 1, arbitrary: fc.constantFrom(...letterWays) },
  )
const filler = (share: number) =>
  fc.oneof(
    { weight: share, arbitrary: fc.constant('') },
    { weight: 1, arbitrary: fc.constantFrom(...fillers) },
  )

/** A secret with some letters encoded and some fillers between them. */
function hidden(secret: string): fc.Arbitrary<string> {
  return fc
    .constantFrom(1, 8, 40)
    .chain((share) =>
      fc.array(fc.tuple(mostlyPlain(share), filler(share)), {
        minLength: secret.length,
        maxLength: secret.length,
      }),
    )
    .map((ways) => ways.map(([way, gap], at) => way(secret.charCodeAt(at)) + gap).join(''))
}

const noise = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.constantFrom(...fillers),
  fc.constantFrom(
    'Dear ',
    'Hello,\r\n',
    '<td>',
    'href="https://www.',
    '.test/">',
    '@',
    ' (at) ',
    ' ',
    '=',
    'a',
  ),
)

function textAbout(secrets: readonly string[]): fc.Arbitrary<string> {
  const piece = fc.constantFrom(...secrets).chain((secret) =>
    fc.oneof(
      hidden(secret),
      fc.constantFrom(...whole).map((way) => way(secret)),
      hidden(secret).map((text) => text.slice(1)),
      hidden(secret).map((text) => text.slice(0, -1)),
    ),
  )
  return fc
    .array(fc.oneof(noise, piece), { maxLength: 7 })
    .map((pieces) => pieces.join('').replace(/[^\0-\xff]/g, '?'))
}

const latin1 = (text: string) => Buffer.from(text).toString('latin1')

describe('the exact search finds no reporter in a text that the scan rejects', () => {
  test.for(indexes)('$address', ({ address, name, index }) => {
    const [local = '', domain = ''] = address.split('@')
    const secrets = [address, name, local, domain, name.split(' ')[0] ?? ''].map(latin1)
    let [found, rejected] = [0, 0]
    fc.assert(
      fc.property(textAbout(secrets), (text) => {
        const isExact = [...placesInText(text, index, () => true)].length > 0
        const may = mayIdentify(text, index)
        if (isExact) found += 1
        if (!may) rejected += 1
        expect(isExact && !may, JSON.stringify(text)).toBe(false)
      }),
      { numRuns: 4_000 },
    )
    // Otherwise the test would say nothing.
    expect(found).toBeGreaterThan(400)
    expect(rejected).toBeGreaterThan(address.length < 9 ? -1 : 400)
  })
})

describe('a text that the scan rejects shows no pattern in any view', () => {
  const sets = [['mailbox.example', 'jane'], ['pot', 'b\xfccher'], ['li', 'x\xad='], ['a&b=c']]
  test.for(sets)('%s', (...[texts]) => {
    const scan = createTextScan(texts.map((text) => ({ text, mayCount: () => true })))
    fc.assert(
      fc.property(textAbout(texts), (text) => {
        const bytes = latin1Of(text)
        if (bytes === undefined) throw new Error('not Latin-1')
        if (!scan.mayShow(bytes)) {
          const views = textViews(text).map((view) => view.text)
          for (const one of texts) for (const view of views) expect(view).not.toContain(one)
        }
      }),
      { numRuns: 4_000 },
    )
  })
})

test('the scan rejects ordinary text, also beside the domain of the reporter', () => {
  const index = indexes[0]?.index
  if (index === undefined) throw new Error('no index')
  const page = '<p>Hello,&nbsp;visit <a href="https://www.mailbox.example/a?b=1">us</a>.</p>\r\n'
  expect(mayIdentify(page.repeat(50), index)).toBe(false)
  expect(mayIdentify(`${page.repeat(50)}jane.doe@mailbox.example`, index)).toBe(true)
})

test('a pattern may continue after a tag that ends in an invisible one', () => {
  const domain = 'mailbox.example'
  const scan = createTextScan([{ text: domain, mayCount: () => true }])
  for (let cut = 1; cut < domain.length; cut++) {
    const text = `<a title="x>y"${domain.slice(0, cut)}<wbr>${domain.slice(cut)}`
    const bytes = latin1Of(text)
    expect(bytes && scan.mayShow(bytes), text).toBe(true)
  }
})

const files = (corpusFiles('phishing', 'newsletters', 'spam', 'ham') ?? []).filter(
  (_, at) => at % 9 === 0,
)

test.skipIf(files.length === 0)('the same in real mail (skipped without the corpus)', () => {
  let rejected = 0
  for (const { name, raw } of files) {
    const tree = parseMimeTree(raw.subarray(0, 200_000))
    const texts = tree
      ? [...tree.fields.map(({ raw }) => raw), ...leavesOf(tree).map(leafText)]
      : []
    for (const { index } of indexes.slice(0, 3)) {
      for (const text of texts.filter((one) => !mayIdentify(one, index))) {
        rejected += 1
        expect([...placesInText(text, index, () => true)], name).toEqual([])
      }
    }
  }
  expect(rejected).toBeGreaterThan(1_000)
})
