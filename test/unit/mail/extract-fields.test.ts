import { expect, test } from 'vitest'
import { parseMailboxes } from '../../../src/mail/address.ts'
import { decodeCharset } from '../../../src/mail/charset.ts'
import { decodeHeaderText } from '../../../src/mail/encoded-word.ts'
import { fieldsOf } from '../../../src/mail/message.ts'
import { parseHeader } from '../../../src/mail/header.ts'
import { boundaryOf, partFields } from '../../../src/mail/part-fields.ts'
import { expectEffort } from '../../support/effort.ts'

const extract = (text: string) => fieldsOf(parseHeader(Buffer.from(text, 'latin1')).fields)
const latin1 = (text: string) => Buffer.from(text).toString('latin1')

test.for([
  ['plain', 'plain'],
  ['=?UTF-8?B?R8OkcnRuZXJlaQ==?=', 'Gärtnerei'],
  ['=?iso-8859-1?Q?Caf=E9_au_lait?= here', 'Café au lait here'],
  ['=?utf-8?B?R8Ok?= =?utf-8?B?cnRuZXI=?=', 'Gärtner'],
  ['a =?utf-8?Q?b?= c', 'a b c'],
  ['=?utf-8*de?Q?stra=C3=9Fe?=', 'straße'],
  ['=?koi8-r?B?8NLJ18XU?=', 'Привет'],
  ['=?no-such-charset?Q?x=E9?=', 'xé'],
  ['=?utf-8?X?x?=', '=?utf-8?X?x?='],
  ['=?utf-8?Q?never closed', '=?utf-8?Q?never closed'],
  [latin1('Café'), 'Café'],
  ['Caf\xe9', 'Café'],
] as const)('%j is read as %j', ([written, expected]) => {
  expect(decodeHeaderText(written)).toBe(expected)
})

test('characters split between two encoded words of one charset are joined', () => {
  expect(decodeHeaderText('=?utf-8?Q?=C3?= =?utf-8?Q?=A9?=')).toBe('é')
})

test('Japanese words that end and begin with an escape sequence are joined', () => {
  const words = '=?iso-2022-jp?B?GyRCRnxLXBsoQg==?= =?iso-2022-jp?B?GyRCOGwbKEI=?='
  expect(decodeHeaderText(words)).toBe('日本語')
  const cutInside = '=?ISO-2022-JP?B?GyRCRnxL?= =?ISO-2022-JP?B?XDhsGyhC?='
  expect(decodeHeaderText(cutInside)).toBe('日本語')
})

test.for(['(', '<', '"(', '<(', '(\\)'])(
  'address lists full of %j are read once',
  async (piece) => {
    const list = piece.repeat(16 * 1024)
    await expectEffort(() => Array.from({ length: 20 }, () => parseMailboxes(list)), 100)
  },
)

test.for([
  ['m/x; boundary=a', 'a'],
  ['m/x; BOUNDARY = "a b" ; charset=utf-8', 'a b'],
  ['m/x; boundary="a\\"b;c"; charset=utf-8', 'a"b;c'],
  ['m/x; boundary="never closed', 'never closed'],
  ['m/x; name="; boundary=inside"; boundary=b', 'b'],
  ["m/x; boundary*=us-ascii''a", "us-ascii''a"],
  ['m/x; boundary=; charset=utf-8', undefined],
  ['m/x; xboundary=a; boundary*1=b', undefined],
] as const)('the boundary in %j is %j', ([field, expected]) => {
  expect(boundaryOf(field)).toBe(expected)
})

const base64 = (text: string) => Buffer.from(text).toString('base64')

test.for([
  ['quoted', '="a;b.pdf"', 'a;b.pdf'],
  ['without quotes', '=my file (1).pdf', 'my file (1).pdf'],
  ['without a closing quote', '="a b.pdf', 'a b.pdf'],
  ['as an encoded word', `="=?utf-8?B?${base64('Счёт.pdf')}?="`, 'Счёт.pdf'],
  ['as an encoded word without quotes', '==?utf-8?Q?my_file_=281=29.pdf?=', 'my file (1).pdf'],
  [
    'as two encoded words on two lines',
    `="=?utf-8?B?${base64('Сч')}?=\r\n =?utf-8?B?${base64('ёт.pdf')}?="`,
    'Счёт.pdf',
  ],
  [
    'as an encoded word that is split',
    `*0="=?utf-8?B?${base64('Счёт').slice(0, 6)}"; name*1="${base64('Счёт').slice(6)}?=.pdf"`,
    'Счёт.pdf',
  ],
  [
    'as two encoded words that are split',
    `*0="=?utf-8?B?${base64('Сч')}?="; name*1="=?utf-8?B?${base64('ёт.pdf')}?="`,
    'Счёт.pdf',
  ],
  ['as an extended value', "*=utf-8'ru'%D0%A1%D1%87.pdf", 'Сч.pdf'],
  ['as an extended value in quotes', `*="utf-8''%D0%A1%D1%87.pdf"`, 'Сч.pdf'],
  ['as an extended value without the asterisk', `="utf-8''%D0%A1%D1%87.pdf"`, 'Сч.pdf'],
  ['as a character that is split', "*0*=utf-8''%D0%A1%D1; name*1*=%87.pdf", 'Сч.pdf'],
  ['of plain and extended sections', `*0*=utf-8''%D0%A1; name*1="x "; name*2*=%D1%87`, 'Сx ч'],
  ['in two forms', `="a.txt"; name*=utf-8''real.exe`, 'real.exe'],
  ['with an apostrophe', `="it's 100%25.pdf"`, "it's 100%25.pdf"],
  ['in a charset with a wrong name', "*=cp-1251''%D1%F7.pdf", 'Сч.pdf'],
  ['as an encoded word with a wrong name', '="=?win1251?Q?=D1=F7.pdf?="', 'Сч.pdf'],
] as const)('a file name %s is read', ([, written, expected]) => {
  const { fields } = parseHeader(Buffer.from(`Content-Type: a/b; name${written}\r\n\r\n`, 'latin1'))
  expect(partFields(fields).name).toBe(expected)
})

