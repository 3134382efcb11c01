import { expect, test } from 'vitest'
import { refusalIn } from '../../../../src/texts/phrases.ts'
import {
  marketerFaultLine,
  readMarketers,
  writeMarketers,
} from '../../../../src/verdict/marketers/marketer-file.ts'

const own = ['signalpost.example.com']

const inWords = (text: string) => refusalIn('en', text).text

function faultsOf(text: string): string[] {
  const read = readMarketers(text, own)
  return 'faults' in read ? read.faults.map((one) => inWords(marketerFaultLine(one))) : []
}

const one = (lines: string) => `- key: shop\n  name: Shop\n${lines}\n`

test('a file with one line is the same in YAML and in JSON', () => {
  const yaml = readMarketers(one('  signers: [Shop.example.NET]\n  advice: {fr: Ici.}'), own)
  const json = readMarketers(
    '{"key":"shop","name":"Shop","signers":["shop.example.net"],"advice":{"fr":"Ici."}}\n\n',
    own,
  )
  expect(yaml).toEqual(json)
  expect(yaml).toMatchObject({
    marketers: [{ key: 'shop', state: 'declared', signers: ['shop.example.net'], listIds: [] }],
  })
})

test('a written file can be read again', () => {
  const read = readMarketers(
    one('  signers: [example.org]\n  advice:\n    en: "a: b\\n- c #d"\n    ru: "«Да»"'),
    own,
  )
  if ('faults' in read) throw new Error('It has faults.')
  for (const format of ['yaml', 'jsonl'] as const) {
    expect(readMarketers(writeMarketers(read.marketers, format), own)).toEqual(read)
  }
  expect(readMarketers(writeMarketers([], 'yaml'), own)).toEqual({ marketers: [] })
})

test.for<[string, string, RegExp]>([
  ['no signer and no range', '  list_ids: [a.example.org]', /signers: Enter a signer or a range/],
  [
    'a public suffix',
    '  signers: ["*.co.uk"]',
    /line 3, shop: signers: \*\.co\.uk: unrelated organizations/,
  ],
  ['a mailbox provider', '  signers: [gmail.com]\n  authors: [example.org]', /anyone can have/],
  ['a sending service alone', '  signers: [sendgrid.net]', /signs for many/],
  [
    'a sending service with all of its lists',
    '  signers: [list-manage.com]\n  list_ids: ["*.list-manage.com"]',
    /covers the lists of many customers/,
  ],
  [
    'an author anybody can be',
    '  signers: [sendgrid.net]\n  authors: [gmail.com]',
    /authors: gmail/,
  ],
  ['our own name', '  signers: [signalpost.example.com]', /name of this installation/],
  ['a name inside', '  signers: [mail.internal]', /does not exist on the Internet/],
  ['no name', '  signers: ["exa mple.org"]', /signers: This is not a domain name/],
  ['a range too wide', '  ranges: [192.0.0.0/8]', /too wide.*\/16/],
  ['an IPv6 range too wide', '  ranges: ["2001:db8::/31"]', /too wide.*\/32/],
  ['a private range', '  ranges: [10.1.0.0/24]', /not a public address range/],
  ['no range', '  ranges: [10.1.0.0/33]', /line 3, shop: ranges: This is not a range/],
  ['an unknown field', '  signers: [example.org]\n  signer: x', /Unknown field “signer”/],
  ['an unknown language', '  signers: [example.org]\n  advice: {de: x}', /Unknown field “de”/],
  ['a script as website', '  signers: [example.org]\n  website: "javascript:x"', /line 4.*website/],
  [
    'no address',
    '  signers: [example.org]\n  feedback: "a b@example.org"',
    /a valid email address/,
  ],
  ['an alias', '  signers: &a [example.org]\n  authors: *a', /Aliases/],
  ['a tag', '  signers: !!set [example.org]', /Tags/],
  ['a word that is no state', '  signers: [example.org]\n  state: active', /line 4, shop: state/],
])('%s is refused with a reason', ([, lines, reason]) => {
  expect(faultsOf(one(lines)).join('\n')).toMatch(reason)
})

test.for<[string, string]>([
  ['a signer of its own', '  signers: [news.example.org]'],
  ['a sending service with a List-Id', '  signers: [sendgrid.net]\n  list_ids: [a.example.org]'],
  ['one list of a sending service', '  signers: [mcsv.net]\n  list_ids: [a1.list-manage.com]'],
  ['a sending service with an author', '  signers: [sendgrid.net]\n  authors: [example.org]'],
  ['a range of its own', '  ranges: [192.0.2.0/24, "2001:db8::/48"]'],
])('%s is accepted', ([, lines]) => {
  expect(faultsOf(one(lines))).toEqual([])
})

test('all errors of a file are reported at once, with their lines', () => {
  const text = `- key: a b\n  name: A\n  signers: [gmail.com]\n${one('  signers: [gmail.com]')}`
  expect(faultsOf(text)).toEqual([
    'line 1, a b: key: A key may contain only lowercase letters, digits and “-”.',
    'line 6, shop: signers: gmail.com: anyone can have a mailbox there.',
  ])
  expect(faultsOf('{"key":\n}')).toEqual([
    'line 1: This line is not a JSON object.',
    'line 2: This line is not a JSON object.',
  ])
})

test('a repeated key is refused', () => {
  const text = `${one('  signers: [example.org]')}${one('  signers: [example.net]')}`
  expect(faultsOf(text)).toEqual(['line 4, shop: The same key is on line 1.'])
})

test.for(['', '[]', '# nothing\n', 'null'])('%j has no marketers', (text) => {
  expect(readMarketers(text, own)).toEqual({ marketers: [] })
})

test.for([
  'a: b',
  '- 1',
  '- - -',
  '- key: [',
  '"',
  '{',
  '- {key: {a: b}}',
  '- ?',
  '\0',
  '- key: &a [*a]',
])('a file of another kind has an error and throws nothing: %j', (text) => {
  expect(faultsOf(text).length).toBeGreaterThan(0)
})

test('a file that is too large is not parsed', () => {
  expect(faultsOf('#'.repeat(17 * 1024 * 1024))).toEqual(['line 1: The file is larger than 16 MB.'])
})