test.for([
  ...['cp-1251', 'CP1251', 'win-1251', 'win1251', 'windows1251', 'windows_1251', 'x-cp1251'],
  ...['windows-cp1251', '"windows-1251"', 'ANSI-1251', 'ms1251'],
])('the charset %j is Windows-1251', (name) => {
  expect(decodeCharset(Buffer.from([0xd1, 0xf7]), name)).toBe('Сч')
})

test.for([
  ['utf8mb4', 'é', [0xc3, 0xa9]],
  ['utf_8', 'é', [0xef, 0xbb, 0xbf, 0xc3, 0xa9]],
  ['iso8859_1', 'é', [0xe9]],
  ['latin-1', 'é', [0xe9]],
  ['8859-1', 'é', [0xe9]],
  ['us-ascii', 'é', [0xe9]],
  ['us-ascii', 'é', [0xc3, 0xa9]],
  ['no-such-charset', 'é', [0xe9]],
  ['koi8r', 'П', [0xf0]],
  ['iso-2022-jp', 'あ', [0xa4, 0xa2]],
  ['shiftjis', 'あ', [0x82, 0xa0]],
  ['gb-2312', '中', [0xd6, 0xd0]],
  ['utf-16', 'é', [0xfe, 0xff, 0x00, 0xe9]],
  ['windows-1252', 'é', [0xff, 0xfe, 0xe9, 0x00]],
] as const)('bytes in the charset %j are %j', ([name, expected, bytes]) => {
  expect(decodeCharset(Buffer.from(bytes), name)).toBe(expected)
})

test.for([
  ['a@example.com', [['', 'a@example.com']]],
  [
    'Ann <a@example.com>, b@example.com',
    [
      ['Ann', 'a@example.com'],
      ['', 'b@example.com'],
    ],
  ],
  ['"Smith, Ann" <a@example.com>', [['Smith, Ann', 'a@example.com']]],
  ['"x@example.org" <a@example.com>', [['x@example.org', 'a@example.com']]],
  ['a@example.com (Ann)', [['Ann', 'a@example.com']]],
  ['undisclosed-recipients:;', []],
  [
    'Team: a@example.com, b@example.com;',
    [
      ['', 'a@example.com'],
      ['', 'b@example.com'],
    ],
  ],
  ['Ann', [['Ann', '']]],
  ['"never closed <a@example.com>', [['"never closed', 'a@example.com']]],
] as const)('the list %j', ([written, expected]) => {
  expect(parseMailboxes(written).map(({ name, address }) => [name, address])).toEqual(expected)
})

test('the fields of a header are decoded', () => {
  const fields = extract(
    'Return-Path: <b@Example.com>\nFrom: =?utf-8?Q?J=C3=B6rg?= <J@EXAMPLE.com>\n' +
      'To: x@example.net\nSubject: =?utf-8?B?w6k=?=\nDate: Tue, 3 Nov 2026 08:15:00 +0100\nMessage-ID: <1@a>\n\n',
  )
  expect(fields).toEqual({
    from: 'Jörg <J@EXAMPLE.com>',
    fromAddress: 'J@example.com',
    to: 'x@example.net',
    subject: 'é',
    date: '2026-11-03T07:15:00.000Z',
    messageId: '1@a',
    returnPath: 'b@Example.com',
    replyTo: null,
    listId: null,
  })
})

test('missing fields are null, and an empty return path is an empty string', () => {
  const fields = extract('Return-Path: <>\nFrom: nobody\nDate: soon\n\n')
  expect(fields).toMatchObject({ returnPath: '', fromAddress: null, date: null, subject: null })
})

test('everything can be stored: no NUL, no lone surrogate, bounded lengths', () => {
  const fields = extract(
    'From: a\0b@example.com\nSubject: =?utf-16le?B?ANg=?= =?utf-8?Q?=00?= ' +
      `${'x'.repeat(50_000)}\n\n`,
  )
  for (const value of Object.values(fields)) {
    if (value === null) continue
    expect(value).not.toContain('\0')
    expect(value.isWellFormed()).toBe(true)
    expect(value.length).toBeLessThanOrEqual(1000)
  }
})
